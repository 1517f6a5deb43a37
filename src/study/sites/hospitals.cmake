# Embeds scenarios/hospitals.xml in dadsim_study, for `dadsim sites`: the same question for the user's sites.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scenarios/hospitals.xml)
file(READ ${PROJECT_SOURCE_DIR}/scenarios/hospitals.xml DADSIM_HOSPITALS)
configure_file(${CMAKE_CURRENT_LIST_DIR}/hospitals_text.hpp.in
  ${CMAKE_CURRENT_BINARY_DIR}/generated/study/sites/hospitals_text.hpp @ONLY)
