# Point Triton and PyTorch at a root that holds Level Zero and nothing else; a value of the user's own wins.
if (-not $Env:LEVEL_ZERO_V1_SDK_PATH) {
    $Env:LEVEL_ZERO_V1_SDK_PATH = Join-Path $Env:CONDA_PREFIX "@SDK_ROOT@"
    $Env:_LEVEL_ZERO_DEVEL_SET = $Env:LEVEL_ZERO_V1_SDK_PATH
}
