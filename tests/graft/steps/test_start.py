"""`graft init` names what lies beside the project, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.graft.project.config import load
from dbt_graft.graft.steps.start import write_config
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

SPARK = b'{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}\n'
EVENT = b'{"eventType": "START", "eventTime": "2026-10-01T00:00:00Z", "schemaURL": "x"}\n'
# The first event of a DAG: its facets take kilobytes.
LONG = EVENT.replace(
    b', "schemaURL"', b', "run": {"_schemaURL": "%s"}, "schemaURL"' % (b"x" * 5_000)
)
DECLARED = b"version: 1\ntasks:\n  load: {flows: []}\n"


@for_each(
    "file, content, entries",
    [
        ("ev/local-1730000000000", SPARK, [("spark", "ev/")]),
        ("ev/eventlog_v2_app-1/events_1_app-1.zstd", b"", [("spark", "ev/")]),
        ("ev/app-20261001000000-0001.lz4", b"", [("spark", "ev/")]),
        ("a b/night.json", SPARK, [("spark", "a b/")]),
        ("ol/events.jsonl", LONG, [("openlineage", "ol/")]),
        ("dates/a.yml", b"version: 1\ndatasets: {}\n", [("declared", "dates/")]),
        ("xe/lineage_0_1.xel", b"", [("sqlserver", "xe/")]),
        ("xe/a.xml", b'<event name="x"><action name="client_app_name"/>', [("sqlserver", "xe/")]),
        ("xe/a.csv", b"name,timestamp,client_app_name\n", [("sqlserver", "xe/")]),
        ("seeds/a.csv", b"id,name\n", []),
        ("eventlog_v2_app-1/events_1_app-1", b"", [("spark", "eventlog_v2_app-1/")]),
        ("dbfs/1001/eventlog-2026-10-01--06-00.gz", b"", [("spark", "dbfs/1001/")]),
        ("dbfs/photon_eventlog.zstd", b"", [("spark", "dbfs/")]),
        ("events.ndjson", EVENT, [("openlineage", "events.ndjson")]),
        ("lineage/partners.yml", DECLARED, [("declared", "lineage/")]),
        ("land.yml", DECLARED, [("declared", "land.yml")]),
        ("models/schema.yml", b"version: 2\nmodels: []\n", []),
        ("data/orders.json", b'{"id": 1}', []),
        ("target/local-1730000000000", SPARK, []),
        (".cache/local-1730000000000", SPARK, []),
    ],
)
def test_init_names_the_logs_that_lie_there(
    tmp_path: Path, file: str, content: bytes, entries: list[tuple[str, str]]
) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop")
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_bytes(content)
    config = load(write_config(tmp_path).path)
    written = [
        (kind, entry.path)
        for source in config.collect
        for kind in ("spark", "sqlserver", "openlineage", "declared")
        if (entry := getattr(source, kind))
    ]
    assert written == entries
    assert not config.spark, "who has no PySpark reads without"


@for_each(
    "name",
    [
        *(
            "logs [old]",
            "{a}",
            "a, b",
            "a: b",
            "#1",
            "a #b",
            "it's",
            '"a"',
            "50%",
            "ß é",
            "&a",
            "!a",
        ),
        *("*a", "@a", "`a`", "- a", "null", "12", "yes", "x " * 60 + "x", "a\\b", "a?", "🙂"),
    ],
)
def test_every_name_of_a_folder_can_be_read_again(tmp_path: Path, name: str) -> None:
    project = tmp_path / name
    (project / name).mkdir(parents=True)
    (project / "dbt_project.yml").write_text("profile: shop")
    (project / name / "local-1730000000000").write_bytes(SPARK)
    config = load(write_config(project).path)
    (entry,) = config.collect
    assert entry.spark
    assert entry.spark.path == f"{name}/"
    assert config.site.name == f"{name} lineage"


def test_a_folder_in_another_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop")
    for folder in ("ev", "ev/old"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "local-1730000000000").write_bytes(SPARK)
    assert write_config(tmp_path).logs.spark == ("ev/",)


@for_each(
    "manifest, log, says",
    [
        (False, False, "name your logs under `collect`, then `graft build --dbt`, which runs"),
        (False, True, "`graft build --dbt`, which runs `dbt docs generate` first"),
        (True, False, "name your logs under `collect`, then `graft build`; without any"),
        (True, True, "`graft build`"),
    ],
)
def test_init_says_what_comes_next(tmp_path: Path, manifest: bool, log: bool, says: str) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop")
    (tmp_path / "target").mkdir()
    if manifest:
        (tmp_path / "target/manifest.json").write_text("{}")
    if log:
        (tmp_path / "a.xel").write_bytes(b"")
    assert write_config(tmp_path).next_step.startswith(f"next: {says}")


@for_each(
    "below, remedy",
    [
        ("dbt", "run `graft init dbt`"),
        ("my data/dbt", "run `graft init 'my data/dbt'`"),
        ("dbt_packages/dbt_utils", "run `graft init` in the project's folder, or `graft init FOLD"),
        (".venv/dbt", "run `graft init` in the project's folder, or `graft init FOLD"),
    ],
)
def test_init_above_a_project_names_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str, remedy: str
) -> None:
    (tmp_path / below).mkdir(parents=True)
    (tmp_path / below / "dbt_project.yml").write_text("name: shop")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GraftError) as caught:
        write_config(Path())
    assert caught.value.remedy.startswith(remedy)
