"""A release of the working tree, and a web server for its site."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.wheels import ROOT


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that `dev.py release` makes."""
    out = tmp_path_factory.mktemp("release") / "dist"
    command = [sys.executable, "-m", "repack.release", "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return out


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name in the base class
        """Keep the test's output clean."""


@pytest.fixture(scope="session")
def site(release: Path) -> Iterator[str]:
    """Return the URL of the site on the loopback address, as any web server would serve it."""
    handler = functools.partial(QuietHandler, directory=str(release / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
