# As the Unified Memory Framework looks: the prefix path alone.
find_path(LEVEL_ZERO_INCLUDE_DIRS ze_api.h PATH_SUFFIXES level_zero REQUIRED)
find_library(LEVEL_ZERO_LIBRARY ze_loader REQUIRED)
target_include_directories(host PRIVATE "${LEVEL_ZERO_INCLUDE_DIRS}")
target_link_libraries(host PRIVATE "${LEVEL_ZERO_LIBRARY}")
target_compile_definitions(host PRIVATE BARE_SPELLING)
