"""No secret gets out of any input: each text of it holds one, in each spelling that people use."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.contracts.odcs import read_contract
from dbt_graft.collectors.declared import document
from dbt_graft.collectors.declared.collect import declared_records
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.schema import arrow
from dbt_graft.collectors.spark.sources.connectors import save_target
from dbt_graft.collectors.spark.sources.databases import database_of
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.tables import TABLES, Collected
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.errors import GraftError, exception_traceback
from dbt_graft.lineage.paths import dataset_folders, path_dataset
from dbt_graft.lineage.records import DatasetMetadata, Records, TaskMetadata
from tests.cases import for_each
from tests.collectors.openlineage.events import event, parent, records, results_of, written
from tests.graft.small_project import small_project

CANARY = "zq7Canary4x"
SPELLINGS = [
    *(f"?{key}={CANARY}" for key in ("token", "api_key", "access_token", "password", "pwd")),
    *(f"?Password={CANARY}", f"?sv=1&sig={CANARY}", f"?a=1&X-Amz-Signature={CANARY}"),
    *(f"#access_token={CANARY}", f";user=sa;password={CANARY}", f";Password={{a;{CANARY}}}"),
    f"?client_secret={CANARY}&db=shop",
    f"x%3Ftoken%3D{CANARY}",
    f"jdbc:sqlserver://h:1433;user=sa;password={CANARY}",
    f"jdbc:oracle:thin:scott/{CANARY}@//h:1521/s",
    f"jdbc:postgresql://h/shop?user=u&password={CANARY}",
    *(f"postgres://u:{CANARY}@h:5432/shop", f"mongodb+srv://u:{CANARY}@h/db"),
    *(f"https://{CANARY}@git.test/x", f"s3a://KEY:{CANARY}@box/x", f"ftp://u:a/{CANARY}@h/x"),
    f'{{"login":"u","password":"{CANARY}","host":"h"}}.public.orders',
    f"{{'password': '{CANARY}', 'host': 'h'}}",
    f'{{\\"password\\":\\"{CANARY}\\"}}',
    f"%7B%22password%22%3A%22{CANARY}%22%7D",
    *(f"host=h user=u password={CANARY}", f"PGPASSWORD={CANARY}"),
    f"Driver={{ODBC}};Server=h;Uid=u;Pwd={CANARY}",
    f"Endpoint=sb://h.test/;SharedAccessKeyName=n;SharedAccessKey={CANARY}=",
    f"Authorization: Bearer {CANARY}12345",
    *(f"AKIA{CANARY.upper()}99", f"ghp_{CANARY}abcdefgh", f"glpat-{CANARY}abcdefgh"),
    *(f"xoxb-{CANARY}-abcdef", f"sk_live_{CANARY}", f"AIza{CANARY}abcdefghijklmnopqrstuvw"),
    f"eyJhbGciOiJIUzI1NiJ9.{CANARY}.c2ln",
    f"https://hooks.slack.com/services/T0/B0/{CANARY}",
]
# What stands in no text of people, or has a form of its own that nothing else passes.
_FORMAL = frozenset({"eventType", "eventTime", "schemaURL", "runId", "producer"})
# Keys by which a log is found again, ids that are made of what they name.
_KEYS = frozenset({"origin", "position", "settings", "shape_id", "temporaries"})


def with_secret(text: str, spelling: str) -> str:
    """A text with a secret behind it, as people write it."""
    return f"{text}{spelling}" if spelling[0] in "?#;&" else f"{text} {spelling}"


def filled(value: Any, spelling: str) -> Any:
    """A JSON value with a secret in each of its texts, but for those of a fixed form."""
    if isinstance(value, str):
        return with_secret(value, spelling)
    if isinstance(value, list):
        return [filled(item, spelling) for item in value]
    if isinstance(value, dict):
        return {key: _filled_member(key, item, spelling) for key, item in value.items()}
    return value


def _filled_member(key: str, value: Any, spelling: str) -> Any:
    if key == "query":
        literal = spelling.replace("'", "''")
        return f"{value} WHERE password = '{literal}'"
    return value if key in _FORMAL else filled(value, spelling)


def full_event(number: int) -> dict[str, Any]:
    """An event with all facets that are read."""
    link = {"namespace": "s3://lake", "name": "x/y"}
    field = {"name": "amount", "type": "int", "description": "The amount.", "tags": ["pii"]}
    used = {"namespace": "postgres://h:5432", "name": "shop.public.orders", "field": "amount"}
    how = {"type": "DIRECT", "subtype": "IDENTITY", "description": "as it is"}
    facets = {
        "schema": {"fields": [field]},
        "symlinks": {"identifiers": [{**link, "type": "TABLE"}]},
        "documentation": {"description": "All orders."},
        "ownership": {"owners": [{"name": "sales", "type": "MAINTAINER"}]},
        "tags": {"tags": [{"key": "team", "value": "sales", "field": "amount"}]},
        "dataSource": {"name": "crm", "uri": "https://crm.test/x"},
        "columnLineage": {
            "fields": {"amount": {"inputFields": [{**used, "transformations": [how]}]}}
        },
        "lifecycleStateChange": {
            "lifecycleStateChange": "RENAME",
            "previousIdentifier": {"namespace": "s3://lake", "name": "before"},
        },
        "version": {"datasetVersion": "17"},
    }
    names = {"namespace": "postgres://h:5432", "name": "shop.public.orders"}
    return event(
        "FAIL" if number % 2 else "COMPLETE",
        "shop.load_orders",
        number,
        inputs=[{**names, "facets": facets}],
        outputs=[{"namespace": "s3://lake", "name": "orders", "facets": facets}],
        run_facets={
            **parent(900 + number, "shop"),
            "errorMessage": {"message": "Error: failed", "programmingLanguage": "py"},
            "processing_engine": {"name": "spark", "version": "3.5"},
            "airflow": {"taskInstance": {"log_url": "https://air.test/log", "try_number": 1}},
            "tags": {"tags": [{"key": "url", "value": "https://air.test/x", "source": "GRAFT"}]},
        },
        job_facets={
            "documentation": {"description": "Loads orders."},
            "ownership": {"owners": [{"name": "sales"}]},
            "tags": {"tags": [{"key": "nightly", "value": "true"}]},
            "sql": {"query": 'SELECT amount FROM "orders"', "dialect": "postgres"},
            "sourceCodeLocation": {"url": "https://git.test/x", "version": "abc"},
        },
    )


def collected_events(folder: Path) -> Collected:
    """The rows of a log with an event for each spelling, which is in all texts of it."""
    events = [filled(full_event(number), text) for number, text in enumerate(SPELLINGS)]
    part = records(results_of(written(folder / "events.jsonl", *events)))
    return replace(
        tables(part, {"events.jsonl": "1"}),
        task_metadata=table(TaskMetadata, part.task_metadata),
        dataset_metadata=table(DatasetMetadata, part.dataset_metadata),
    )


def holders(folder: Path) -> list[str]:
    """The files below a folder that hold a canary in content or name; Parquet is unpacked."""
    names = []
    for path in sorted(folder.rglob("*")):
        text = str(path.relative_to(folder))
        if path.suffix == ".parquet":
            text += str(pq.ParquetFile(path).read().to_pylist())
        elif path.suffix == ".zst":
            with pa.input_stream(str(path), compression="zstd") as source:
                text += source.read().decode()
        elif path.is_file():
            text += path.read_bytes().decode("latin-1")
        if CANARY.casefold() in text.casefold():
            names.append(str(path.relative_to(folder)))
    return names


def graft(folder: Path, *arguments: str) -> Result:
    """Run a command with debug logging."""
    # `--debug` sets the variable for the processes of Spark; the runner takes it back.
    runner = CliRunner(env={"GRAFT_DEBUG": "1"})
    return runner.invoke(main, ["--debug", *arguments, "-c", str(folder / "graft.yml")])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose events have secrets in all texts; they are read and published."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "events").mkdir()
    small_project(folder)
    assert graft(folder, "collect").exit_code == 0
    store.commit(str(folder / ".graft/store"), [collected_events(folder / "events")])
    return folder


def test_there_are_thirty_spellings_and_more() -> None:
    assert len(set(SPELLINGS)) >= 30
    assert all(CANARY.casefold() in spelling.casefold() for spelling in SPELLINGS)


def test_no_secret_of_an_event_is_in_the_store(project: Path) -> None:
    assert [name for name in holders(project) if not name.startswith("events/")] == []
    datasets = store.read(str(project / ".graft/store")).datasets
    assert any("h:5432" in dataset.id.namespace for dataset in datasets), "events were read"


def test_no_secret_of_an_event_is_in_artifacts_site_exports_and_logs(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        outputs = [
            graft(project, "inject"),
            graft(project, "site"),
            graft(project, "status"),
            graft(project, "doctor"),
            graft(project, "export", "openlineage", "--out", str(project / "out.ndjson")),
            graft(project, "export", "airflow-lineage", "--out", str(project / "out.json")),
        ]
    for output in outputs:
        assert CANARY.casefold() not in output.output.casefold()
    assert CANARY.casefold() not in caplog.text.casefold()
    assert [name for name in holders(project) if not name.startswith("events/")] == []
    assert (project / "build/site/index.html").is_file()
    assert (project / "out.ndjson").is_file()
    assert (project / "out.json").is_file()


def test_no_secret_of_a_dbt_project_is_on_the_site(tmp_path: Path) -> None:
    small_project(tmp_path)
    path = tmp_path / "target/manifest.json"
    manifest = json.loads(path.read_bytes())
    for number, spelling in enumerate(SPELLINGS):
        exposure = {
            "label": "Board",
            "description": "All orders.",
            "url": "https://bi.test/board",
            "owner": {"name": "sales", "email": "a@b.test"},
            "meta": {"criticality": "high", "freshness_slo": "1d"},
            "tags": ["nightly"],
        }
        node_id = f"exposure.shop.board_{number}"
        manifest["exposures"][node_id] = {
            **filled(exposure, spelling),
            "name": f"board_{number}",
            "unique_id": node_id,
            "type": "dashboard",
            "resource_type": "exposure",
            "package_name": "shop",
            "depends_on": {"nodes": [], "macros": []},
        }
    path.write_text(json.dumps(manifest))
    for command in ("collect", "inject", "site"):
        done = graft(tmp_path, command)
        assert done.exit_code == 0, done.output
        assert CANARY.casefold() not in done.output.casefold()
    assert (tmp_path / "build/site/index.html").is_file()
    assert holders(tmp_path / "build/site") == []


@for_each("spelling", SPELLINGS)
def test_no_secret_of_declared_lineage_is_in_records(tmp_path: Path, spelling: str) -> None:
    entry = {"description": "Loads.", "owner": "sales", "path": "x.py", "tags": ["nightly"]}
    path = declared(tmp_path, spelling, "spark/raw.orders", filled(entry, spelling))
    content = document.read(path)
    records = declared_records(LogPath(str(path), "lineage.yml"), {path: content})
    assert CANARY.casefold() not in f"{content.infos()}{records}".casefold()


@for_each("spelling", SPELLINGS)
def test_no_error_about_declared_lineage_repeats_a_secret(tmp_path: Path, spelling: str) -> None:
    path = declared(tmp_path, spelling, "no dataset", {"kind": with_secret("x", spelling)})
    with pytest.raises(GraftError) as caught:
        document.read(path)
    assert CANARY.casefold() not in str(caught.value).casefold()
    assert CANARY.casefold() not in exception_traceback(caught.value).casefold()


def declared(folder: Path, spelling: str, target: str, entry: dict[str, Any]) -> Path:
    """A file of declared lineage with a task whose name holds a secret."""
    task = {**entry, "flows": [{"from": ["sftp/orders"], "to": [target]}]}
    path = folder / "lineage.yml"
    path.write_text(json.dumps({"version": 1, "tasks": {with_secret("load", spelling): task}}))
    return path


@for_each("spelling", SPELLINGS)
def test_no_secret_of_a_contract_is_in_it_once_read(tmp_path: Path, spelling: str) -> None:
    contract = {
        "id": "orders",
        "name": "Orders",
        "version": "1",
        "description": {"purpose": "All orders."},
        "team": {"name": "sales"},
        "tags": ["nightly"],
        "servers": [{"server": "crm", "type": "postgres", "database": "shop", "schema": "raw"}],
        "schema": [{"name": "orders", "properties": [{"name": "amount", "logicalType": "date"}]}],
    }
    path = tmp_path / "contract.json"
    head = {"kind": "DataContract", "apiVersion": "v3.0.2", "status": "active"}
    path.write_text(json.dumps({**filled(contract, spelling), **head}))
    assert CANARY.casefold() not in str(read_contract(path)).casefold()


@for_each("spelling", SPELLINGS)
def test_no_secret_of_a_path_or_database_in_a_plan_is_in_its_dataset(spelling: str) -> None:
    urls = [spelling, *(with_secret(url, spelling) for url in ("jdbc:mysql://h/a", "jdbc:h2:mem"))]
    datasets = [database_of(url).table(("public", "orders")) for url in urls]
    paths = [with_secret(path, spelling) for path in ("/landing/x", "s3a://box/x", "abfss://c@a/x")]
    datasets += map(path_dataset, dataset_folders(paths))
    target = save_target(["org.x.RedshiftSource@1f", f"[dbtable={spelling}, query=x]", "Append"])
    if target and target.external:
        datasets.append(target.database.table((target.external.text,)))
    assert CANARY.casefold() not in str(datasets).casefold()


@pytest.mark.parametrize("name", ["accesses", "runs", "datasets", "column_edges", "node_results"])
def test_no_secret_passes_into_the_store_from_any_source(tmp_path: Path, name: str) -> None:
    rows = [
        {
            field.name: "log" if field.name in _KEYS else value(field.type, spelling)
            for field in arrow(TABLES[name])
        }
        for spelling in SPELLINGS
    ]
    collected = tables(Records(), {"log": "1"})
    filled_table = pa.Table.from_pylist(rows, arrow(TABLES[name]))
    store.commit(str(tmp_path), [replace(collected, **{name: filled_table})])
    assert len(list(tmp_path.glob(f"{name}/*/*.parquet"))) == 1
    assert holders(tmp_path) == []


def value(kind: pa.DataType, spelling: str) -> Any:
    """A value of a type of Arrow with a secret in its texts."""
    if pa.types.is_string(kind):
        return with_secret("orders", spelling)
    if pa.types.is_list(kind):
        return [value(kind.value_type, spelling)]
    if pa.types.is_struct(kind):
        return {field.name: value(field.type, spelling) for field in kind}
    return None
