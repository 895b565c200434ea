# find_package(sonde): the targets
#   sonde::headers  <sonde/sonde.h> and <sonde/sonde.hpp>, which need no library: annotations do nothing unless recorded
#   sonde::sonde    the headers and libsonde
#   sonde::tune     <sonde/tune.h> and libsonde-tune, where it is installed
get_filename_component(SONDE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET sonde::headers)
  add_library(sonde::headers INTERFACE IMPORTED)
  set_target_properties(sonde::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${SONDE_PREFIX}/include")
  add_library(sonde::sonde SHARED IMPORTED)
  set_target_properties(sonde::sonde PROPERTIES
    IMPORTED_LOCATION "${SONDE_PREFIX}/lib/libsonde.so"
    INTERFACE_LINK_LIBRARIES sonde::headers)
  if(EXISTS "${SONDE_PREFIX}/lib/libsonde-tune.so")
    add_library(sonde::tune SHARED IMPORTED)
    set_target_properties(sonde::tune PROPERTIES
      IMPORTED_LOCATION "${SONDE_PREFIX}/lib/libsonde-tune.so"
      INTERFACE_LINK_LIBRARIES sonde::headers)
  endif()
endif()
