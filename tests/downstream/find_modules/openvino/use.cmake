find_package(LevelZero REQUIRED)
target_link_libraries(host PRIVATE LevelZero::LevelZero)
