# As dpctl is told: the folder of the headers themselves; the library is searched where the variable SDK says.
target_include_directories(host PRIVATE "${DPCTL_LEVEL_ZERO_INCLUDE_DIR}")
find_library(LEVEL_ZERO_LIBRARY ze_loader HINTS ENV LEVEL_ZERO_V1_SDK_PATH PATH_SUFFIXES lib REQUIRED)
target_link_libraries(host PRIVATE "${LEVEL_ZERO_LIBRARY}")
target_compile_definitions(host PRIVATE BARE_SPELLING)
