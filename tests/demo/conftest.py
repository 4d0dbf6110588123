"""The demo's artifacts and the lineage that they must lead to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml


@pytest.fixture(scope="session")
def demo(root: Path) -> Path:
    """The build folder of a complete demo run."""
    build = root / "build" / "demo"
    stamp = build / "inputs.sha256"
    if not stamp.is_file() or stamp.read_text() == "incomplete":
        pytest.skip("run `make docs` first")
    return build


@pytest.fixture(scope="session")
def expected(root: Path) -> dict[str, Any]:
    """EXPECTED.yml."""
    loaded: dict[str, Any] = yaml.safe_load((root / "dbt_project" / "EXPECTED.yml").read_text())
    return loaded
