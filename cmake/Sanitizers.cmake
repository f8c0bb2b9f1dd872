# Builds everything with JZX_SANITIZE, and makes what was built runnable.
add_compile_options(-fsanitize=${JZX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
add_link_options(-fsanitize=${JZX_SANITIZE})

# To look at a vtable this check opens a pipe, and it reports a bad object where none can be had:
# in the tests that run out of file descriptors on purpose.
if(JZX_SANITIZE MATCHES undefined)
  add_compile_options(-fno-sanitize=vptr)
  # clang 14 cannot compile coroutines with this one: "difference across sections".
  add_compile_options("$<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>")
endif()

# The sanitizers' instrumentation makes g++ guess wrongly about initialisation.
add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>")

# The shadow memory of g++ 12 and clang 14 collides, now and then, with mappings that
# a kernel randomizes over more than 28 bits. There, run without that randomization.
set(jzx_mmap_rnd_bits 0)
if(EXISTS /proc/sys/vm/mmap_rnd_bits)
  execute_process(COMMAND cat /proc/sys/vm/mmap_rnd_bits
                  OUTPUT_VARIABLE jzx_mmap_rnd_bits ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(jzx_mmap_rnd_bits GREATER 28 AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  execute_process(COMMAND setarch -R true RESULT_VARIABLE jzx_setarch OUTPUT_QUIET ERROR_QUIET)
  if(jzx_setarch EQUAL 0)
    set(CMAKE_CROSSCOMPILING_EMULATOR setarch -R)
  else()
    message(WARNING "Addresses are randomized over ${jzx_mmap_rnd_bits} bits and setarch -R is "
                    "not allowed here: sanitized programs may fail to start.")
  endif()
endif()
