"""Put the locator into the environment: from the wheel of this repository's build, else with pip."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

source = Path(os.environ["SRC_DIR"])
wheel = source / "project.whl"
if wheel.is_file():
    packages = Path(os.environ["PREFIX"]) / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        # RECORD describes the wheel; conda keeps a record of its own.
        archive.extractall(packages, [name for name in archive.namelist() if not name.endswith("/RECORD")])
    (next(packages.glob("*.dist-info")) / "INSTALLER").write_text("conda\n")
else:
    pip = [sys.executable, "-m", "pip", "install", ".", "-vv", "--no-deps", "--no-build-isolation"]
    subprocess.run(pip, check=True, cwd=source)
