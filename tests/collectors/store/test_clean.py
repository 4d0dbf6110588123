"""Secrets that earlier versions stored are counted, and nothing is left of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from dbt_graft.analysis.history.changes import Build, BuildHistory, PublishedNames
from dbt_graft.collectors.arrow_frames import to_frame
from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.store import arrow_tables, compaction
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.clean import clean_store, stored_secrets
from dbt_graft.collectors.store.secrets import redact_folder, redact_rows, secret_texts
from dbt_graft.collectors.store.tables import Collected
from dbt_graft.lineage.addresses import Address
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Dataset, Records, Run
from dbt_graft.lineage.urls import name_path
from tests.cases import for_each
from tests.lineage.test_redaction import NAMES

AT = datetime(2026, 11, 1, tzinfo=UTC)
SECRET = "hunter2ZQ"
NAME = f"export.csv?token={SECRET}"
JSON_NAME = f'"login":"u","password":"{SECRET}","host":"h"}}.public.orders'


@contextmanager
def as_earlier(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The store as versions wrote it that cleaned no names."""
    with monkeypatch.context() as patch:
        for module in ("commit", "merge"):
            patch.setattr(
                import_module(f"dbt_graft.collectors.store.{module}"), "redact_rows", _same
            )
        yield


def _same(rows: pa.Table) -> pa.Table:
    return rows


def collected(origin: str, *names: str) -> Collected:
    """The rows of a log with a dataset for each name, which is stored as it is."""
    datasets = tuple(
        Dataset(DatasetId("https://api.test", f"name {number}"), origin=origin)
        for number, _ in enumerate(names)
    )
    run = Run("1", f"load?token={SECRET}" if names else "load", "spark", origin=origin)
    rows = arrow_tables.tables(Records(runs=(run,), datasets=datasets), {origin: "5"})
    assert isinstance(rows.datasets, pa.Table)
    place = rows.datasets.column_names.index("name")
    named = rows.datasets.set_column(place, "name", pa.array(names, pa.string()))
    return Collected(
        **{
            field: named if field == "datasets" else getattr(rows, field)
            for field in rows.__dataclass_fields__
        }
    )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with secrets in batches, one of them merged, in addresses and in its builds."""
    place = str(tmp_path / "store")
    with as_earlier(monkeypatch):
        store.commit(place, [collected("a", NAME, JSON_NAME)])
        store.commit(place, [collected("b")])
    paths = (name_path("https://api.test", NAME), name_path("https://api.test", JSON_NAME))
    titles = (NAME, "public.orders")
    secret = [Address(path, title) for path, title in zip(paths, titles, strict=True)]
    former = Address("datasets/former/", "former", AT, True, AT, paths[0])
    store.write_addresses(place, [*secret, former, Address("tasks/load/", "load")])
    build = Build(1, AT, None, ())
    store.write_build_history(place, BuildHistory((build,), PublishedNames((), (NAME,), ())))
    return place


def holders(folder: Path) -> list[Path]:
    """The files below a folder in which the secret stands, compressed or not."""
    found = []
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            text = str(pq.ParquetFile(path).read().to_pylist())
        elif path.suffix == ".zst":
            with pa.input_stream(str(path), compression="zstd") as source:
                text = source.read().decode()
        else:
            text = path.read_bytes().decode("latin-1") if path.is_file() else ""
        if SECRET.casefold() in f"{path}{text}".casefold():
            found.append(path)
    return found


def test_a_check_counts_what_holds_secrets_without_repeating_them(place: str) -> None:
    secrets = stored_secrets(place)
    assert secrets.to_json() == {"texts": 3, "batches": 1, "addresses": 2, "files": 1}
    assert SECRET not in repr(secrets)


def test_nothing_is_left_of_secrets_and_all_of_the_rest(place: str) -> None:
    assert holders(Path(place))
    clean_store(place)
    assert holders(Path(place)) == []
    assert not stored_secrets(place)
    assert store.damages(place) == {}
    assert {str(dataset.id) for dataset in store.read(place).datasets} == {
        "https://api.test/export.csv",
        "https://api.test/h.public.orders",
    }
    assert store.positions(place) == {"a": ("5", 0), "b": ("5", 0)}


def test_an_address_with_a_secret_is_given_up_and_nothing_leads_to_it(place: str) -> None:
    clean_store(place)
    assert {(address.path, address.moved_to) for address in store.addresses(place)} == {
        ("datasets/former/", ""),
        ("tasks/load/", ""),
    }


def test_a_page_whose_heading_has_a_secret_is_forgotten_before_the_store_is_clean(
    place: str,
) -> None:
    assert NAME not in {address.title for address in store.addresses(place)}


def test_a_store_without_secrets_stays_as_it_is(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    store.commit(place, [collected("b")])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    assert not clean_store(place)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == before


def test_no_secret_passes_a_commit(tmp_path: Path) -> None:
    store.commit(str(tmp_path), [collected("a", NAME, JSON_NAME)])
    assert holders(tmp_path) == []


def test_a_merge_leaves_secrets_out(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    compaction.compact(place)
    ids = {batch.batch_id for batch in store.batches(place)}
    assert len(ids) == 1
    assert not [
        path for path in holders(Path(place)) if any(batch_id in str(path) for batch_id in ids)
    ]


def test_files_that_spark_wrote_are_written_again_under_a_name_without_its_checksum(
    tmp_path: Path,
) -> None:
    for name, dataset in (("part-0", NAME), ("part-1", "orders")):
        pq.write_table(
            pa.table({"namespace": ["s"], "name": [dataset]}), tmp_path / f"{name}.parquet"
        )
    redact_folder(*filesystem(str(tmp_path)))
    assert {path.name for path in tmp_path.iterdir()} == {"clean-part-0.parquet", "part-1.parquet"}
    assert holders(tmp_path) == []


@pytest.mark.spark
def test_no_secret_passes_a_commit_of_what_stays_with_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    part = collected("a", NAME, JSON_NAME)
    assert isinstance(part.datasets, pa.Table)
    frame = to_frame(spark, part.datasets)
    store.commit(str(tmp_path), [replace(part, datasets=frame)])
    assert holders(tmp_path) == []
    assert len(store.read(str(tmp_path)).datasets) == 2
    assert spark.read.parquet(f"{tmp_path}/datasets").count() == 2


@for_each("name, clean", NAMES)
def test_every_spelling_of_a_secret_is_looked_at(name: str, clean: str) -> None:
    rows = pa.table({"namespace": pa.array([name, "s3://lake"])})
    assert list(secret_texts("namespace", rows["namespace"])) == [name]
    assert redact_rows(rows)["namespace"].to_pylist() == [clean, "s3://lake"]


def test_secrets_in_lists_and_structs_go_and_names_of_columns_stay() -> None:
    link = {"namespace": "s3://lake", "name": NAME}
    rows = pa.table(
        {
            "symlinks": [[link, {"namespace": "s3://lake", "name": "x"}]],
            "columns": [[{"name": "a;unit=EUR", "type": "int"}]],
            "tags": [[f"token={SECRET}"]],
            "origin": [f"log?token={SECRET}"],
        }
    )
    assert redact_rows(rows).to_pylist() == [
        {
            "symlinks": [{**link, "name": "export.csv"}, {"namespace": "s3://lake", "name": "x"}],
            "columns": [{"name": "a;unit=EUR", "type": "int"}],
            "tags": ["token=redacted"],
            "origin": f"log?token={SECRET}",
        }
    ]
