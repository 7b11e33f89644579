# Python and pybind11 from the interpreter that runs the build, or from the active virtual environment.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
  OUTPUT_VARIABLE KUEUE_PYBIND11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(pybind11 3.0.1 CONFIG REQUIRED HINTS ${KUEUE_PYBIND11_DIR})

# Eigen from the wheel cmeel-eigen, which installs it below its own prefix, or from the system.
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
          "import importlib.metadata as m; print(m.distribution('cmeel-eigen').locate_file('cmeel.prefix'))"
  OUTPUT_VARIABLE KUEUE_CMEEL_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(KUEUE_CMEEL_PREFIX)
  list(APPEND CMAKE_PREFIX_PATH ${KUEUE_CMEEL_PREFIX})
endif()
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Threads REQUIRED)

# pip builds in an isolated environment with a different path each time. Copying the headers to a fixed path keeps
# object files valid, so a second `pip install .` only compiles changed files. For the same reason, no target is defined
# in the top-level directory: scikit-build-core deletes its object files.
function(kueue_keep_headers target folder)
  get_target_property(from ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set(kept "${CMAKE_BINARY_DIR}/include/${folder}")
  file(GLOB_RECURSE headers RELATIVE "${from}" "${from}/${folder}/*")
  foreach(header IN LISTS headers)
    configure_file("${from}/${header}" "${kept}/${header}" COPYONLY)
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
  set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${kept}")
endfunction()
if(SKBUILD)
  kueue_keep_headers(pybind11::pybind11_headers pybind11)
  kueue_keep_headers(Eigen3::Eigen Eigen)
endif()
