# Eigen comes as a wheel (cmeel-eigen) in a prefix of its own; Abseil from the system, else from its pinned release.
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
          "import importlib.metadata as m; print(m.distribution('cmeel-eigen').locate_file('cmeel.prefix'))"
  OUTPUT_VARIABLE KUEUE_CMEEL_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(KUEUE_CMEEL_PREFIX)
  list(APPEND CMAKE_PREFIX_PATH ${KUEUE_CMEEL_PREFIX})
endif()
find_package(Eigen3 3.4 REQUIRED NO_MODULE)

find_package(absl CONFIG QUIET)
if(NOT absl_FOUND)
  include(FetchContent)
  set(ABSL_PROPAGATE_CXX_STD ON)
  set(ABSL_ENABLE_INSTALL OFF)
  FetchContent_Declare(absl
    URL https://github.com/abseil/abseil-cpp/releases/download/20240722.0/abseil-cpp-20240722.0.tar.gz
    URL_HASH SHA256=f50e5ac311a81382da7fa75b97310e4b9006474f9560ac46f54a9967f07d4ae3
    DOWNLOAD_EXTRACT_TIMESTAMP ON)
  FetchContent_MakeAvailable(absl)
endif()
