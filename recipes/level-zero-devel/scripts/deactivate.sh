# Take back only what activate.sh set, and only if nobody has changed it since.
if [ -n "${_LEVEL_ZERO_DEVEL_SET:-}" ]; then
    if [ "${LEVEL_ZERO_V1_SDK_PATH:-}" = "${_LEVEL_ZERO_DEVEL_SET}" ]; then
        unset LEVEL_ZERO_V1_SDK_PATH
    fi
    unset _LEVEL_ZERO_DEVEL_SET
fi
