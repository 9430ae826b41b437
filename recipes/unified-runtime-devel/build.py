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
    root = prefix / "Library" if windows else prefix
    headers = next(path.parent for path in sorted(root.glob("include/**/ur_api.h")))
    loaders = root.glob("bin/ur_loader*.dll") if windows else root.glob("lib/libur_loader.so.0")
    stage = [sys.executable, "-m", "repack.feedstock", "unified-runtime", version, platform, "--out", tree]
    stage += ["--headers", headers, "--loader", min(loaders)]
    subprocess.run(stage, check=True, env={**os.environ, "PYTHONPATH": str(repack.parent)})
subprocess.run([sys.executable, repack / "conda_layout.py", tree], check=True)
