# As OpenVINO's GPU plugin and compute-runtime look: LEVEL_ZERO_ROOT, and a target of that name.
include(FindPackageHandleStandardArgs)
set(roots "${LEVEL_ZERO_ROOT}" ENV LEVEL_ZERO_ROOT)
find_path(LevelZero_INCLUDE_DIR NAMES level_zero/ze_api.h HINTS ${roots} PATH_SUFFIXES include)
find_library(LevelZero_LIBRARY NAMES ze_loader HINTS ${roots} PATH_SUFFIXES lib lib64)
find_package_handle_standard_args(LevelZero REQUIRED_VARS LevelZero_INCLUDE_DIR LevelZero_LIBRARY)
add_library(LevelZero::LevelZero UNKNOWN IMPORTED)
set_target_properties(
  LevelZero::LevelZero PROPERTIES IMPORTED_LOCATION "${LevelZero_LIBRARY}"
                                  INTERFACE_INCLUDE_DIRECTORIES "${LevelZero_INCLUDE_DIR}")
