# Builds scenario.xsd into dadsim_scenario: the file that is installed for editors is the one that is checked against.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/scenario.xsd)
file(READ ${CMAKE_CURRENT_LIST_DIR}/scenario.xsd DADSIM_SCENARIO_XSD)
configure_file(${CMAKE_CURRENT_LIST_DIR}/schema_text.hpp.in ${PROJECT_BINARY_DIR}/generated/scenario/schema_text.hpp @ONLY)
target_include_directories(dadsim_scenario PRIVATE ${PROJECT_BINARY_DIR}/generated)
