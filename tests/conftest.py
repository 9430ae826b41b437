from pathlib import Path
import pytest
@pytest.fixture(scope="session")
def wheelhouse() -> Path:
    return Path("/tmp/loc/wh2")
