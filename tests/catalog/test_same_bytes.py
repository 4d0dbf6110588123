"""Same inputs, same bytes: whatever the hash seed, time zone and locale of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = """
import sys
from pathlib import Path
from tests.catalog.conftest import sample_site
sample_site(Path(sys.argv[1]))
"""
ENVIRONMENTS = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "2", "TZ": "America/Los_Angeles", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "3", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR"},
]


@pytest.fixture(scope="module")
def sites(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, bytes]]:
    """The files of the sample's site, built in processes that differ in their environment."""
    made = []
    for environment in ENVIRONMENTS:
        folder = tmp_path_factory.mktemp("same")
        # Without what other builds have kept.
        environment = {**environment, "TMPDIR": str(folder)}
        out = folder / "site"
        command = [sys.executable, "-c", BUILD, str(out)]
        subprocess.run(command, cwd=root, env={**os.environ, **environment}, check=True)
        files = [path for path in out.rglob("*") if path.is_file()]
        made.append({path.relative_to(out).as_posix(): path.read_bytes() for path in files})
    return made


def test_all_files_are_equal(sites: list[dict[str, bytes]]) -> None:
    first, *others = sites
    assert len(first) > 80
    for other in others:
        assert first.keys() == other.keys()
        assert [name for name in first if first[name] != other[name]] == []
