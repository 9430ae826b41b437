"""The files by which pkg-config and CMake find an SDK, filled in from `templates/`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .catalogue import Platform

TEMPLATES = Path(__file__).resolve().parent / "templates"
PLACEHOLDER = re.compile(r"@([A-Z_]+)@")
# CMake's name of the system that programs are built for.
CMAKE_SYSTEMS = {"win_amd64": "Windows", "linux_x86_64": "Linux"}


@dataclass(frozen=True)
class Package:
    """How build tools know a component.

    `pc_files` are the names of its `.pc` files and what each calls the library; `link_targets` are CMake targets that link the loader, all the same; `compatibility` says in words what the
    CMake condition `compatible_if` decides: whether this version serves a request for PACKAGE_FIND_VERSION.
    """

    title: str
    header_folder: str
    header: str
    pc_files: Mapping[str, str]
    cmake_package: str
    cmake_config: str
    cmake_version: str
    link_targets: tuple[str, ...]
    compatibility: str
    compatible_if: str


PACKAGES = {
    "level-zero": Package(
        title="Level Zero",
        header_folder="level_zero",
        header="ze_api.h",
        pc_files={"level-zero.pc": "Level Zero", "libze_loader.pc": "Level Zero Loader"},
        cmake_package="LevelZero",
        cmake_config="LevelZeroConfig.cmake",
        cmake_version="LevelZeroConfigVersion.cmake",
        # The names that PTI, OpenVINO and upstream's own build use.
        link_targets=("ze_loader", "level-zero", "LevelZero"),
        compatibility="Level Zero keeps old names and structures within a major version: newer serves older requests.",
        compatible_if='PACKAGE_FIND_VERSION_MAJOR STREQUAL "@MAJOR@" '
        "AND PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION",
    ),
    "unified-runtime": Package(
        title="Unified Runtime",
        header_folder="unified-runtime",
        header="ur_api.h",
        pc_files={"libur_loader.pc": "Unified Runtime Loader"},
        cmake_package="unified-runtime",
        cmake_config="unified-runtime-config.cmake",
        cmake_version="unified-runtime-config-version.cmake",
        link_targets=("loader",),
        compatibility="Names and structures change from release to release: no other serves a request for one.",
        compatible_if="PACKAGE_VERSION_EXACT",
    ),
}


def package_files(component: str, version: str, platform: Platform, library: str) -> dict[str, str]:
    """Return the texts by their paths below the SDK's root; `library` is the file in `lib/` to link with."""
    package = PACKAGES[component]
    values = {
        "TITLE": package.title,
        "VERSION": version,
        "MAJOR": version.partition(".")[0],
        "SYSTEM": CMAKE_SYSTEMS[platform],
        "HEADER_FOLDER": package.header_folder,
        "HEADER": package.header,
        "LIBRARY": library,
        "LINK_NAME": link_name(library),
        "PACKAGE": package.cmake_package,
        "FIRST_LINK_TARGET": package.link_targets[0],
        "LINK_TARGETS": ", ".join(package.link_targets),
        "LINK_TARGETS_LIST": " ".join(package.link_targets),
        "COMPATIBILITY": package.compatibility,
        "COMPATIBLE_IF": package.compatible_if,
    }
    folder = f"lib/cmake/{package.cmake_package}"
    files = {
        f"{folder}/{package.cmake_config}": _filled("package-config.cmake.in", values),
        f"{folder}/{package.cmake_version}": _filled("package-config-version.cmake.in", values),
    }
    for name, title in package.pc_files.items():
        files[f"lib/pkgconfig/{name}"] = _filled("library.pc.in", {**values, "PC_NAME": title})
    return files


def link_name(library: str) -> str:
    """Return what follows `-l` to link with a library: `ze_loader` for `ze_loader.lib` and `libze_loader.so`."""
    return Path(library).stem.removeprefix("lib")


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Fill in every placeholder of a template, also those that a value holds."""
    text = (TEMPLATES / template).read_text("utf-8")
    while PLACEHOLDER.search(text):
        text = PLACEHOLDER.sub(lambda match: values[match[1]], text)
    return text
