# Installs headers, both libraries, the CMake package and the pkg-config file. All of
# them find each other relative to where they lie, so a prefix may be moved.
include(CMakePackageConfigHelpers)

set(jzx_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/jzx")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/jzx" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS jzx_shared jzx_cpp EXPORT jzxSharedTargets)
install(TARGETS jzx_static jzx_cpp_static EXPORT jzxStaticTargets)
install(EXPORT jzxSharedTargets NAMESPACE jzx:: DESTINATION "${jzx_package_dir}")
install(EXPORT jzxStaticTargets NAMESPACE jzx:: DESTINATION "${jzx_package_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/jzxConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/jzxConfig.cmake" INSTALL_DESTINATION "${jzx_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/jzxConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/jzxConfig.cmake"
  "${PROJECT_BINARY_DIR}/jzxConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindBoostContext.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindLiburing.cmake"
  DESTINATION "${jzx_package_dir}")

file(RELATIVE_PATH JZX_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" JZX_PC_PREFIX "${JZX_PC_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/jzx.pc.in" "${PROJECT_BINARY_DIR}/jzx.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/jzx.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
