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

# Builds the pages of docs/algorithms into dadsim_methods, so that prose about methods exists only there.
read_pages(DADSIM_METHOD_PAGES "algorithms/*.md")
configure_file(${CMAKE_CURRENT_LIST_DIR}/method_pages_text.hpp.in ${CMAKE_CURRENT_BINARY_DIR}/generated/methods/method_pages_text.hpp @ONLY)
