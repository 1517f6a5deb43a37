# Reads files of docs/ as initialisers {"name", R"embedded(text)embedded"}.
function(read_pages variable pattern)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/${pattern})
  set(initializers "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(APPEND initializers "\n    {\"${name}\", R\"embedded(${text})embedded\"},")
  endforeach()
  set(${variable} "${initializers}" PARENT_SCOPE)
endfunction()

# Builds the lessons of docs/lessons and their scenarios into dadsim_cli: `dadsim lesson N` makes pages of the text that the
# documentation has, wherever the program is.
read_pages(DADSIM_LESSONS "lessons/[0-9]-*.md")
read_pages(DADSIM_LESSON_SCENARIOS "lessons/lesson-*.xml")
configure_file(${CMAKE_CURRENT_LIST_DIR}/lessons_text.hpp.in ${PROJECT_BINARY_DIR}/generated/cli/lessons_text.hpp @ONLY)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/lessons.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)

# Builds the pages of docs/algorithms into dadsim_cli: the prose of methods stands in them alone.
read_pages(DADSIM_METHOD_PAGES "algorithms/*.md")
configure_file(${CMAKE_CURRENT_LIST_DIR}/method_pages_text.hpp.in ${PROJECT_BINARY_DIR}/generated/cli/method_pages_text.hpp @ONLY)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/method_pages.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)
