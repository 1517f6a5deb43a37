# Run by `cmake --install`: gives the pages in ${docs} links that hold there. Scenarios and platforms are reached by a link
# to ${data}; what is in the source alone is named in words.
cmake_minimum_required(VERSION 3.25)  # files behind links are not looked for

# The change log that Debian's tools look for; what changed stands in CHANGELOG.md.
include(${source}/cmake/source_time.cmake)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH
file(WRITE ${docs}/changelog "dadsim (${version}) unstable; urgency=medium\n\n  * What changed is in CHANGELOG.md.\n\n -- ${contact}  ${date}\n")
execute_process(COMMAND gzip -9nf ${docs}/changelog COMMAND_ERROR_IS_FATAL ANY)

file(RELATIVE_PATH to_data ${docs} ${data})
foreach(folder scenarios platforms skills)
  file(REMOVE ${docs}/${folder})
  file(CREATE_LINK ${to_data}/${folder} ${docs}/${folder} SYMBOLIC)
endforeach()
file(GLOB_RECURSE pages ${docs}/*.md)
foreach(page ${pages})
  file(READ ${page} text)
  # [words](../src/a.cpp) → words (src/a.cpp of the source)
  string(REGEX REPLACE "\\[([^]]*)\\]\\((\\.\\./)*((src|tests|python|fuzz|scripts|bench|testbed|cmake)(/[^)#]*)?)(#[^)]*)?\\)"
    "\\1 (\\3 of the source)" text "${text}")
  file(WRITE ${page} "${text}")
endforeach()
