# How this project's own code is compiled; nothing of it reaches what is included from elsewhere.
add_library(kueue_options INTERFACE)
target_compile_options(kueue_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${KUEUE_WERROR}>:-Werror>)
# GCC 12 says "may be used uninitialized" of a moved absl::InlinedVector, whose inline storage is copied whole though
# only its used part is set. The header is a system header already; inlining brings the warning to our lines.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(kueue_options INTERFACE -Wno-maybe-uninitialized)
endif()
target_compile_definitions(kueue_options INTERFACE $<$<BOOL:${KUEUE_CHECK}>:KUEUE_CHECK;_GLIBCXX_ASSERTIONS>)
if(KUEUE_SANITIZE)
  target_compile_options(kueue_options INTERFACE -fsanitize=${KUEUE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(kueue_options INTERFACE -fsanitize=${KUEUE_SANITIZE})
endif()

# Of what is not where the time goes: small, as a wheel is downloaded often; or somewhat smaller.
set(KUEUE_SMALL $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
set(KUEUE_SMALLER $<$<CONFIG:Release,RelWithDebInfo>:-O2>)

# An extension module of Python. What calls the core and is called from Python is not where the time goes: it is compiled
# small, without link-time optimization, and what nobody calls is left out of it. Nothing of the libraries in it can be
# seen from outside, so that it may live beside other modules with another Abseil.
function(kueue_add_module name)
  pybind11_add_module(${name} MODULE NO_EXTRAS ${ARGN})
  target_link_libraries(${name} PRIVATE kueue_core kueue_options)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  target_compile_options(${name} PRIVATE ${KUEUE_SMALL})
  if(NOT APPLE)
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    pybind11_strip(${name})
  endif()
  install(TARGETS ${name} DESTINATION .)
endfunction()
