"""The command on somebody else's project: their dbt, their logs, no demo in sight."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.collectors.java import java_home
from tests.cases import for_each
from tests.java_options import java_options

PROJECT = {
    "dbt_project.yml": """
name: logistics
profile: logistics
models: {+materialized: table}
flags: {send_anonymous_usage_stats: false}
""",
    "profiles.yml": """
logistics:
  target: dev
  outputs: {dev: {type: spark, method: session, host: none, schema: analytics}}
""",
    "models/sources.yml": """
version: 2
sources:
  - {name: wms, tables: [{name: parcels}, {name: depots}]}
  - {name: ref, tables: [{name: carriers}]}
""",
    "models/shipments.sql": """
select * from {{ source('wms', 'parcels') }} join {{ source('ref', 'carriers') }} using (carrier)
""",
    "models/coverage.sql": "select * from {{ source('wms', 'depots') }}",
    "graft.yml": """
collect:
  - spark: {path: logs/spark/}
  - sqlserver: {path: logs/xe/, server: "mssql://wms-db:1433"}
  - sqlserver: {path: logs/never-made/, server: "mssql://old-db:1433"}
names:
  - {from: "mssql://wms-db:1433/Wms.dbo.*", to: "spark/wms.*"}
site: {name: Logistics}
""",
    "logs/spark/notes.txt": "this is no event log\n",
}
SECRET = "4929-1234-5678-9012"
EVENT = """<event name="sql_batch_completed" timestamp="2026-11-20T0{n}:00:00.000Z">
<data name="duration"><value>10</value></data><data name="row_count"><value>7</value></data>
<data name="result"><value>0</value><text>OK</text></data>
<data name="batch_text"><value><![CDATA[{sql}]]></value></data>
<action name="client_app_name" package="sqlserver"><value>python_task::load_parcels</value></action>
<action name="database_name" package="sqlserver"><value>Wms</value></action>
<action name="session_id" package="sqlserver"><value>61</value></action>
<action name="event_sequence" package="package0"><value>{n}</value></action>
</event>
"""
MERGE = (
    "MERGE dbo.parcels AS t USING Scanner.dbo.Scans AS s ON t.id = s.id "
    f"WHEN MATCHED AND s.card = '{SECRET}' THEN UPDATE SET t.depot = s.depot;"
)
TASK = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.appName("clean_carriers").getOrCreate()
spark.sql("create database ref")
rows = spark.read.option("header", True).schema("carrier string, name string").csv("in/carriers")
rows.write.saveAsTable("ref.carriers")
spark.stop()
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "JAVA_HOME": java_home(), "PYSPARK_PYTHON": sys.executable}
    environment |= {"DBT_PROFILES_DIR": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def graft(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(folder, sys.executable, "-m", "dbt_graft", *arguments)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dbt project with a manifest but no catalog.json, and logs of two engines."""
    folder = tmp_path_factory.mktemp("logistics")
    for name, text in PROJECT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    log = folder / "logs/xe/session.xml"
    log.parent.mkdir()
    log.write_text(EVENT.format(n=1, sql=MERGE) + EVENT.format(n=2, sql="SELECT 1")[:200])
    (folder / "in/carriers").mkdir(parents=True)
    (folder / "in/carriers/part-0.csv").write_text("carrier,name\nA,Alpha\nB,Beta\n")
    (folder / "task.py").write_text(TASK)
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"{folder}/logs/spark",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
    }
    options = f"SPARK_SUBMIT_OPTS={java_options(settings)}"
    for command in (
        ("env", options, "MASTER=local[2]", sys.executable, "task.py"),
        (sys.executable, "-m", "dbt.cli.main", "parse"),
    ):
        done = run(folder, *command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert not (folder / "target/catalog.json").exists()
    return folder


@pytest.fixture(scope="module")
def built(project: Path) -> dict[str, Any]:
    """The summary of `graft build`."""
    done = graft(project, "build", "--json")
    assert done.returncode == 0, done.stderr
    assert "catalog.json" in done.stderr
    assert "logs/never-made" in done.stderr
    summary: dict[str, Any] = orjson.loads(done.stdout)["data"]
    return summary


def test_both_engines_tasks_are_grafted(project: Path, built: dict[str, Any]) -> None:
    assert (built["tasks"], built["runs"], built["promoted"]) == (2, 2, 2)
    manifest = orjson.loads((project / ".graft/artifacts/manifest.json").read_bytes())
    parents = manifest["parent_map"]
    shipments = parents["model.logistics.shipments"]
    assert sorted(shipments) == [
        "model.python_tasks.ref_carriers",
        "model.python_tasks.wms_parcels",
    ]
    assert parents["model.python_tasks.wms_parcels"] == ["source.python_tasks.mssql.dbo_Scans"]
    assert [*parents["model.logistics.coverage"]] == ["source.logistics.wms.depots"]


def test_what_could_not_be_read_is_counted_with_its_reason(built: dict[str, Any]) -> None:
    origins = {reject["origin"] for reject in built["rejects"]}
    assert origins == {"logs/spark/notes.txt", "logs/xe/session.xml", "logs/never-made/"}
    assert built["rejected"] == len(built["rejects"])
    assert all(reject["reason"] for reject in built["rejects"])


@for_each(
    "page",
    [
        "index.html",
        "dbt/index.html",
        "datasets/spark/wms/parcels/index.html",
        "datasets/mssql-wms-db-1433/scanner/dbo/scans/index.html",
        "tasks/load_parcels/index.html",
        "tasks/clean_carriers/index.html",
        "tags/python_task/index.html",
        "task_metadata.json",
    ],
)
def test_the_site_has_its_pages(built: dict[str, Any], page: str) -> None:
    assert (Path(built["site"]).parent / page).stat().st_size > 0


def test_no_literal_of_a_statement_is_anywhere(project: Path, built: dict[str, Any]) -> None:
    outputs = [project / ".graft", Path(built["site"]).parent]
    files = [path for folder in outputs for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 20
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_dbt_s_own_artifacts_are_not_touched(project: Path, built: dict[str, Any]) -> None:
    manifest = orjson.loads((project / "target/manifest.json").read_bytes())
    assert "source.logistics.wms.parcels" in manifest["sources"]


def test_a_second_build_reads_nothing_and_gives_the_same(
    project: Path, built: dict[str, Any]
) -> None:
    artifacts = project / ".graft/artifacts"
    before = {path.name: path.read_bytes() for path in artifacts.glob("*.json")}
    done = graft(project, "build", "--json", "--quiet", "--strict")
    assert done.returncode == 3, "there are rejects, and --strict asks for 3"
    assert orjson.loads(done.stdout)["data"] == built | {"new_logs": 0, "pages_changed": 0}
    assert {path.name: path.read_bytes() for path in artifacts.glob("*.json")} == before


def test_a_wrong_key_is_named_with_its_line(project: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "graft.yml"
    wrong.write_text("collect:\n  - sparkk: {path: x}\n")
    done = graft(project, "build", "-c", str(wrong))
    assert done.returncode == 2
    assert f"{wrong}:2: `collect.0.sparkk` is not a key here; did you mean `spark`?" in done.stderr


def test_without_a_manifest_the_remedy_is_dbt_docs_generate(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: empty\n")
    assert graft(tmp_path, "init").returncode == 0
    (tmp_path / "logs/spark-events").mkdir(parents=True)
    done = graft(tmp_path, "build")
    assert done.returncode == 1
    assert "manifest.json" in done.stderr
    assert "dbt docs generate" in done.stderr
    assert "looking for new logs" not in done.stderr  # known before logs are read


def test_when_spark_fails_the_error_names_its_log(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRAFT_ENGINE", raising=False)
    config = project / "other.yml"
    config.write_text(
        "collect: [{spark: {path: logs/spark}}]\nstore: s\nspark: {master: 'nonsense://x'}"
    )
    done = graft(project, "collect", "-c", "other.yml")
    assert done.returncode == 1
    assert "Spark failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert (project / ".graft/artifacts/spark.log").stat().st_size > 0


def test_init_does_not_replace_a_graft_yml(project: Path) -> None:
    done = graft(project, "init")
    assert done.returncode == 1
    assert "--force" in done.stderr
    assert (project / "graft.yml").read_text() == PROJECT["graft.yml"]
