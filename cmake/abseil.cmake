# Abseil from the system, otherwise built from the pinned release. Set FETCHCONTENT_SOURCE_DIR_ABSL to build a local
# source tree, or KUEUE_ABSL_URL and KUEUE_ABSL_SHA256 to build another archive. Set -DCMAKE_DISABLE_FIND_PACKAGE_absl=ON
# to ignore the system's Abseil.
set(KUEUE_ABSL_URL https://github.com/abseil/abseil-cpp/releases/download/20240722.0/abseil-cpp-20240722.0.tar.gz
  CACHE STRING "Archive of Abseil's sources: its address, or its absolute path")
set(KUEUE_ABSL_SHA256 f50e5ac311a81382da7fa75b97310e4b9006474f9560ac46f54a9967f07d4ae3
  CACHE STRING "SHA-256 of that archive")
# Neither FetchContent, which takes SYSTEM for a part of the hash in CMake 3.25, nor EXPECTED_HASH: both stop with an error
# that does not say what to install.
function(kueue_download_absl tree)
  set(archive "${CMAKE_BINARY_DIR}/absl.tar.gz")
  set(unpacked "${CMAKE_BINARY_DIR}/absl")
  string(REGEX REPLACE "^/" "file:///" address "${KUEUE_ABSL_URL}")
  set(problem "")
  file(TOUCH "${archive}")
  file(SHA256 "${archive}" actual)
  if(NOT actual STREQUAL KUEUE_ABSL_SHA256)
    file(DOWNLOAD "${address}" "${archive}" STATUS status INACTIVITY_TIMEOUT 30)
    list(GET status 1 problem)
    file(SHA256 "${archive}" actual)
  endif()
  if(NOT actual STREQUAL KUEUE_ABSL_SHA256)
    message(FATAL_ERROR "Abseil is not installed and cannot be downloaded from ${KUEUE_ABSL_URL} (${problem}, "
      "SHA-256 ${actual}); install it (Debian and Ubuntu: apt-get install libabsl-dev; macOS: brew install abseil) "
      "or set KUEUE_ABSL_URL to a copy of that archive")
  endif()
  file(REMOVE_RECURSE "${unpacked}")
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${unpacked}")
  file(GLOB folder "${unpacked}/*")
  set(${tree} "${folder}" PARENT_SCOPE)
endfunction()
find_package(absl CONFIG QUIET)
if(NOT absl_FOUND)
  set(ABSL_PROPAGATE_CXX_STD ON)
  set(ABSL_ENABLE_INSTALL OFF)
  set(BUILD_TESTING OFF)
  if(NOT FETCHCONTENT_SOURCE_DIR_ABSL)
    kueue_download_absl(FETCHCONTENT_SOURCE_DIR_ABSL)
  endif()
  # Cold code: the parts of Abseil on the hot path are in its headers and are compiled with our own flags.
  set(kueue_release_flags "${CMAKE_CXX_FLAGS_RELEASE}")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  add_subdirectory("${FETCHCONTENT_SOURCE_DIR_ABSL}" "${CMAKE_BINARY_DIR}/absl-build" EXCLUDE_FROM_ALL SYSTEM)
  set(CMAKE_CXX_FLAGS_RELEASE "${kueue_release_flags}")
endif()
