"""Artifacts of public projects, with made-up tasks on their relations."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.injector import integrity
from dbt_graft.injector.artifacts import dump, read, undo, write
from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.relations import relations
from dbt_graft.injector.report_text import render_report
from dbt_graft.injector.slim import slim
from dbt_graft.lineage.errors import GraftError

PROJECTS = (
    "ATanskiy_MatchStream",
    "Aidbox_dbt-sample-project",
    "CentricaGroupDataAI_energy-model-tests",
    "Viktor-Soltesz_salary-survey-dbt-docs",
    "abagdi-allvuesystems_dbt-docs-site",
    "b-ned_dbt-colibri_oracle",
    "gmontinny_airflow-dbt-iceberg",
    "gnosischain_dbt-cerebro",
    "godatadriven_dbt-bouncer_v20",
    "incubateur-ademe_quefairedemesobjets",
    "trantrongw_cc1-dbt-docs",
)
TOO_OLD = "fivetran_dbt_ad_reporting"
NAMESPACE = "warehouse://host:1"


@pytest.fixture
def samples(root: Path) -> Path:
    folder = root.parent / "shared/samples/dbt-artifacts"
    if not folder.is_dir():
        pytest.skip("the samples, other people's files, are not part of the repository")
    return folder


def _unpacked(sample: Path, target: Path) -> Path:
    target.mkdir()
    for packed in sample.glob("*.json.gz"):
        (target / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return target


@pytest.mark.parametrize("project", PROJECTS)
def test_a_public_project_is_grafted_and_comes_back_by_undo(
    samples: Path, project: str, empty_log: Any, tmp_path: Path
) -> None:
    target = _unpacked(samples / project, tmp_path / "target")
    artifacts = read(target)
    known = relations(artifacts.manifest, NAMESPACE)
    for n, (source, _) in enumerate(sorted(known.sources.items())):
        empty_log.statement(f"load_{n}", [f"file//landing/{n}"], [str(source)])
    built = [str(dataset) for dataset in sorted(known.builders)]
    for n, (first, second) in enumerate(pairwise(built[:20])):
        # Upper case, as some logs have names; tables dbt does not know; a report.
        empty_log.statement(f"score_{n}", [first.upper()], [f"{NAMESPACE}/new.scores_{n}"])
        empty_log.statement(f"report_{n}", [first, second])
    empty_log.statement("patch", [built[-1]], [built[0]])

    grafted = graft(artifacts, empty_log.lineage(), GraftOptions(NAMESPACE), known)

    assert {source for b in grafted.report.promoted for source in b.sources} == {
        source
        for dataset, ids in known.sources.items()
        if dataset not in known.builders
        for source in ids
    }
    assert {b.node_id for b in grafted.report.second_writers} >= {
        known.builders[min(known.builders)]
    }
    before = integrity.check(artifacts.manifest, artifacts.catalog)
    after = integrity.check(grafted.manifest, grafted.catalog)
    assert integrity.new_defects(before, after, grafted.redirects) == []
    assert not set(_strings(_without_meta(grafted.manifest))) & grafted.redirects.keys()
    assert grafted.descriptions.keys() >= known.builders.keys()
    assert grafted.lineage.datasets.keys() >= known.builders.keys()
    assert grafted.consumers
    assert render_report(grafted.report)
    slim(grafted.manifest, grafted.catalog)
    write(grafted, tmp_path / "out")
    undo(tmp_path / "out")
    for name in ("manifest.json", "catalog.json"):
        original = orjson.loads((target / name).read_bytes())
        assert (tmp_path / "out" / name).read_bytes() == dump(original)


def test_a_project_of_an_old_dbt_is_refused(samples: Path, tmp_path: Path) -> None:
    with pytest.raises(GraftError, match="version v7"):
        read(_unpacked(samples / TOO_OLD, tmp_path / "target"))


def _without_meta(manifest: dict[str, Any]) -> dict[str, Any]:
    """Without `meta`, where a model names the source that it was."""
    return {
        part: {
            key: {name: value for name, value in node.items() if name not in ("meta", "config")}
            for key, node in (manifest.get(part) or {}).items()
        }
        for part in ("nodes", "sources", "exposures", "metrics", "unit_tests", "semantic_models")
    }


def _strings(value: Any) -> Iterator[str]:
    """All strings of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
