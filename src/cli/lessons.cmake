# Builds the lessons of docs/lessons and their scenarios into dadsim_cli: `dadsim lesson N` makes pages of the text that the
# documentation has, wherever the program is.
function(read_lesson_files variable pattern)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/lessons/${pattern})
  set(initializers "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(APPEND initializers "\n    {\"${name}\", R\"embedded(${text})embedded\"},")
  endforeach()
  set(${variable} "${initializers}" PARENT_SCOPE)
endfunction()

read_lesson_files(DADSIM_LESSONS "[0-9]-*.md")
read_lesson_files(DADSIM_LESSON_SCENARIOS "lesson-*.xml")
configure_file(${CMAKE_CURRENT_LIST_DIR}/lessons_text.hpp.in ${PROJECT_BINARY_DIR}/generated/cli/lessons_text.hpp @ONLY)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/lessons.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)
