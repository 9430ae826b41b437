# Point Triton and PyTorch at a root that holds Level Zero and nothing else; a value of the user's own wins.
if [ -z "${LEVEL_ZERO_V1_SDK_PATH:-}" ]; then
    export LEVEL_ZERO_V1_SDK_PATH="${CONDA_PREFIX}/@SDK_ROOT@"
    export _LEVEL_ZERO_DEVEL_SET="${LEVEL_ZERO_V1_SDK_PATH}"
fi
