"""What Triton's compiler must know of a device."""

from __future__ import annotations

from typing import Any

from .._ur import Device
from .._ur_api import DeviceInfo, DeviceType

# Sub-group sizes that Triton's backend can compile for.
SUB_GROUP_SIZES = (16, 32)

# Devices by (architecture, release) of their IP version, with the names that Triton's backend and ocloc have for them.
# Upper bounds are open: 20.0 and later have what Xe2 has.
PONTE_VECCHIO = ((12, 60), (12, 61))
XE2 = (20, 0)
ARCHITECTURES = {
    (12, 55): "dg2", (12, 56): "dg2", (12, 57): "dg2", (12, 60): "pvc", (12, 61): "pvc",
    (12, 70): "mtl", (12, 71): "mtl", (12, 74): "arl_h", (20, 1): "bmg", (20, 2): "bmg", (20, 4): "lnl",
    (30, 0): "ptl_h", (30, 1): "ptl_u",
}  # fmt: skip

# What Triton calls a capability, the OpenCL extension that tells of it. Names change between versions of Triton; it
# reads those that it knows.
CAPABILITIES = {
    "has_subgroup_matrix_multiply_accumulate": "cl_intel_subgroup_matrix_multiply_accumulate",
    "has_subgroup_matrix_multiply_accumulate_tensor_float32": "cl_intel_subgroup_matrix_multiply_accumulate_tf32",
    "has_subgroup_2d_block_io": "cl_intel_subgroup_2d_block_io",
    "has_2d_block_io": "cl_intel_subgroup_2d_block_io",
}
CONVERSIONS = ("has_bfloat16_conversions", "has_bfloat16_conversion")
CONVERSIONS_EXTENSION = "cl_intel_bfloat16_conversions"


def ip_version(device: Device) -> tuple[int, int]:
    """Return (architecture, release) of a GPU, (0, 0) of anything else: 12.60 is Ponte Vecchio, 20.1 Battlemage."""
    if device.type != DeviceType.GPU:
        return (0, 0)
    packed = device.number(DeviceInfo.IP_VERSION)
    return packed >> 22, packed >> 14 & 0xFF


def has_matrix_engines(device: Device) -> bool:
    """Return whether a GPU has matrix instructions at sub-group size 16 with 2D block loads.

    Unified Runtime's Level Zero adapter lists no OpenCL extension for them, so the IP version decides.
    """
    version = ip_version(device)
    return version in PONTE_VECCHIO or version >= XE2


def properties(device: Device) -> dict[str, Any]:
    """Return the dictionary that Triton's backend takes for a target's architecture."""
    extensions = set(device.text(DeviceInfo.EXTENSIONS).split())
    is_gpu = device.type == DeviceType.GPU
    matrix = has_matrix_engines(device)
    sizes = [size for size in device.numbers(DeviceInfo.SUB_GROUP_SIZES_INTEL) if size in SUB_GROUP_SIZES]
    found: dict[str, Any] = {
        "name": device.name,
        "platform_name": "Unified Runtime",
        "vendor": device.text(DeviceInfo.VENDOR),
        "version": device.text(DeviceInfo.VERSION),
        "driver_version": device.text(DeviceInfo.DRIVER_VERSION),
        "architecture": device.number(DeviceInfo.IP_VERSION) if is_gpu else 0,
        "arch": ARCHITECTURES.get(ip_version(device), ""),
        "gpu_eu_count": device.number(DeviceInfo.GPU_EU_COUNT),
        "gpu_subslice_count": device.number(DeviceInfo.GPU_EU_SLICES)
        * device.number(DeviceInfo.GPU_SUBSLICES_PER_SLICE),
        "max_work_group_size": device.number(DeviceInfo.MAX_WORK_GROUP_SIZE),
        "max_num_sub_groups": device.number(DeviceInfo.MAX_NUM_SUB_GROUPS, default=64),
        "sub_group_sizes": sizes or list(SUB_GROUP_SIZES),
        "has_fp64": bool(device.number(DeviceInfo.DOUBLE_FP_CONFIG)),
        # Newer backends would otherwise compile a program that asks SYCL for the extensions.
        "__intel_already_queried_extensions__": True,
    }
    found.update({name: matrix or (is_gpu and text in extensions) for name, text in CAPABILITIES.items()})
    converts = matrix or CONVERSIONS_EXTENSION in extensions
    return {**found, **dict.fromkeys(CONVERSIONS, converts)}
