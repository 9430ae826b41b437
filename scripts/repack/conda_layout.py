"""Lay a staged tree out in a conda prefix; run by the recipes: `python conda_layout.py TREE [SCRIPTS]`.

Standard library only: it runs under whatever Python builds the recipe. Paths are those of conda-forge's
`level-zero-devel` (`include/`, `lib/`, under `Library/` on Windows), and beside them `opt/<component>`, a root
that holds one component and nothing else: Triton puts `<root>/include` first on the compiler's command line,
where the headers of the rest of the environment would replace those of the SYCL runtime.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Fill `PREFIX` for `target_platform`, as rattler-build and conda-build set them."""
    tree, *scripts = map(Path, arguments)
    prefix, platform = Path(os.environ["PREFIX"]), os.environ["target_platform"]
    lay_out(tree, prefix, platform, sorted(path for folder in scripts for path in folder.iterdir()))
    return 0


def lay_out(tree: Path, prefix: Path, target_platform: str, scripts: Iterable[Path] = ()) -> None:
    """Copy a staged tree into a prefix, and the activation scripts, if the component has any."""
    component = json.loads((tree / "manifest.json").read_text(encoding="utf-8"))["component"]
    windows = target_platform.startswith("win-")
    root = prefix / "Library" if windows else prefix
    sdk_root = root / "opt" / component
    for folder in ("include", "lib"):
        shutil.copytree(tree / folder, sdk_root / folder)
    shutil.copy(tree / "manifest.json", sdk_root)
    if component == "level-zero":
        for folder in ("include", "lib"):
            shutil.copytree(tree / folder, root / folder, dirs_exist_ok=True)
    else:
        _refer_to(sdk_root, root)
    for script in scripts:
        _write_activation(script, prefix, sdk_root)


def _refer_to(sdk_root: Path, root: Path) -> None:
    """Write `.pc` files and CMake configs in `lib/` that lead to a root of its own.

    Intel's own packages own `include/unified-runtime` and the loader's names in `lib/`.
    """
    steps = sdk_root.relative_to(root).as_posix()
    for pc in sorted((sdk_root / "lib" / "pkgconfig").glob("*.pc")):
        text = pc.read_text(encoding="utf-8")
        moved = text.replace("${pcfiledir}/../..", "${pcfiledir}/../../" + steps)
        if moved == text:
            raise SystemExit(f"error: {pc.name} is not relocatable: no ${{pcfiledir}}/../.. in it")
        (root / "lib" / "pkgconfig").mkdir(parents=True, exist_ok=True)
        (root / "lib" / "pkgconfig" / pc.name).write_text(moved, encoding="utf-8", newline="\n")
    for config in sorted((sdk_root / "lib" / "cmake").rglob("*.cmake")):
        relative = config.relative_to(sdk_root)
        up = "/".join([".."] * (len(relative.parts) - 1))
        target = root / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        include = f'include("${{CMAKE_CURRENT_LIST_DIR}}/{up}/{steps}/{relative.as_posix()}")\n'
        target.write_text(include, encoding="utf-8", newline="\n")


def _write_activation(script: Path, prefix: Path, sdk_root: Path) -> None:
    """Copy an activation script with the SDK root below the prefix filled in."""
    relative = sdk_root.relative_to(prefix).as_posix()
    newline = "\n"
    if script.suffix == ".bat":
        relative, newline = relative.replace("/", "\\"), "\r\n"
    folder = prefix / "etc" / "conda" / f"{script.stem}.d"
    folder.mkdir(parents=True, exist_ok=True)
    text = script.read_text(encoding="utf-8").replace("@SDK_ROOT@", relative)
    (folder / f"{sdk_root.name}-devel{script.suffix}").write_text(text, encoding="utf-8", newline=newline)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
