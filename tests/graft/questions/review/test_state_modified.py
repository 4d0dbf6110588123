"""All that dbt's own `state:modified` lists is named by a review, with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.analysis.review.node_change import NodeReview
from dbt_graft.graft.questions.review.models import compare_artifacts
from dbt_graft.injector import artifacts
from tests.cases import for_each
from tests.dbt2.project import DBT as DBT_2
from tests.graft.questions.review.settings_project import DBT, SETTINGS, dbt, listed, write_project

pytestmark = pytest.mark.slow
SELECTORS = ("", ".body", ".configs", ".relation", ".macros", ".contract")
# What is no setting of a model -> its worst verdict.
EXPECTED = {
    "model.shop.tested": "VALUES",
    "model.shop.contracted": "ADDITIVE",
    "model.shop.versioned.v1": "CONTRACT",
    "model.shop.versioned.v2": "CONTRACT",
    "model.shop.summed": "CONTRACT",
    "model.shop.filtered": "ROWS",
    "model.shop.added": "VALUES",
    "model.shop.variable": "ROWS",
    "source.shop.raw.orders": "CONTRACT",
    "exposure.shop.board": "METADATA",
    "snapshot.shop.kept": "ROWS",
    "seed.shop.countries": "ROWS",
    "seed.shop.cities": "ROWS",
    "analysis.shop.look": "METADATA",
}


def compiled(folder: Path, program: Path) -> Path:
    """Both versions of the project, compiled: `base` and `new`."""
    options = ("--no-introspect", "--no-populate-cache") if program == DBT else ()
    # dbt 2 refuses settings that it does not know.
    without = () if program == DBT else ("own", "watched")
    for version, name in enumerate(("base", "new")):
        write_project(folder / name, version, without=without)
        dbt(program, folder / name, "compile", *options)
    return folder


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("state"), DBT)


def reviewed(base: Path, new: Path) -> dict[str, NodeReview]:
    nodes, _ = compare_artifacts(artifacts.read(base / "target"), artifacts.read(new / "target"))
    return {node.node_id: node for node in nodes}


def named(nodes: dict[str, NodeReview]) -> set[str]:
    """The nodes that a review names, and the tests among their changes."""
    return {*nodes} | {change.part for node in nodes.values() for change in node.changes}


# The first one lists what the others do.
@for_each("selector", SELECTORS, quick=1)
def test_what_dbt_lists_is_named(versions: Path, selector: str) -> None:
    base, new = versions / "base", versions / "new"
    ids = listed(DBT, new, f"state:modified{selector}", base / "target")
    assert ids - named(reviewed(base, new)) == set()
    assert ids or selector == ".relation"


def test_each_setting_has_its_verdict(versions: Path) -> None:
    nodes = reviewed(versions / "base", versions / "new")
    expected = {f"model.shop.{name}": verdict for name, (_, _, verdict) in SETTINGS.items()}
    worst = {key: node.verdict.name for key, node in nodes.items()}
    assert worst == expected | EXPECTED


def test_another_schema_is_no_change(versions: Path, tmp_path: Path) -> None:
    write_project(tmp_path / "ci", 0, schema="pr_12")
    dbt(DBT, tmp_path / "ci", "compile", "--no-introspect", "--no-populate-cache")
    assert reviewed(versions / "base", tmp_path / "ci") == {}


@pytest.mark.dbt2
@pytest.mark.skipif(not DBT_2.exists(), reason="dbt 2 is not installed: `make dbt-2`")
def test_what_dbt_2_lists_is_named(tmp_path: Path) -> None:
    folder = compiled(tmp_path, DBT_2)
    base, new = folder / "base", folder / "new"
    ids = listed(DBT_2, new, "state:modified", base / "target")
    assert ids
    assert ids - named(reviewed(base, new)) == set()
