find_package(LevelZero 1.28 REQUIRED)
target_link_libraries(host PRIVATE LevelZero::level-zero)
