# Compiler options of this project's own code. They do not apply to dependencies.
add_library(kueue_options INTERFACE)
target_compile_options(kueue_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${KUEUE_WERROR}>:-Werror>)
# GCC 12 warns "may be used uninitialized" about a moved absl::InlinedVector, because the whole inline storage is copied
# although only the used part is set. The header is a system header, but inlining moves the warning into our code.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(kueue_options INTERFACE -Wno-maybe-uninitialized)
endif()
target_compile_definitions(kueue_options INTERFACE $<$<BOOL:${KUEUE_CHECK}>:KUEUE_CHECK;_GLIBCXX_ASSERTIONS>)
if(KUEUE_SANITIZE)
  target_compile_options(kueue_options INTERFACE -fsanitize=${KUEUE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(kueue_options INTERFACE -fsanitize=${KUEUE_SANITIZE})
endif()

# Optimization level of code outside of scheduling cycles, instead of -O3: a smaller wheel and shorter builds.
set(KUEUE_COLD $<$<CONFIG:Release,RelWithDebInfo>:-O2>)

# Add a Python extension module to the target `modules`, without link-time optimization and without unused functions.
# Symbols of the linked libraries are hidden, so the module can be loaded next to other modules that contain a different
# version of Abseil.
add_custom_target(modules)
function(kueue_add_module name)
  pybind11_add_module(${name} MODULE NO_EXTRAS ${ARGN})
  target_link_libraries(${name} PRIVATE kueue_core kueue_options)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  target_compile_options(${name} PRIVATE ${KUEUE_COLD})
  if(NOT APPLE)
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    pybind11_strip(${name})
  endif()
  add_dependencies(modules ${name})
  install(TARGETS ${name} DESTINATION .)
endfunction()
