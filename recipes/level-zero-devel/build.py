"""Fill PREFIX with the SDK tree, which is staged first where the sources are not a staged tree already."""

import os
import subprocess
import sys
from pathlib import Path

source, prefix = Path(os.environ["SRC_DIR"]), Path(os.environ["PREFIX"])
repack = source / "build-side" / "scripts" / "repack"
tree = source / "tree"
if not tree.is_dir():
    version, windows = os.environ["PKG_VERSION"], os.environ["target_platform"] == "win-64"
    platform = "win_amd64" if windows else "linux_x86_64"
    loader = prefix / ("Library/bin/ze_loader.dll" if windows else "lib/libze_loader.so.1")
    stage = [sys.executable, "-m", "repack.feedstock", "level-zero", version, platform, "--out", tree]
    stage += ["--headers", source / "upstream" / "include", "--loader", loader]
    subprocess.run(stage, check=True, env={**os.environ, "PYTHONPATH": str(repack.parent)})
scripts = Path(os.environ["RECIPE_DIR"]) / "scripts"
subprocess.run([sys.executable, repack / "conda_layout.py", tree, scripts], check=True)
