# Finds Boost.Context as boost::context: its functions that switch stacks, and their header.
# Installed beside jzxConfig.cmake too, since programs that link libjzx.a must find it again.
find_path(BOOSTCONTEXT_INCLUDE_DIR boost/context/detail/fcontext.hpp)
find_library(BOOSTCONTEXT_LIBRARY boost_context)
mark_as_advanced(BOOSTCONTEXT_INCLUDE_DIR BOOSTCONTEXT_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BoostContext
  REQUIRED_VARS BOOSTCONTEXT_LIBRARY BOOSTCONTEXT_INCLUDE_DIR)

if(BoostContext_FOUND AND NOT TARGET boost::context)
  add_library(boost::context UNKNOWN IMPORTED)
  set_target_properties(boost::context PROPERTIES
    IMPORTED_LOCATION "${BOOSTCONTEXT_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${BOOSTCONTEXT_INCLUDE_DIR}")
endif()
