# Embeds the lessons of docs/lessons and their scenarios in dadsim_cli, so that `dadsim lesson N` can make its pages
# without the source folder.
read_pages(DADSIM_LESSONS "lessons/[0-9]-*.md")
read_pages(DADSIM_LESSON_SCENARIOS "lessons/lesson-*.xml")
configure_file(${CMAKE_CURRENT_LIST_DIR}/lessons_text.hpp.in ${PROJECT_BINARY_DIR}/generated/cli/lessons_text.hpp @ONLY)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/lessons.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)
