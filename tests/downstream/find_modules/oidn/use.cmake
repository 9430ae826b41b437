# As Open Image Denoise and Embree look: LEVEL_ZERO_ROOT of CMake, else of the environment, and nowhere else.
if(NOT LEVEL_ZERO_ROOT)
  set(LEVEL_ZERO_ROOT $ENV{LEVEL_ZERO_ROOT})
endif()
find_path(
  LevelZero_INCLUDE_DIR level_zero/ze_api.h PATHS "${LEVEL_ZERO_ROOT}" PATH_SUFFIXES include NO_DEFAULT_PATH REQUIRED)
find_library(
  LevelZero_LIBRARY ze_loader PATHS "${LEVEL_ZERO_ROOT}" PATH_SUFFIXES lib/x64 lib64 lib NO_DEFAULT_PATH REQUIRED)
target_include_directories(host PRIVATE "${LevelZero_INCLUDE_DIR}")
target_link_libraries(host PRIVATE "${LevelZero_LIBRARY}")
