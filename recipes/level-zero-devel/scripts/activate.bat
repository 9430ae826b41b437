@rem Point Triton and PyTorch at a root that holds Level Zero and nothing else; a value of the user's own wins.
@if not defined LEVEL_ZERO_V1_SDK_PATH set "_LEVEL_ZERO_DEVEL_SET=%CONDA_PREFIX%\@SDK_ROOT@"
@if not defined LEVEL_ZERO_V1_SDK_PATH set "LEVEL_ZERO_V1_SDK_PATH=%CONDA_PREFIX%\@SDK_ROOT@"
