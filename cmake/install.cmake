# What `cmake --install` puts where. Scenarios name their platform as ../platforms/…, so the two stay side by side.
install(TARGETS dadsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES src/scenario/scenario.xsd DESTINATION ${CMAKE_INSTALL_DATADIR}/dadsim)
install(DIRECTORY platforms scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/dadsim)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
