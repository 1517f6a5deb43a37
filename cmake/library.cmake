# The library for other programs: <dadsim/dadsim.hpp>, libdadsim.so and the package that find_package(dadsim) finds. One
# shared library: what it is made of (SimGrid, oneTBB, libxml2, SQLite …) is its own affair, found by the dynamic linker
# and by nobody who builds against it, so that the package has no dependencies to look for; and SimGrid's and Eigen's
# headers stay out of other people's builds. An archive would hand all of them on.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/dadsim)
install(TARGETS dadsim_api EXPORT dadsim-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES src/api/dadsim.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dadsim COMPONENT library)
install(EXPORT dadsim-targets NAMESPACE dadsim:: DESTINATION ${package_folder} COMPONENT library)
configure_package_config_file(cmake/dadsim-config.cmake.in ${PROJECT_BINARY_DIR}/dadsim-config.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dadsim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dadsim-config.cmake ${PROJECT_BINARY_DIR}/dadsim-config-version.cmake
  DESTINATION ${package_folder} COMPONENT library)
