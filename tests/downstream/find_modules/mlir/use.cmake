# As MLIR looks: LEVEL_ZERO_DIR with include and lib below it.
set(include "$ENV{LEVEL_ZERO_DIR}/include")
set(library "$ENV{LEVEL_ZERO_DIR}/lib")
find_path(LevelZero_INCLUDE_DIR level_zero/ze_api.h HINTS "${include}" REQUIRED)
find_library(LevelZero_LIBRARY ze_loader HINTS "${library}" REQUIRED)
target_include_directories(host PRIVATE "${LevelZero_INCLUDE_DIR}")
target_link_libraries(host PRIVATE "${LevelZero_LIBRARY}")
