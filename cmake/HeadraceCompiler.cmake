# hr_flags: language, warnings and code generation of every source.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Fixed places, whatever the generator; and what is installed is what was
# built, found by its place relative to lib/.
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")

# The baseline is plain x86-64; hot loops carry target_clones or are generated
# at run time. Contraction is off, so that a result does not depend on what the
# compiler inlines where.
add_library(hr_flags INTERFACE)
target_include_directories(hr_flags INTERFACE
  ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
set(HEADRACE_FLAGS
  -ffp-contract=off -fno-math-errno -fno-trapping-math
  -fno-semantic-interposition
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
  $<$<BOOL:${HEADRACE_WERROR}>:-Werror>
  $<$<BOOL:${HEADRACE_CHECKED_COPIES}>:-DHEADRACE_CHECKED_COPIES>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees both in std::string and absl::InlinedVector, where neither is.
  list(APPEND HEADRACE_FLAGS
    -Wno-maybe-uninitialized -Wno-uninitialized -Wno-restrict)
  # What nothing reaches is left out, and functions of one code are one.
  list(APPEND HEADRACE_FLAGS
    -ffunction-sections -fdata-sections -fvisibility-inlines-hidden)
  # What seldom runs stays at a function's end: in a section of its own it would
  # have its own table for unwinding, and longer jumps.
  list(APPEND HEADRACE_FLAGS
    $<$<CONFIG:Release>:-fno-reorder-blocks-and-partition>)
  # Looking for garbage only beyond 0.6 GB saves a tenth of the compiler's time.
  list(APPEND HEADRACE_FLAGS --param=ggc-min-heapsize=600000)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Those that tune loops are for GCC.
  list(APPEND HEADRACE_FLAGS -Wno-unknown-pragmas)
  # What headrace/mutex.h's annotations promise.
  list(APPEND HEADRACE_FLAGS -Wthread-safety -Wthread-safety-beta
    -Werror=thread-safety -Werror=thread-safety-beta)
  # Else ccache finds a precompiled header changed whenever it was made anew.
  target_compile_options(hr_flags INTERFACE
    "SHELL:-Xclang -fno-pch-timestamp")
endif()

if(HEADRACE_SANITIZE)
  list(APPEND HEADRACE_FLAGS -fsanitize=${HEADRACE_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(hr_flags INTERFACE -fsanitize=${HEADRACE_SANITIZE})
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")  # a report needs lines, not variables
  if(HEADRACE_SANITIZE STREQUAL "thread")
    # Protobuf's headers change the layout of messages under this macro, and the
    # library that is linked was built without it.
    list(APPEND HEADRACE_FLAGS -U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1
      -DHEADRACE_TSAN=1)
  endif()
else()
  set(HEADRACE_NO_UNDEFINED -Wl,-z,defs)
endif()
target_compile_options(hr_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${HEADRACE_FLAGS}>)
target_link_options(hr_flags INTERFACE -Wl,--as-needed)

if(HEADRACE_OPS)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${HEADRACE_OPS})
  file(STRINGS ${HEADRACE_OPS} ops)
  list(TRANSFORM ops REPLACE "(.+)" "\"\\1\",")
  list(JOIN ops "\n" ops)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/only_ops.inc CONTENT "${ops}\n")
  target_compile_definitions(hr_flags INTERFACE
    HEADRACE_ONLY_OPS="${CMAKE_BINARY_DIR}/only_ops.inc" HEADRACE_LITE_MESSAGES)
endif()

find_program(HEADRACE_MOLD mold)
find_program(HEADRACE_LLD ld.lld)
if(HEADRACE_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(HEADRACE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# Paths are made relative before they are hashed, so that another clone of the
# same sources hits the same cache. Sources are not preprocessed first: for a
# precompiled header that would read the one that it replaces.
find_program(HEADRACE_CCACHE ccache)
if(HEADRACE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros
    ${HEADRACE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
