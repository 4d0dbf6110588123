"""The demo's artifacts and the lineage that they must lead to."""

from __future__ import annotations

from itertools import zip_longest
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
def complete(expected: dict[str, Any]) -> dict[str, Any]:
    """EXPECTED.yml with the month of visits in place, which no night has."""
    month = expected["month"]
    levels = zip_longest(expected["levels"], month["levels"], fillvalue=())
    return {
        **expected,
        **{name: {**expected[name], **month[name]} for name in ("datasets", "tasks", "consumers")},
        **{name: [*expected[name], *month[name]] for name in ("edges", "columns")},
        "levels": [sorted((*night, *visits)) for night, visits in levels],
    }


@pytest.fixture(scope="session")
def expected(root: Path) -> dict[str, Any]:
    """EXPECTED.yml."""
    loaded: dict[str, Any] = yaml.safe_load((root / "dbt_project" / "EXPECTED.yml").read_text())
    return loaded
