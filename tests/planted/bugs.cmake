# The bugs of bugs.txt, each planted in a copy of one source of the library: a test each, which
# passes if the simulator finds it. In the plain build only: what is found is the same in all.
set(planted_folder "${CMAKE_CURRENT_SOURCE_DIR}/planted")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${planted_folder}/bugs.txt")
execute_process(COMMAND "${planted_folder}/plant.sh" --list
  OUTPUT_VARIABLE bugs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" bugs "${bugs}")
foreach(bug IN LISTS bugs)
  add_test(NAME planted.library.${bug}
    COMMAND "${planted_folder}/plant.sh" ${bug} "${CMAKE_CURRENT_BINARY_DIR}/planted"
      $<TARGET_FILE:jzx_test_planted> "${CMAKE_CXX_COMPILER}" -std=c++20 -O1 -D_GLIBCXX_ASSERTIONS
      "-I${PROJECT_SOURCE_DIR}/src" "-I${PROJECT_SOURCE_DIR}/include"
      $<TARGET_OBJECTS:jzx_test_planted> $<TARGET_FILE:jzx_static>
      $<TARGET_FILE:GTest::gtest_main> $<TARGET_FILE:GTest::gtest>
      $<TARGET_FILE:liburing::liburing> -lboost_context -pthread
    COMMAND_EXPAND_LISTS)
  set_tests_properties(planted.library.${bug} PROPERTIES
    LABELS planted TIMEOUT ${jzx_test_timeout})
endforeach()
