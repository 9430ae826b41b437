"""The stage of `xpu-dev smoke` in which a failure of each call of Unified Runtime must be told."""

from __future__ import annotations

# A release of either launch API: the newest, and the last that sets each argument by a call of its own.
NEWEST, BEFORE = "2026.2.0", "2025.3.3"

_STAGE_OF = {
    "urLoaderInit": "load",
    "urAdapterGet": "devices",
    "urPlatformGet": "devices",
    "urDeviceGet": "devices",
    "urDeviceGetInfo": "devices",
    "urContextCreate": "build",
    "urQueueCreate": "build",
    "urProgramCreateWithIL": "build",
    "urProgramBuild": "build",
    "urKernelCreate": "build",
    "urKernelGetInfo": "properties",
    "urKernelGetGroupInfo": "properties",
    "urKernelGetSubGroupInfo": "properties",
    "urProgramGetInfo": "native-binary",
    "urProgramCreateWithBinary": "native-binary",
    "urUSMSharedAlloc": "launch",
    "urQueueFinish": "launch",
    "urUSMFree": "timing",
    "urKernelRelease": "timing",
    "urProgramRelease": "timing",
    "urQueueRelease": "timing",
    "urContextRelease": "timing",
    "urLoaderTearDown": "timing",
}
_LAUNCHES = {
    NEWEST: ("urEnqueueKernelLaunchWithArgsExp",),
    BEFORE: ("urKernelSetArgPointer", "urKernelSetArgValue", "urEnqueueKernelLaunch"),
}


def stage_of(release: str) -> dict[str, str]:
    """Return the stage of each call that smoke makes for the kernel add with a release."""
    return {**_STAGE_OF, **dict.fromkeys(_LAUNCHES[release], "launch")}
