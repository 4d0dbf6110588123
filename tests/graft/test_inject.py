"""`graft inject` on a store and artifacts that lie there; no Spark, no dbt run."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_graft.graft.commands.cli import main
from tests.graft.commands.answers import read_answer

NOW = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
SECOND = pa.timestamp("us", "UTC")


def _write(store: Path, table: str, rows: list[dict[str, Any]], times: tuple[str, ...]) -> None:
    folder = store / table / "batch_id=1"
    folder.mkdir(parents=True)
    content = pa.Table.from_pylist(rows)
    for name in times:
        at = content.schema.get_field_index(name)
        content = content.set_column(at, name, content.column(name).cast(SECOND))
    pq.write_table(content, folder / "part.parquet")


def _access(task: str, name: str, direction: str) -> dict[str, Any]:
    return {
        "task": task,
        "run_id": f"{task}-1",
        "namespace": "mssql",
        "name": name,
        "kind": "TABLE",
        "direction": direction,
        "operation": "SELECT" if direction == "read" else "INSERT",
        "shape_id": f"{task}-s",
        "statements": 1,
        "rows": 5,
        "bytes": 2048,
        "first_at": NOW,
        "last_at": NOW,
        "status": "ok",
        "evidence": "observed",
        "procedure": "",
        "origin": "log",
    }


def _node(kind: str, name: str, schema: str, **more: Any) -> dict[str, Any]:
    unique_id = f"{kind}.shop.{name}"
    return {
        "database": "Shop",
        "schema": schema,
        "name": name.rpartition(".")[2],
        "resource_type": kind,
        "package_name": "shop",
        "path": "x.sql",
        "original_file_path": "models/x.sql",
        "unique_id": unique_id,
        "fqn": ["shop", name],
        "config": {"materialized": "table"},
        "description": "",
        "depends_on": {"nodes": []},
        **more,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a source that a task writes and a mart that dbt and a task write."""
    orders = _node("source", "raw.orders", "raw", source_name="raw", identifier="orders")
    mart = _node("model", "mart", "analytics", depends_on={"nodes": [orders["unique_id"]]})
    maps = {orders["unique_id"]: [], mart["unique_id"]: [orders["unique_id"]]}
    manifest = {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
            "project_name": "shop",
            "adapter_type": "sqlserver",
        },
        "nodes": {mart["unique_id"]: mart},
        "sources": {orders["unique_id"]: orders},
        "parent_map": maps,
        "child_map": {orders["unique_id"]: [mart["unique_id"]], mart["unique_id"]: []},
    }
    (tmp_path / "target").mkdir()
    (tmp_path / "target/manifest.json").write_bytes(orjson.dumps(manifest))
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/load_orders.py").write_text("print('the loader')\n")
    (tmp_path / "graft.yml").write_text(
        "tasks:\n"
        "  load_orders: {path: tasks/load_orders.py, owner: Data team}\n"
        "  report: {type: dashboard, url: https://bi.example/r, maturity: high}\n"
    )
    accesses = [
        _access("load_orders", "raw.orders", "write"),  # the log leaves the database out
        _access("patch", "Shop.analytics.mart", "write"),
        _access("report", "Shop.analytics.mart", "read"),
    ]
    store = tmp_path / ".graft/store"
    _write(store, "accesses", accesses, ("first_at", "last_at"))
    batch = {"origin": "log", "position": "1", "events": 3, "noise": 0, "committed_at": NOW}
    _write(store, "batches", [batch], ("committed_at",))
    return tmp_path


@dataclass(frozen=True)
class Done:
    """The exit code and the output of a command."""

    exit_code: int
    stdout: str
    output: str


class Inject(Protocol):
    def __call__(self, *options: str) -> Done: ...


@pytest.fixture
def inject(folder: Path, capfd: pytest.CaptureFixture[str]) -> Inject:
    """Run `graft inject` in the project."""

    def run(*options: str) -> Done:
        config = str(folder / "graft.yml")
        with pytest.raises(SystemExit) as ended:
            main(["inject", "--quiet", "--config", config, *options])
        captured = capfd.readouterr()
        return Done(int(ended.value.code or 0), captured.out, captured.out + captured.err)

    return run


def _manifest(folder: Path) -> Any:
    return orjson.loads((folder / ".graft/artifacts/manifest.json").read_bytes())


def test_the_graft_is_written_and_the_file_of_a_task_is_its_code(
    folder: Path, inject: Inject
) -> None:
    assert inject().exit_code == 0

    node = _manifest(folder)["nodes"]["model.python_tasks.raw_orders"]
    assert node["raw_code"] == "print('the loader')\n"
    assert node["compiled_code"].startswith("# Python task load_orders")
    assert (node["database"], node["group"]) == ("Shop", "Data_team")


def test_a_read_only_task_is_an_exposure_as_its_entry_has_it(folder: Path, inject: Inject) -> None:
    inject()

    exposure = _manifest(folder)["exposures"]["exposure.python_tasks.report"]
    done = (exposure["type"], exposure["url"], exposure["maturity"])
    assert done == ("dashboard", "https://bi.example/r", "high")


def test_tags_are_those_that_were_chosen(folder: Path, inject: Inject) -> None:
    with (folder / "graft.yml").open("a") as config:
        config.write("dbt: {tags: [task]}\n")
    inject()

    node = _manifest(folder)["nodes"]["model.python_tasks.raw_orders"]
    assert node["tags"] == ["task:load_orders"]


def test_the_report_is_printed_or_written(folder: Path, inject: Inject) -> None:
    done = inject("--report")
    assert "## Promoted sources (1)" in done.output
    assert "source.shop.raw.orders -> model.python_tasks.raw_orders" in done.output

    inject("--report", str(folder / "report.md"))
    assert "## Second writers (1)" in (folder / "report.md").read_text()
    report = orjson.loads((folder / "report.json").read_bytes())
    assert report["second_writers"][0]["tasks"] == ["patch"]

    as_json = orjson.loads(inject("--report", "--json").stdout)["data"]
    assert as_json["report"]["promoted"][0]["name"] == "raw_orders"


class Check(Protocol):
    def __call__(self) -> dict[str, list[str]]: ...


@pytest.fixture
def check(folder: Path, capfd: pytest.CaptureFixture[str]) -> Check:
    """Run the checks of rules and artifacts: code -> what is found."""

    def run() -> dict[str, list[str]]:
        options = ["--only", "rules,artifacts", "--json", "--fail-on", "warning"]
        with pytest.raises(SystemExit) as ended:
            main(["check", "--config", str(folder / "graft.yml"), *options])
        found: dict[str, list[str]] = {}
        for finding in read_answer(capfd.readouterr().out)["findings"]:
            if finding["severity"] != "note":
                text = f"{finding['subject']}: {finding['problem']}"
                found.setdefault(finding["code"], []).append(text)
        assert ended.value.code == (3 if found else 0)
        return found

    return run


def test_check_finds_what_a_team_may_not_want_and_writes_no_artifact(
    folder: Path, check: Check
) -> None:
    problem = "is written by dbt (model.shop.mart) and patch"
    assert check() == {"SECOND_WRITER": [f"mssql/Shop.analytics.mart: {problem}"]}
    assert not (folder / ".graft/artifacts/manifest.json").exists()


@pytest.mark.parametrize(
    "section",
    [
        "rules: {severity: {SECOND_WRITER: off}}",
        "check: {accept: [patch]}",
        'check: {accept: ["mssql/shop.ANALYTICS.*"]}',
        "check: {accept: [model.shop.mart]}",
    ],
)
def test_check_lets_pass_what_the_team_accepts(folder: Path, check: Check, section: str) -> None:
    with (folder / "graft.yml").open("a") as config:
        config.write(section)

    assert check() == {}


def test_columns_of_dbts_models_are_followed_and_kept(folder: Path, inject: Inject) -> None:
    path = folder / "target/manifest.json"
    manifest = orjson.loads(path.read_bytes())
    [mart] = [node for node in manifest["nodes"].values() if node["name"] == "mart"]
    mart["compiled_code"] = "select id from [Shop].[raw].[orders]"
    path.write_bytes(orjson.dumps(manifest))

    assert "columns   followed through 1 of 1 dbt model" in inject().output
    cache = folder / ".graft/artifacts/column_cache.json"
    kept = cache.read_bytes()
    assert b'"id"' in kept
    assert inject().exit_code == 0
    assert cache.read_bytes() == kept


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"columns": {"ID": {"name": "ID"}}},
        {"compiled_code": "select id + 1 as id from [Shop].[raw].[orders]"},
        {"compiled_code": "select 1 as id"},
    ],
)
def test_the_edges_of_a_changed_model_are_not_those_of_the_last_build(
    folder: Path, inject: Inject, fields: dict[str, Any]
) -> None:
    path = folder / "target/manifest.json"
    manifest = orjson.loads(path.read_bytes())
    [mart] = [node for node in manifest["nodes"].values() if node["name"] == "mart"]
    for mart_fields in ({"compiled_code": "select id from [Shop].[raw].[orders]"}, fields):
        mart |= mart_fields
        path.write_bytes(orjson.dumps(manifest))
        inject()
    grafted = (folder / ".graft/artifacts/manifest.json").read_bytes()

    for cache in (folder / ".graft/artifacts").glob("column_*.json"):
        cache.unlink()
    inject()

    assert (folder / ".graft/artifacts/manifest.json").read_bytes() == grafted


def test_undo_gives_dbts_values_back(folder: Path, inject: Inject) -> None:
    inject()
    assert _manifest(folder) != orjson.loads((folder / "target/manifest.json").read_bytes())

    assert inject("--undo").exit_code == 0

    assert _manifest(folder) == orjson.loads((folder / "target/manifest.json").read_bytes())
    # dbt had written none.
    assert not (folder / ".graft/artifacts/catalog.json").exists()
    assert inject("--undo").exit_code == 1


def test_validate_ignores_faults_of_dbt_s_own_artifacts(folder: Path, inject: Inject) -> None:
    # dbt's loader would not take this manifest: its nodes lack most of their fields.
    assert inject("--validate").exit_code == 0


def test_another_version_of_the_manifest_is_named(folder: Path, inject: Inject) -> None:
    path = folder / "target/manifest.json"
    path.write_bytes(path.read_bytes().replace(b"v12.json", b"v8.json"))
    found = inject()

    assert found.exit_code == 1
    assert "the manifest has version v8; dbt-graft reads v9 to v12" in found.output


@pytest.mark.parametrize("field", ["test_metadata", "unknown"])
def test_a_value_that_is_nested_too_deeply_is_an_error_or_does_no_harm(
    folder: Path, inject: Inject, field: str
) -> None:
    path = folder / "target/manifest.json"
    value = "[" * 1000 + "]" * 1000
    deep = f'"raw_code":"source","{field}":{value},"name":"mart"'
    path.write_text(path.read_text().replace('"name":"mart"', deep))
    found = inject()

    # Python 3.13 counts its recursion in another way than 3.11.
    if found.exit_code == 0:
        nodes = orjson.loads((folder / ".graft/artifacts/manifest.json").read_bytes())["nodes"]
        assert nodes["model.shop.mart"]["raw_code"] == "source"
    else:
        assert "nested too deeply" in found.output


def test_check_finds_lineage_of_the_last_build_that_is_gone(
    folder: Path, inject: Inject, check: Check
) -> None:
    inject()
    published = folder / "build/site/task_metadata.json"
    published.parent.mkdir(parents=True)
    tasks = orjson.loads((folder / ".graft/artifacts/task_metadata.json").read_bytes())
    gone = {"_entity_name": "gone", "_schema_name": "raw", "_database_name": None}
    tasks["load_orders"]["input"].append(gone)
    published.write_bytes(orjson.dumps(tasks | {"nightly": {"input": [], "output": []}}))
    assert check()["LINEAGE_LOST"] == [
        "load_orders: reads raw.gone no more",
        "nightly: the task is gone",
    ]
    with (folder / "graft.yml").open("a") as config:
        config.write("check: {accept: [SPARK/raw.*, nightly, patch]}\n")
    assert check() == {}


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_store_that_lost_its_lineage_is_not_published_unless_allowed(
    folder: Path, inject: Inject, how: str
) -> None:
    assert inject().exit_code == 0
    before = (folder / ".graft/artifacts/manifest.json").read_bytes()
    shutil.rmtree(folder / ".graft/store")
    if how == "empty":
        (folder / ".graft/store").mkdir()
    done = inject()
    assert done.exit_code == 1
    assert "the lineage store is missing or empty, but the last build had 3 tasks" in done.output
    assert (folder / ".graft/artifacts/manifest.json").read_bytes() == before
    assert inject("--allow-empty").exit_code == 0
    assert inject().exit_code == 0, "empty was published, so empty is no loss"


def test_relations_are_on_the_platform_of_dbts_profile(folder: Path, inject: Inject) -> None:
    path = folder / "target/manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"sqlserver"', b'"duckdb"'))
    (folder / "dbt_project.yml").write_text("profile: shop\n")
    (folder / "profiles.yml").write_text(
        "shop: {target: dev, outputs: {dev: {type: duckdb, path: shop.duckdb}}}\n"
    )
    # A rule that was written when the project was on Spark.
    with (folder / "graft.yml").open("a") as config:
        config.write("dbt: {former_namespaces: [spark]}\n")
        config.write('names: [{from: "mssql/*", to: "spark/*"}]\n')

    assert inject().exit_code == 0
    node = _manifest(folder)["nodes"]["model.python_tasks.raw_orders"]
    assert node["meta"]["graft"]["dataset"] == "duckdb://shop.duckdb/Shop.raw.orders"
