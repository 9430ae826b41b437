@rem Take back only what activate.bat set, and only if nobody has changed it since.
@if defined _LEVEL_ZERO_DEVEL_SET if "%LEVEL_ZERO_V1_SDK_PATH%"=="%_LEVEL_ZERO_DEVEL_SET%" set "LEVEL_ZERO_V1_SDK_PATH="
@if defined _LEVEL_ZERO_DEVEL_SET set "_LEVEL_ZERO_DEVEL_SET="
