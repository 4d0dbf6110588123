"""Projects that were not made for this, changed in many ways: all that dbt lists is named.

The demo's project, and others whose folders the environment names: `DBT_PROJECTS=a:b`. Each is
compiled over an empty DuckDB, with dbt and with dbt 2.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import for_each
from tests.dbt2.project import DBT as DBT_2
from tests.graft.questions.review.changed_project import EDITS
from tests.graft.questions.review.settings_project import DBT, dbt, listed
from tests.graft.questions.review.test_state_modified import named, reviewed

FOLDERS = [Path(name) for name in os.environ.get("DBT_PROJECTS", "").split(":") if name]
DEMO = Path(__file__).parents[4] / "dbt_project"
PROGRAMS = [
    pytest.param(DBT, id="dbt"),
    pytest.param(
        DBT_2,
        id="dbt 2",
        marks=[
            pytest.mark.dbt2,
            pytest.mark.skipif(not DBT_2.exists(), reason="dbt 2 is not installed: `make dbt-2`"),
        ],
    ),
]
# It takes no key that it does not know, and loads the driver that runs hooks from the network.
NOT_BY_DBT_2 = ("own setting", "run hook")
PARTS = ("macros", "models", "seeds", "snapshots", "tests", "analyses", "data-tests", "data")
pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]


def project(source: Path, folder: Path) -> Path:
    """A copy of a project with a profile of its own."""
    folder.mkdir(parents=True)
    for part in (*PARTS, "dbt_packages"):
        if (source / part).is_dir():
            shutil.copytree(source / part, folder / part)
    document = yaml.safe_load((source / "dbt_project.yml").read_text())
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(document, sort_keys=False))
    target = {"type": "duckdb", "path": ":memory:", "schema": "main"}
    profile = {document["profile"]: {"target": "dev", "outputs": {"dev": target}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    return folder


def compiled(folder: Path, program: Path) -> dict[str, Any]:
    dbt(program, folder, "compile")
    manifest: dict[str, Any] = json.loads((folder / "target/manifest.json").read_text())
    return manifest


@pytest.fixture(scope="module", params=[DEMO, *FOLDERS], ids=lambda path: path.name)
def source(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(scope="module")
def base(source: Path, program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(source, tmp_path_factory.mktemp("base") / "project")
    compiled(folder, program)
    return folder


@for_each("name", EDITS)
def test_what_dbt_lists_is_named(
    source: Path, program: Path, base: Path, tmp_path: Path, name: str
) -> None:
    if program == DBT_2 and name in NOT_BY_DBT_2:
        return
    folder = shutil.copytree(base, tmp_path / "project")
    manifest = json.loads((base / "target/manifest.json").read_text())
    if not EDITS[name](folder, manifest):
        return
    compiled(folder, program)
    ids = listed(program, folder, "state:modified", base / "target")
    assert ids - named(reviewed(base, folder)) == set()
