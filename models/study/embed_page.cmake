# Writes the page of PAGE (a folder) to the folder OUTPUT, as numbers for C++: page_bytes.inc is page.html with the style
# sheet in place of @STYLE@, program_bytes.inc what belongs in place of @PROGRAMS@, packed by gzip, page_hashes.inc the
# SHA-256 of the style and the programs. These are modules for node; in the page they are one, each after those that it
# imports, without import lines, the word export, comments and indentation.
cmake_minimum_required(VERSION 3.25)

# without_marks(<module> <result>): what the module declares.
function(without_marks module result)
  string(REGEX REPLACE "\nimport [^;]*;" "" module "\n${module}")
  string(REPLACE "\nexport " "\n" module "${module}")
  string(REGEX REPLACE "\n +" "\n" module "${module}")
  string(REGEX REPLACE "\n//[^\n]*" "" module "${module}")
  string(REGEX REPLACE "\n/\\*\\*([^*]|\\*[^/])*\\*/" "" module "${module}")
  string(REGEX REPLACE "\n\n+" "\n" module "${module}")
  set(${result} "${module}" PARENT_SCOPE)
endfunction()

# Appends a module to the programs, after those that it imports. (Properties, because a function's variables are its
# own.)
function(include_module name)
  get_property(included GLOBAL PROPERTY included)
  if(name IN_LIST included)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY included ${name})
  file(READ ${PAGE}/${name} module)
  string(REGEX MATCHALL "\nimport [^;]*" imports "\n${module}")
  foreach(import IN LISTS imports)
    string(REGEX REPLACE ".*\"\\./(.*)\"" "\\1" imported "${import}")
    include_module(${imported})
  endforeach()
  without_marks("${module}" program)
  set_property(GLOBAL APPEND_STRING PROPERTY programs "${program}")
endfunction()

# write_numbers(<file> <bytes in hexadecimal>)
function(write_numbers file bytes)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  file(WRITE ${file} "${bytes}\n")
endfunction()

include_module(app.js)
get_property(programs GLOBAL PROPERTY programs)
file(WRITE ${OUTPUT}/programs.js "${programs}")
file(ARCHIVE_CREATE OUTPUT ${OUTPUT}/programs.js.gz PATHS ${OUTPUT}/programs.js FORMAT raw COMPRESSION GZip MTIME 0)
file(READ ${OUTPUT}/programs.js.gz packed HEX)
write_numbers(${OUTPUT}/program_bytes.inc "${packed}")

file(READ ${PAGE}/style.css style)
file(READ ${PAGE}/page.html page)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(HEX "${page}" bytes)
write_numbers(${OUTPUT}/page_bytes.inc "${bytes}")

# What the policy of the page allows: the hashes of its two texts, and of the programs when they are unpacked.
string(REGEX MATCH "<style>(.*)</style>" style "${page}")
string(SHA256 hash_of_style "${CMAKE_MATCH_1}")
string(REGEX MATCH "<script type=\"module\">(.*)</script>" loader "${page}")
string(SHA256 hash_of_loader "${CMAKE_MATCH_1}")
file(SHA256 ${OUTPUT}/programs.js hash_of_programs)
file(WRITE ${OUTPUT}/page_hashes.inc "")
foreach(name hash_of_style hash_of_loader hash_of_programs)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${${name}}")
  file(APPEND ${OUTPUT}/page_hashes.inc "constexpr unsigned char ${name}[] = {${bytes}};\n")
endforeach()
