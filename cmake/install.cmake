# What `cmake --install` puts where, and the package that `cpack` makes of it. Scenarios name their platform as
# ../platforms/…, so the two stay side by side.
include(${CMAKE_CURRENT_LIST_DIR}/shared_files.cmake)
# .invalid (RFC 2606) is no host: the project has no mailbox.
set(dadsim_contact "The dadsim developers <developers@dadsim.invalid>")
set(dadsim_data ${CMAKE_INSTALL_DATADIR}/dadsim)
install(TARGETS dadsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${DADSIM_SHARED}/dadsim/scenario.xsd DESTINATION ${dadsim_data})
install(DIRECTORY platforms scenarios skills DESTINATION ${dadsim_data})
install(FILES ${DADSIM_SHARED}/man/dadsim.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${DADSIM_SHARED}/completion/dadsim.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME dadsim)
install(FILES ${DADSIM_SHARED}/completion/dadsim.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${DADSIM_SHARED}/xml/catalog.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/xml/dadsim)
# zsh of Debian looks for what packages bring elsewhere than for what is installed by hand.
install(CODE "
  if(\"\${CMAKE_INSTALL_PREFIX}\" MATCHES \"/usr$\")
    set(functions vendor-completions)
  else()
    set(functions site-functions)
  endif()
  file(INSTALL \"${DADSIM_SHARED}/completion/dadsim.zsh\" RENAME _dadsim
    DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${functions}\")")

# The pages keep their places relative to each other, and to the scenarios and platforms, so that their links hold.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE CITATION.cff cmake/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(CODE "
  set(source \"${PROJECT_SOURCE_DIR}\")
  set(version \"${PROJECT_VERSION}\")
  set(contact \"${dadsim_contact}\")
  set(docs \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
  set(data \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${dadsim_data}\")")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/installed_docs.cmake)

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # a package takes what is built, and does not build the tests first
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dadsim)
set(CPACK_PACKAGE_VENDOR "The dadsim developers")
set(CPACK_PACKAGE_CONTACT ${dadsim_contact})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "time to accuracy of distributed training, simulated")
set(CPACK_PACKAGE_DESCRIPTION "dadsim trains a small network for real with every algorithm that is to be
compared, records what each worker computed and sent in each step, and replays
that on a simulated cluster: the answer is a time, the bytes it took, and what
held each algorithm back.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # dpkg-shlibdeps names the packages of the libraries that are linked
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "graphviz, xml-core")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)  # who links libdadsim depends on this package
if(TARGET dadsim_python)
  # The module is compiled for one version of Python.
  get_target_property(python_minor dadsim_python PYTHON_MINOR)
  math(EXPR next_python "${python_minor} + 1")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.${python_minor}~), python3 (<< 3.${next_python})")
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/postinst ${CMAKE_CURRENT_LIST_DIR}/debian/prerm
  ${CMAKE_CURRENT_LIST_DIR}/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The same sources make the same package, whenever and wherever it is built.
configure_file(${CMAKE_CURRENT_LIST_DIR}/package_time.cmake.in ${PROJECT_BINARY_DIR}/package_time.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package_time.cmake)
include(CPack)
