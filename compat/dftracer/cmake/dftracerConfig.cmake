# find_package(dftracer): the target dftracer (and dftracer::dftracer), and the variables of DFTracer's own package.
get_filename_component(DFTRACER_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(DFTRACER_FOUND TRUE)
set(DFTRACER_INCLUDE_DIRS "${DFTRACER_PREFIX}/include")
set(DFTRACER_LIBRARY_DIRS "${DFTRACER_PREFIX}/lib")
set(DFTRACER_LIBRARIES "${DFTRACER_PREFIX}/lib/libdftracer.so")
set(DFTRACER_PRELOAD_LIBRARY "${DFTRACER_PREFIX}/lib/libdftracer_preload.so")
if(NOT TARGET dftracer)
  add_library(dftracer SHARED IMPORTED)
  set_target_properties(dftracer PROPERTIES
    IMPORTED_LOCATION "${DFTRACER_LIBRARIES}"
    INTERFACE_INCLUDE_DIRECTORIES "${DFTRACER_INCLUDE_DIRS}")
  add_library(dftracer::dftracer ALIAS dftracer)
endif()
