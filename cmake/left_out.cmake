# Debian's SimGrid is linked to ns-3 and libgfortran, of which dadsim calls nothing. Loading them takes three quarters of a
# start. Programs of a build with tests load placeholders (scripts/bundle) in their place; installed programs load the
# system's libraries.
list(GET SIMGRID_LINK_LIBRARIES 0 simgrid)
set(placeholders ${PROJECT_BINARY_DIR}/left-out)
if(NOT EXISTS ${placeholders}/made OR ${simgrid} IS_NEWER_THAN ${placeholders}/made)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/bundle --left-out ${simgrid} ${placeholders} RESULT_VARIABLE failed ERROR_VARIABLE said)
  if(failed)
    message(STATUS "No placeholders for libraries that SimGrid asks for, so that programs start more slowly: ${said}")
    return()
  endif()
  file(TOUCH ${placeholders}/made)
endif()
# Sets RPATH, which loaded libraries inherit, and not RUNPATH, which they do not. CMake's BUILD_RPATH would add an empty
# folder, the current one, and CMake cannot pass $ORIGIN to the linker but in a file.
file(CONFIGURE OUTPUT ${placeholders}/options CONTENT "-Wl,--disable-new-dtags,-rpath,$ORIGIN/../left-out\n")
target_link_options(dadsim_sim INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:@${placeholders}/options>)
install(CODE "file(RPATH_REMOVE FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/dadsim\")")
if(TARGET dadsim_python)
  install(CODE "file(RPATH_REMOVE FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/dadsim\")" COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
