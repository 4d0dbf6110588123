"""Artifacts with values of the wrong type: ignored with a notice, or refused with their place."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.injector import integrity
from dbt_graft.injector.artifacts import dump, read, undo, write
from dbt_graft.injector.graft import graft
from dbt_graft.injector.nodes import references
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.relations import relations, short_names
from dbt_graft.injector.report_text import render_report
from dbt_graft.injector.slim import slim
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from tests.cases import for_each

Json = dict[str, Any]
ORDERS = "source.shop.raw.orders"
MART = "model.shop.orders"
VALUES = [None, "x", "", 7, 1.5, True, [], ["x"], [7], [None], [[]], {}, {"x": 1}, {"x": {}}]


def _write(folder: Path, files: Json) -> None:
    folder.mkdir(exist_ok=True)
    for name, document in files.items():
        (folder / name).write_bytes(dump(document))


def _files(project: Any) -> Json:
    checks = {"unique_id": ORDERS, "status": "warn", "max_loaded_at": "2026-11-20T01:00:00Z"}
    return {
        "manifest.json": project.manifest,
        "catalog.json": project.catalog,
        "sources.json": {"results": [checks]},
    }


@pytest.mark.parametrize(
    ("name", "at", "value", "notice"),
    [
        (
            "catalog.json",
            ["nodes", MART, "columns", "id"],
            "x",
            f"nodes > {MART} > columns > id is text, not an object",
        ),
        ("catalog.json", ["nodes", MART], None, f"nodes > {MART} is null, not an object"),
        ("catalog.json", ["metadata"], [], "metadata is a list, not an object"),
        (
            "manifest.json",
            ["sources", ORDERS, "columns", "id"],
            7,
            f"sources > {ORDERS} > columns > id is a number, not an object",
        ),
        (
            "manifest.json",
            ["nodes", "test.shop.not_null_orders_id", "config"],
            "x",
            "nodes > test.shop.not_null_orders_id > config is text, not an object",
        ),
        (
            "manifest.json",
            ["nodes", MART, "depends_on"],
            [],
            f"nodes > {MART} > depends_on is a list, not an object",
        ),
        (
            "manifest.json",
            ["nodes", MART, "depends_on", "nodes"],
            [ORDERS, {}],
            f"nodes > {MART} > depends_on > nodes > 1 is an object, not text",
        ),
        ("manifest.json", ["nodes", MART], "x", f"nodes > {MART} is text, not an object"),
        ("manifest.json", ["nodes", MART], None, f"nodes > {MART} is null, not an object"),
        ("manifest.json", ["nodes", MART, "name"], None, f"nodes > {MART} has no valid `name`"),
        ("manifest.json", ["parent_map"], [], "parent_map is a list, not an object"),
        ("sources.json", ["results"], 7, "results is a number, not a list"),
    ],
)
def test_a_malformed_value_is_ignored_with_a_notice_and_comes_back_by_undo(
    project: Any, log: Any, tmp_path: Path, name: str, at: list[str], value: Any, notice: str
) -> None:
    files = _files(project)
    inside = files[name]
    for key in at[:-1]:
        inside = inside[key]
    inside[at[-1]] = value
    _write(tmp_path / "target", files)

    artifacts = read(tmp_path / "target")
    grafted = graft(artifacts, log.lineage(), GraftOptions("spark"))

    assert f"{tmp_path / 'target' / name}: {notice}; ignored" in grafted.report.notices
    assert "model.python_tasks.raw_customers" in grafted.manifest["nodes"]
    write(grafted, tmp_path / "out")
    undo(tmp_path / "out")
    for original in ("manifest.json", "catalog.json"):
        assert (tmp_path / "out" / original).read_bytes() == dump(files[original])


def test_many_malformed_values_are_counted(project: Any, tmp_path: Path) -> None:
    project.manifest["nodes"] |= {f"model.shop.m{n}": "x" for n in range(150)}
    _write(tmp_path, _files(project))

    notices = read(tmp_path).notices

    assert len(notices) == 101
    assert notices[-1].endswith("50 more values are malformed; ignored")


def test_well_formed_artifacts_are_read_as_they_are(project: Any, tmp_path: Path) -> None:
    _write(tmp_path, _files(project))

    artifacts = read(tmp_path)

    assert artifacts.notices == ()
    assert dump(artifacts.manifest) == dump(project.manifest)
    assert dump(artifacts.catalog) == dump(project.catalog)


def _mutate(document: Any, chance: random.Random) -> str:
    """Replace a random value by one of another type, in place; where it was."""
    at, inside = [], document
    while True:
        key = chance.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
        at.append(str(key))
        value = inside[key]
        if not isinstance(value, (dict, list)) or not value or chance.random() < 0.15:
            others = [new for new in VALUES if type(new) is not type(value)]
            inside[key] = copy.deepcopy(chance.choice(others))
            return f"{' > '.join(at)} = {inside[key]!r}"
        inside = value


def _use(folder: Path, lineage: Lineage) -> None:
    """All that is done with artifacts."""
    artifacts = read(folder)
    known = relations(artifacts.manifest, "spark")
    short_names(artifacts.manifest, known)
    grafted = graft(artifacts, lineage, GraftOptions("spark"), known)
    integrity.check(grafted.manifest, grafted.catalog)
    assert grafted.descriptions
    assert grafted.lineage.datasets
    assert grafted.consumers is not None
    assert render_report(grafted.report)
    assert dump(grafted.report.to_json())
    slim(grafted.manifest, grafted.catalog)


@for_each("seed", range(10))
def test_a_mutated_artifact_is_used_or_refused_with_its_place(
    project: Any, log: Any, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    lineage = log.lineage()
    project.manifest["nodes"][MART]["columns"] = {"id": {"name": "id", "description": "Key."}}
    for _ in range(30):
        files = copy.deepcopy(_files(project))
        name = chance.choice(["manifest.json", "manifest.json", "catalog.json", "sources.json"])
        mutations = [_mutate(files[name], chance) for _ in range(chance.choice([1, 1, 4]))]
        _write(tmp_path, files)
        try:
            _use(tmp_path, lineage)
        except Exception as error:
            if not isinstance(error, GraftError) or str(tmp_path / name) not in str(error):
                pytest.fail(f"{name}: {mutations}: {error!r}")


NODES = {"model": ("nodes", MART), "source": ("sources", ORDERS)}


@pytest.mark.parametrize("kind", NODES)
def test_no_key_of_a_node_must_be_there(kind: str, project: Any, log: Any, tmp_path: Path) -> None:
    """A node without one of its keys is grafted, or ignored with a notice."""
    section, unique_id = NODES[kind]
    for number, key in enumerate(project.manifest[section][unique_id]):
        files = copy.deepcopy(_files(project))
        del files["manifest.json"][section][unique_id][key]
        _write(tmp_path / f"{number}", files)
        grafted = graft(read(tmp_path / f"{number}"), log.lineage(), GraftOptions("spark"))
        assert "model.python_tasks.raw_customers" in grafted.manifest["nodes"], key


def test_a_source_without_its_source_name_is_referred_to() -> None:
    assert references([{"resource_type": "source", "name": "orders"}]) == ([], [["", "orders"]])
