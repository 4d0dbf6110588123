"""The lineage of an operator: never an exception, and one warning with a remedy."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graft_airflow import GraftBashExtractor, errors, extractors
from graft_airflow.lineage_of_task import KnownLineage, lineage_of
from graft_airflow.policy import task_policy
from tests.graft_airflow.lineage_file import text


@pytest.fixture
def lineage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(errors, "_written", set())
    monkeypatch.setenv("AIRFLOW__GRAFT__LINEAGE", str(tmp_path / "lineage.json"))
    (tmp_path / "lineage.json").write_bytes(text())
    return tmp_path / "lineage.json"


def operator(task_id: str = "raw.load_orders", **fields: Any) -> Any:
    return SimpleNamespace(dag_id="shop", task_id=task_id, **fields)


def test_a_task_is_known_and_a_new_file_is_read(lineage: Path) -> None:
    assert _task(lineage_of(operator())) == ("load_orders", "task_id without group")
    assert _task(lineage_of(operator("x", params={"graft_task": "load_orders"}))) == (
        "load_orders",
        "params",
    )
    lineage.write_bytes(text().replace(b'"load_orders":{', b'"load_all_orders":{'))
    assert lineage_of(operator()) == KnownLineage(None, "2026-11-22T05:30:00Z")


def _task(known: KnownLineage) -> Any:
    return known.task and (known.task.name, known.task.rule)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "is missing; write it with `graft export airflow-lineage"),
        (b"{", "is no valid JSON"),
        (b"", "is no valid JSON"),
        (b'{"version": 9}', "has version 9"),
    ],
)
def test_what_is_wrong_is_one_warning(
    lineage: Path, caplog: pytest.LogCaptureFixture, content: bytes | None, problem: str
) -> None:
    if content is None:
        lineage.unlink()
    else:
        lineage.write_bytes(content)
    with caplog.at_level(logging.WARNING, "graft_airflow"):
        found = [lineage_of(operator()) for _ in range(3)]
    assert all(one.task is None and problem in one.problem for one in found)
    assert len(caplog.records) == 1
    assert problem in caplog.text


@pytest.mark.parametrize(
    "odd",
    [
        None,
        object(),
        SimpleNamespace(dag_id=None, task_id=7, params="graft_task"),
        operator("", params=None),
        operator("a\nb", params={"graft_task": ["x"]}),
        operator('"},{"', params={"graft_task": '\n"load_orders":'}),
        operator("x" * 100_000),
    ],
    ids=lambda one: str(one)[:20],
)
def test_an_odd_operator_is_no_error(lineage: Path, odd: Any) -> None:
    assert lineage_of(odd).task is None


def test_settings_that_are_none_are_a_warning(
    lineage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__GRAFT__TTL", "soon")
    assert "`ttl` in section [graft] is no number of seconds" in lineage_of(operator()).problem


def test_without_airflow_nothing_raises(lineage: Path, caplog: pytest.LogCaptureFixture) -> None:
    extractor = GraftBashExtractor(operator(inlets=[], outlets=[]))
    assert extractor.extract() is None
    assert extractor.extract_on_complete(SimpleNamespace()) is None
    assert extractor.extract_on_failure(SimpleNamespace()) is None
    task_policy(operator(inlets=[], outlets=[]))
    assert "airflow cannot be imported; install apache-airflow-providers-openlineage" in caplog.text


def test_no_two_extractors_claim_an_operator() -> None:
    claimed = [
        name
        for extractor in extractors.GraftExtractor.__subclasses__()
        for name in extractor.get_operator_classnames()
    ]
    assert sorted(claimed) == sorted(set(claimed))
    assert {"BashOperator", "PythonOperator", "SparkSubmitOperator", "SSHOperator"} <= {*claimed}


def test_importing_the_extractors_imports_neither_airflow_nor_graft(root: Path) -> None:
    code = (
        "import sys, graft_airflow; graft_airflow.GraftBashExtractor; graft_airflow.task_policy;"
        "print(sorted({name.split('.')[0] for name in sys.modules}"
        " & {'airflow', 'openlineage', 'dbt_graft', 'attr', 'pyarrow'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
