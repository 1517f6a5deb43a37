# What shells, editors and man know of dadsim, as the program prints it (dadsim support): its own lists are the only ones.
# In the build folder the schema lies where the program looks for an installed one.
set(DADSIM_SHARED ${PROJECT_BINARY_DIR}/share)
set(shared_files schema:dadsim/scenario.xsd man:man/dadsim.1 bash:completion/dadsim.bash zsh:completion/dadsim.zsh
  fish:completion/dadsim.fish catalog:xml/catalog.xml)
set(shared_outputs "")
foreach(one ${shared_files})
  string(REPLACE ":" ";" one ${one})
  list(GET one 0 name)
  list(GET one 1 file)
  get_filename_component(folder ${DADSIM_SHARED}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${DADSIM_SHARED}/${file} COMMAND dadsim support ${name} > ${DADSIM_SHARED}/${file}
    DEPENDS dadsim COMMENT "" VERBATIM)
  list(APPEND shared_outputs ${DADSIM_SHARED}/${file})
endforeach()
# As Debian has it: compressed, without the time.
add_custom_command(OUTPUT ${DADSIM_SHARED}/man/dadsim.1.gz
  COMMAND gzip -9nc ${DADSIM_SHARED}/man/dadsim.1 > ${DADSIM_SHARED}/man/dadsim.1.gz
  DEPENDS ${DADSIM_SHARED}/man/dadsim.1 COMMENT "" VERBATIM)
list(APPEND shared_outputs ${DADSIM_SHARED}/man/dadsim.1.gz)
add_custom_target(dadsim_shared_files ALL DEPENDS ${shared_outputs})
