# Sets SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/) where it is not set: the second of the commit
# that ${source} is, or of the last change of its change log where there is no git.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND git -C ${source} log -1 --format=%ct OUTPUT_VARIABLE seconds ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed)
  if(failed OR seconds STREQUAL "")
    file(TIMESTAMP ${source}/CHANGELOG.md seconds "%s" UTC)
  endif()
  set(ENV{SOURCE_DATE_EPOCH} ${seconds})
endif()
