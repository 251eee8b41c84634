# hr_relr(target): relative relocations of `target` take bits instead of 24 bytes
# each (DT_RELR), with a linker that writes them and a glibc that reads them.
set(HEADRACE_RELR OFF)
find_program(HEADRACE_PYTHON3 python3)
if(NOT HEADRACE_MOLD OR NOT HEADRACE_PYTHON3 OR HEADRACE_SANITIZE OR
    NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  function(hr_relr target)
  endfunction()
  return()
endif()

set(folder ${CMAKE_BINARY_DIR}/relr)
set(HEADRACE_RELR_OPTIONS -Wl,--pack-dyn-relocs=relr
  -Wl,--push-state,--no-as-needed ${folder}/libr.so -Wl,--pop-state)
file(CONFIGURE OUTPUT ${folder}/function.c CONTENT "void hr_relr(void) {}\n")
file(CONFIGURE OUTPUT ${folder}/function.map
  CONTENT "GLIBC_ABI_DT_RELR { global: hr_relr; };\n")
file(CONFIGURE OUTPUT ${folder}/use.c CONTENT
  "extern void hr_relr(void) __attribute__((weak));
__attribute__((used, retain)) static void (*const use)(void) = hr_relr;\n")
file(CONFIGURE OUTPUT ${folder}/load.c CONTENT
  "#include <dlfcn.h>
int main(int n, char** a) { return dlopen(a[1], RTLD_NOW) == 0; }\n")
set(python ${HEADRACE_PYTHON3} ${CMAKE_SOURCE_DIR}/tools/need_relr.py)
if(NOT EXISTS ${folder}/works)
  set(cc ${CMAKE_C_COMPILER} -fPIC -fuse-ld=mold)
  execute_process(WORKING_DIRECTORY ${folder} OUTPUT_QUIET ERROR_QUIET
    COMMAND ${cc} -shared -nostdlib function.c -o libr.so
            -Wl,-soname,libr.so.6 -Wl,--version-script=function.map)
  execute_process(WORKING_DIRECTORY ${folder} OUTPUT_QUIET ERROR_QUIET
    COMMAND ${cc} -shared use.c -o try.so ${HEADRACE_RELR_OPTIONS})
  execute_process(WORKING_DIRECTORY ${folder} COMMAND ${python} try.so
    OUTPUT_QUIET ERROR_QUIET)
  execute_process(WORKING_DIRECTORY ${folder} OUTPUT_QUIET ERROR_QUIET
    COMMAND ${cc} load.c -o load -ldl)
  execute_process(WORKING_DIRECTORY ${folder} COMMAND ./load ./try.so
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(result EQUAL 0)
    file(TOUCH ${folder}/works)
  endif()
endif()
if(EXISTS ${folder}/works)
  set(HEADRACE_RELR ON)
endif()

function(hr_relr target)
  if(HEADRACE_RELR)
    target_sources(${target} PRIVATE ${folder}/use.c)
    target_link_options(${target} PRIVATE ${HEADRACE_RELR_OPTIONS})
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND ${python} $<TARGET_FILE:${target}>)
  endif()
endfunction()
