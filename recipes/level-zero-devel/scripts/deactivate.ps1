# Take back only what activate.ps1 set, and only if nobody has changed it since.
if ($Env:_LEVEL_ZERO_DEVEL_SET) {
    if ($Env:LEVEL_ZERO_V1_SDK_PATH -eq $Env:_LEVEL_ZERO_DEVEL_SET) {
        Remove-Item Env:LEVEL_ZERO_V1_SDK_PATH
    }
    Remove-Item Env:_LEVEL_ZERO_DEVEL_SET
}
