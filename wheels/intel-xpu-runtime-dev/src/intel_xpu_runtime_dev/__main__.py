"""Run the command line: `python -m intel_xpu_runtime_dev`."""

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())
