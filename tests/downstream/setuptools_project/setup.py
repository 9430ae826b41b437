import intel_xpu_runtime_dev
from setuptools import Extension, setup

sdk = intel_xpu_runtime_dev.find_sdk("level-zero")
setup(
    ext_modules=[
        Extension(
            "downstream",
            ["extension.c"],
            include_dirs=[intel_xpu_runtime_dev.get_include()],
            library_dirs=[*sdk.library_dirs],
            libraries=[*sdk.libraries],
        )
    ]
)
