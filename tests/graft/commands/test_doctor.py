"""`graft doctor` on whole projects: one that is well, and ones with something wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from dbt_graft.collectors.engines import session
from dbt_graft.collectors.files import log_files
from dbt_graft.collectors.sqlserver import tools
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.commands.doctor import doctor as command
from dbt_graft.graft.doctor import machine
from dbt_graft.graft.doctor.dataset_names import name_rules
from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.errors import GraftError
from tests.graft.commands.answers import read_answer

LOG = "logs/spark/app-1"
Doctor = Callable[..., dict[tuple[str, str], str]]


def _write(folder: Path, table: str, **row: Any) -> None:
    place = folder / ".graft/store" / table / "batch_id=1"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row]), place / "part.parquet")


def _node(kind: str, schema: str, name: str) -> dict[str, Any]:
    unique_id = f"{kind}.shop.{name}"
    return {
        "database": None,
        "schema": schema,
        "name": name,
        "resource_type": kind,
        "package_name": "shop",
        "path": "x.sql",
        "original_file_path": "models/x.sql",
        "unique_id": unique_id,
        "fqn": ["shop", name],
        "config": {"materialized": "table"},
        "depends_on": {"nodes": []},
        "columns": {},
        "source_name": schema,
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that is well: artifacts, one log, and what was collected from it."""
    now = datetime.now(UTC)
    source, model = _node("source", "raw", "orders"), _node("model", "mart", "customers")
    manifest = {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
            "dbt_version": "1.11.0",
            "generated_at": (now + timedelta(minutes=1)).isoformat(),
            "project_name": "shop",
            "adapter_type": "spark",
        },
        "nodes": {model["unique_id"]: model},
        "sources": {source["unique_id"]: source},
        "parent_map": {model["unique_id"]: [], source["unique_id"]: []},
        "child_map": {model["unique_id"]: [], source["unique_id"]: []},
        "docs": {"doc.dbt.__overview__": {"name": "__overview__", "block_contents": ""}},
    }
    empty = {"metadata": {}, "nodes": {}, "sources": {}}
    (tmp_path / "target").mkdir()
    (tmp_path / "target/manifest.json").write_bytes(orjson.dumps(manifest))
    (tmp_path / "target/catalog.json").write_bytes(orjson.dumps(empty))
    (tmp_path / "models").mkdir()
    (tmp_path / "models/customers.sql").write_text("select 1")
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    (tmp_path / LOG).parent.mkdir(parents=True)
    (tmp_path / LOG).write_text("{}\n")
    (tmp_path / "graft.yml").write_text("collect:\n  - spark: {path: logs/spark}\n")
    [log] = log_files(str(tmp_path / "logs/spark"), "logs/spark")
    same = {"task": "load", "run_id": "r", "origin": LOG, "status": "ok"}
    _write(
        tmp_path,
        "accesses",
        **same,
        namespace="spark",
        name="raw.orders",
        kind="TABLE",
        direction="write",
        operation="INSERT",
        shape_id="s",
        evidence="observed",
    )
    _write(tmp_path, "runs", **same, engine="spark", started_at=now)
    _write(
        *(tmp_path, "batches"),
        origin=LOG,
        position=log.position,
        events=7,
        noise=0,
        committed_at=now,
    )
    return tmp_path


@pytest.fixture
def doctor(project: Path, capfd: pytest.CaptureFixture[str]) -> Doctor:
    """Run the command: severity and subject -> problem; the exit code must fit."""

    def run(*options: str) -> dict[tuple[str, str], str]:
        with pytest.raises(SystemExit) as ended:
            main(["doctor", "--json", "--config", str(project / "graft.yml"), *options])
        findings = read_answer(capfd.readouterr().out)["findings"]
        problems = {(item["severity"], item["subject"]): item["problem"] for item in findings}
        assert ended.value.code == (3 if any(key[0] == "error" for key in problems) else 0)
        return problems

    return run


def test_a_project_that_is_well_has_notes_only(project: Path, doctor: Doctor) -> None:
    problems = doctor()
    assert {severity for severity, _ in problems} == {"note"}
    assert problems["note", "logs/spark"] == "the newest run started 0 minutes ago"
    assert problems["note", str(project / "target")].endswith(
        "for spark: 1 model, 1 source, all in namespace spark"
    )
    assert {"Python", "Java"} <= {subject for _, subject in problems}


def test_nothing_is_written_and_people_get_it_in_lines(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(project.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--config", str(project / "graft.yml")])
    lines = capfd.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert "  logs/spark: 1 log, 0 of them new or changed; 7 events collected" in lines
    assert lines[-1].endswith(" notes")
    assert sorted(project.rglob("*")) == before


def test_inject_warns_of_settings_without_effect(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with (project / "graft.yml").open("a") as out:
        out.write("tasks: {lod: {}}\nnames: [{from: 'crm/*', to: 'spark/*'}]\n")
    with pytest.raises(SystemExit) as ended:
        main(["inject", "--config", str(project / "graft.yml")])
    shown = capfd.readouterr().err
    assert ended.value.code == 0
    assert "warning  graft.yml: `tasks` has 1 task that no log has: lod; " in shown
    assert "warning  graft.yml: the rule from crm/* is never used: it matches no dataset" in shown


def _no_artifacts(project: Path) -> None:
    (project / "target/manifest.json").unlink()


def _no_catalog(project: Path) -> None:
    (project / "target/catalog.json").unlink()


def _newer_model(project: Path) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).timestamp()
    os.utime(project / "models/customers.sql", (later, later))


def _no_project(project: Path) -> None:
    (project / "dbt_project.yml").write_text('name: shop\ntarget-path: "{{ env_var("X") }}"\n')


def _no_folder(project: Path) -> None:
    with (project / "graft.yml").open("a") as file:
        file.write("dbt: {project_dir: shopp}\n")


def _no_logs(project: Path) -> None:
    (project / LOG).unlink()
    (project / "logs/spark").rmdir()


def _no_log(project: Path) -> None:
    (project / LOG).unlink()


def _damaged_store(project: Path) -> None:
    (project / ".graft/store/runs/batch_id=1/part.parquet").write_bytes(b"PAR1")


def _wrong_yaml(project: Path) -> None:
    (project / "graft.yml").write_text("stor: 1\ncollect:\n  - sparkk: {}\n")


def _no_yaml(project: Path) -> None:
    (project / "graft.yml").unlink()


def _nothing_to_collect(project: Path) -> None:
    (project / "graft.yml").write_text("collect: []\n")


def _writes(namespace: str, name: str) -> Callable[[Path], None]:
    """The task writes another dataset."""

    def change(project: Path) -> None:
        path = project / ".graft/store/accesses/batch_id=1/part.parquet"
        [row] = pq.read_table(path).to_pylist()
        pq.write_table(pa.Table.from_pylist([row | {"namespace": namespace, "name": name}]), path)

    return change


def _no_overview(project: Path) -> None:
    path = project / "target/manifest.json"
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | {"docs": {}}))


@pytest.mark.parametrize(
    ("damage", "severity", "subject", "problem"),
    [
        (_no_artifacts, "error", "{}/target", "there is no manifest.json"),
        (_no_catalog, "warning", "{}/target/catalog.json", "there is no catalog.json"),
        (_no_overview, "warning", "{}/target", "dbt's artifacts have 1 defect: docs: "),
        (_newer_model, "warning", "{}/models/customers.sql", "is newer than dbt's artifacts"),
        (_no_folder, "error", "{}/shopp", "there is no such folder"),
        (_no_project, "error", "{}/dbt_project.yml:2", "is not valid YAML"),
        (_no_logs, "error", "logs/spark", "there is nothing at this path"),
        (_no_log, "warning", "logs/spark", "there are no logs of this kind here"),
        (
            _damaged_store,
            "error",
            "{}/.graft/store",
            "the lineage store is damaged: runs/",
        ),
        (_wrong_yaml, "error", "{}/graft.yml:1", "`stor` is not a key here"),
        (_no_yaml, "error", "{}/graft.yml", "there is no such file"),
        (_nothing_to_collect, "warning", "graft.yml", "`collect` names no log"),
        (
            _writes("mssql://crm:1433", "Shop.dbo.Orders"),
            "warning",
            "graft.yml",
            "1 dataset of tasks may be dbt's under another name, which no task uses",
        ),
        (
            _writes("hive", "raw.orders"),
            "warning",
            "graft.yml",
            "no dataset of a task is dbt's: dbt's have the namespace spark, but 1 dataset of the "
            "same names hive",
        ),
        (_writes("spark", "raw.customers"), "note", "graft.yml", "1 dataset of tasks new to dbt: "),
        (
            *(_writes("spark", "mart.customers"), "warning", "spark/mart.customers"),
            "load writes it, as dbt does",
        ),
    ],
)
def test_an_error_is_reported_and_everything_else_is_checked(
    project: Path,
    doctor: Doctor,
    damage: Callable[[Path], None],
    severity: str,
    subject: str,
    problem: str,
) -> None:
    damage(project)
    problems = doctor()
    assert problems[severity, subject.format(project)].startswith(problem)
    assert {("note", "Python"), ("note", "Java")} <= problems.keys()


def test_rules_are_one_block_to_paste(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _writes("mssql://crm:1433", "Shop.dbo.Orders")(project)
    with pytest.raises(SystemExit):
        main(["doctor", "--config", str(project / "graft.yml")])
    assert (
        '\nnames:\n  - {from: "mssql://crm:1433/Shop.dbo.Orders", to: "spark/raw.orders"}\n'
    ) in capfd.readouterr().out


def test_a_namespace_to_paste_leads_on_from_the_addresses_of_the_old_one(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _writes("hive", "raw.orders")(project)
    with pytest.raises(SystemExit):
        main(["doctor", "--config", str(project / "graft.yml")])
    block = capfd.readouterr().out.partition("\ndbt:")[2].split("\n\n")[0]
    assert yaml.safe_load(f"dbt:{block}") == {
        "dbt": {"namespace": "hive", "former_namespaces": ["spark"]}
    }


def test_a_file_below_this_folder_is_named_once(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _newer_model(project)
    monkeypatch.chdir(project)
    with pytest.raises(SystemExit):
        main(["doctor"])
    assert "\n  models/customers.sql: is newer than dbt's artifacts\n" in capfd.readouterr().out


def test_one_relation_never_gets_two_rules() -> None:
    one, two, raw = map(parse_dataset_id, ("mssql://a/S.dbo.x", "mssql://b/S.dbo.x", "spark/raw.x"))
    (finding,) = name_rules({raw: [one, two]})
    assert finding.subject == "spark/raw.x"
    assert finding.problem.startswith("may be any of mssql://a/S.dbo.x, mssql://b/S.dbo.x, which")
    assert "- {from" not in finding.remedy


def test_a_check_that_breaks_costs_only_itself(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> str:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(machine, "java_home", broken)
    problems = doctor()
    assert re.fullmatch(
        r"cannot be checked: ZeroDivisionError at dbt_graft\.graft\.doctor\.machine:\d+",
        problems["error", "Java"],
    )
    assert ("note", "logs/spark") in problems


def test_java_is_missing_only_where_spark_is_asked_for(
    doctor: Doctor, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> str:
        raise GraftError("none was found", remedy="install one")

    monkeypatch.setattr(machine, "java_home", missing)
    monkeypatch.setattr(session, "java_home", missing)
    assert doctor()["note", "Engine"].endswith("without Spark, as there is no Java")
    with (project / "graft.yml").open("a") as file:
        file.write("engine: spark\n")
    assert doctor()["error", "Java"] == "none was found"
    monkeypatch.setenv("SPARK_REMOTE", "sc://spark:15002")
    assert "not needed" in doctor()["note", "Java"]


def test_a_server_that_does_not_answer_is_asked_once(
    project: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def connect(setting: str, *, patient: bool = True) -> object:
        asked.append(patient)
        raise GraftError("the connection failed", place=setting)

    monkeypatch.setattr(tools, "connect", connect)
    (project / "graft.yml").write_text(
        "collect:\n  - sqlserver: {server: mssql://crm:1433, connection: env:CRM, session: s}\n"
    )
    problems = doctor()
    assert problems["error", "env:CRM"] == "the connection failed"
    assert asked == [False]
    assert {severity for severity, subject in problems if subject == "ODBC"} <= {"note", "error"}


def test_a_log_cannot_command_the_terminal(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _write(
        *(project, "rejects"),
        origin=LOG,
        position="1",
        reason="\x1b[2J\nerror: all is lost",
        excerpt="",
    )
    with pytest.raises(SystemExit):
        main(["doctor", "--config", str(project / "graft.yml")])
    printed = capfd.readouterr().out
    assert "\x1b" not in printed
    assert f"  {LOG}: 1 ×  [2J error: all is lost\n" in printed


def test_the_session_that_it_looks_for_is_the_one_that_is_made() -> None:
    [option] = [option for option in command.params if option.name == "session"]
    assert option.default == tools.SessionOptions().name
