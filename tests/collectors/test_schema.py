"""Schemas and rows that are derived from dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import NamedTuple

import pyarrow as pa
import pytest

from dbt_graft.collectors.schema import (
    Flat,
    Microseconds,
    arrow,
    batch,
    column_names,
    ddl,
    record,
    records,
    row,
)
from dbt_graft.collectors.store.tables import TABLES
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


@dataclass(frozen=True)
class Part:
    name: str
    where: DatasetId


@dataclass(frozen=True)
class Thing:
    dataset: DatasetId
    to_dataset: DatasetId | None
    colour: Colour
    level: Level
    at: datetime | None = None
    parts: tuple[Part, ...] = ()
    seen: tuple[DatasetId, ...] = ()
    origin: str = ""


A, B = DatasetId("spark", "raw.A"), DatasetId("spark", "raw.b")
THING = Thing(A, B, Colour.RED, Level.LOW, datetime(2026, 1, 2, tzinfo=UTC), (Part("p", A),), (B,))


def test_a_dataset_is_two_columns_and_the_rest_one_each() -> None:
    assert column_names(Thing) == (
        *("namespace", "name", "to_namespace", "to_name", "colour", "level", "at"),
        *("parts", "seen", "origin"),
    )


def test_the_spark_schema_follows_from_the_fields() -> None:
    assert ddl(Thing) == (
        "namespace string, name string, to_namespace string, to_name string, colour string, "
        "level bigint, at timestamp, "
        "parts array<struct<name: string, where_namespace: string, where_name: string>>, "
        "seen array<struct<namespace: string, name: string>>, origin string"
    )


def test_a_record_is_the_same_after_its_row() -> None:
    assert record(Thing, row(THING)) == THING
    assert record(Thing, batch(Thing, [THING]).to_pylist()[0]) == THING


def test_a_row_of_an_earlier_version_gets_the_defaults() -> None:
    found = {k: v for k, v in row(THING).items() if k != "seen"} | {"origin": None, "to_name": None}
    restored = record(Thing, found | {"to_namespace": None})
    assert (restored.seen, restored.origin, restored.to_dataset) == ((), "", None)


class Key(NamedTuple):
    colour: Colour
    task: str = ""


@dataclass(frozen=True)
class Counted:
    key: Flat[Key]
    part: Flat[Part]
    first: Microseconds
    last: Microseconds | None = None


COUNTED = Counted(Key(Colour.RED, "load"), Part("p", A), 1_700_000_000_000_001)


def test_flat_records_and_named_tuples_are_columns_like_others() -> None:
    assert ddl(Counted) == (
        "colour string, task string, name string, where_namespace string, where_name string, "
        "first timestamp, last timestamp"
    )
    assert record(Counted, row(COUNTED)) == COUNTED
    assert record(Counted, batch(Counted, [COUNTED]).to_pylist()[0]) == COUNTED


def test_microseconds_are_a_time_to_spark() -> None:
    time = datetime(2023, 11, 14, 22, 13, 20, 1, tzinfo=UTC)
    assert row(COUNTED)["first"] == time
    assert batch(Counted, [COUNTED]).to_pylist()[0]["first"] == time


def test_an_unknown_value_is_an_error() -> None:
    with pytest.raises(ValueError, match="'blue' is not a valid Colour"):
        record(Thing, row(THING) | {"colour": "blue"})


@for_each("table", TABLES)
def test_every_table_of_the_store_has_an_arrow_schema(table: str) -> None:
    schema = arrow(TABLES[table])
    assert tuple(schema.names) == column_names(TABLES[table])
    assert all(field.type.tz == "UTC" for field in schema if pa.types.is_timestamp(field.type))


def test_records_of_several_chunks_are_those_of_each() -> None:
    other = replace(THING, dataset=B, to_dataset=None, at=None, parts=(), origin="log")
    unlike = replace(THING, dataset=DatasetId("a:b", "3:c"), seen=(A, B), origin="é")
    chunks = [[THING, other], [unlike], [other, THING]]
    table = pa.Table.from_batches([batch(Thing, things) for things in chunks])
    assert records(Thing, table) == [thing for things in chunks for thing in things]
