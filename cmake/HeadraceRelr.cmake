# hr_relr(target): relative relocations of `target` take bits instead of 24 bytes
# each (DT_RELR), with a linker that writes them and a glibc that reads them.
find_program(HEADRACE_PYTHON3 python3)
if(NOT HEADRACE_MOLD OR NOT HEADRACE_PYTHON3 OR HEADRACE_SANITIZE OR
    NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(HEADRACE_RELR OFF)
  function(hr_relr target)
  endfunction()
  return()
endif()

set(HEADRACE_RELR_FOLDER ${CMAKE_BINARY_DIR}/relr)
set(HEADRACE_RELR_OPTIONS -Wl,--pack-dyn-relocs=relr
  -Wl,--push-state,--no-as-needed ${HEADRACE_RELR_FOLDER}/libr.so -Wl,--pop-state)
set(HEADRACE_RELR_SYMBOL
  ${HEADRACE_PYTHON3} ${CMAKE_SOURCE_DIR}/tools/need_relr.py)
file(CONFIGURE OUTPUT ${HEADRACE_RELR_FOLDER}/function.c
  CONTENT "void hr_relr(void) {}\n")
file(CONFIGURE OUTPUT ${HEADRACE_RELR_FOLDER}/function.map
  CONTENT "GLIBC_ABI_DT_RELR { global: hr_relr; };\n")
file(CONFIGURE OUTPUT ${HEADRACE_RELR_FOLDER}/use.c CONTENT
  "extern void hr_relr(void) __attribute__((weak));
__attribute__((used, retain)) static void (*const use)(void) = hr_relr;\n")
file(CONFIGURE OUTPUT ${HEADRACE_RELR_FOLDER}/load.c CONTENT
  "#include <dlfcn.h>
int main(int n, char** a) { return dlopen(a[1], RTLD_NOW) == 0; }\n")

# Keeps in the cache whether a library with such relocations links and loads here.
function(hr_try_relr)
  set(compile ${CMAKE_C_COMPILER} -fPIC -fuse-ld=mold)
  set(where WORKING_DIRECTORY ${HEADRACE_RELR_FOLDER} OUTPUT_QUIET ERROR_QUIET)
  execute_process(${where}
    COMMAND ${compile} -shared -nostdlib function.c -o libr.so
            -Wl,-soname,libr.so.6 -Wl,--version-script=function.map)
  execute_process(${where}
    COMMAND ${compile} -shared use.c -o try.so ${HEADRACE_RELR_OPTIONS})
  execute_process(${where} COMMAND ${HEADRACE_RELR_SYMBOL} try.so)
  execute_process(${where} COMMAND ${compile} load.c -o load -ldl)
  execute_process(${where} COMMAND ./load ./try.so RESULT_VARIABLE result)
  if(result EQUAL 0)
    set(works ON)
  else()
    set(works OFF)
  endif()
  set(HEADRACE_RELR ${works} CACHE INTERNAL "relative relocations link and load")
endfunction()

if(NOT DEFINED HEADRACE_RELR)
  hr_try_relr()
endif()

function(hr_relr target)
  if(HEADRACE_RELR)
    target_sources(${target} PRIVATE ${HEADRACE_RELR_FOLDER}/use.c)
    target_link_options(${target} PRIVATE ${HEADRACE_RELR_OPTIONS})
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND ${HEADRACE_RELR_SYMBOL} $<TARGET_FILE:${target}>)
  endif()
endfunction()
