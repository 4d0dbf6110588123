"""Facets `subset` and `version` -> the periods and positions of accesses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.openlineage.worker import FilePart, read_part
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.dates.period import DataPosition
from dbt_graft.lineage.records import Access, Direction
from tests.cases import for_each
from tests.collectors.openlineage.events import Document, dataset, event, records_in, written
from tests.lineage.shown_periods import shown


def compare(field: str, comparison: str, value: str) -> Document:
    return {
        "type": "compare",
        "left": {"type": "field", "field": field},
        "comparison": comparison,
        "right": {"type": "literal", "value": value},
    }


def accesses(folder: Path, *datasets: Document) -> tuple[Access, ...]:
    return records_in(folder, [event(inputs=datasets[:1], outputs=datasets)]).accesses


@for_each(
    "condition, expected",
    [
        pytest.param(
            {
                "type": "partition",
                "partitions": [
                    {"identifier": "a", "dimensions": {"ds": "2026-10-04", "region": "eu"}},
                    {"dimensions": {"ds": "2026-10-05"}},
                ],
            },
            ["ds 2026-10-04 2026-10-05 day partition ~", "ds 2026-10-05 2026-10-06 day partition"],
            id="partitions",
        ),
        pytest.param(
            compare("order_date", "GREATER_EQUAL_THAN", "2026-10-04T05:00:00"),
            [
                "order_date 2026-10-04 2026-10-05 day predicate ~",
                "order_date 2026-10-05 - day predicate",
            ],
            id="a time of day",
        ),
        pytest.param(
            {
                "type": "binary",
                "operator": "AND",
                "left": compare("order_date", "EQUAL", "2026-10-04"),
                "right": compare("region", "EQUAL", "eu"),
            },
            ["order_date 2026-10-04 2026-10-05 day predicate ~"],
            id="other conditions",
        ),
        pytest.param(
            {"type": "location", "locations": ["s3://b/t/dt=2026-10-04"]},
            ["dt 2026-10-04 2026-10-05 day partition"],
            id="locations",
        ),
        pytest.param(
            {
                "type": "binary",
                "operator": "AND",
                "left": compare("order_date", "GREATER_EQUAL_THAN", "2026-10-01"),
                "right": compare("order_date", "LESS_THAN", "2026-11-01"),
            },
            ["order_date 2026-10-01 2026-11-01 day predicate"],
            id="conditions",
        ),
        pytest.param(compare("birth_date", "EQUAL", "1990-05-17"), [], id="about people"),
        pytest.param(compare("name", "EQUAL", "2026-10-01"), [], id="no date column"),
        pytest.param({"type": "partition", "partitions": 7}, [], id="another form"),
        pytest.param({"type": "compare", "left": [], "right": None}, [], id="no condition"),
    ],
)
def test_conditions_are_periods(tmp_path: Path, condition: Any, expected: list[str]) -> None:
    document = dataset("spark raw.orders", subset={"outputCondition": condition})
    [written] = [a for a in accesses(tmp_path, document) if a.direction is Direction.WRITE]
    assert shown(written.periods) == expected


def test_a_date_in_a_path_is_a_period(tmp_path: Path) -> None:
    found = accesses(tmp_path, dataset("s3://b t/ds=2026-10-04"), dataset("s3://b t/ds=2026-10-06"))
    assert [
        (access.dataset.name, shown(access.periods))
        for access in found
        if access.direction == "write"
    ] == [("t", ["ds 2026-10-04 2026-10-05 day path", "ds 2026-10-06 2026-10-07 day path"])]


@pytest.mark.parametrize(
    ("facets", "counts", "expected"),
    [
        ({"version": {"datasetVersion": "7"}}, {}, DataPosition("version", "7", "7")),
        (
            {"version": {"datasetVersion": "7"}, "storage": {"storageLayer": "delta"}},
            {},
            DataPosition("delta version", "7", "7"),
        ),
        (
            {},
            {"icebergCommitReport": {"snapshotId": 42}},
            DataPosition("iceberg snapshot", "42", "42"),
        ),
        ({"version": {"datasetVersion": "a b;c"}}, {}, None),
    ],
)
def test_versions_are_positions(
    tmp_path: Path, facets: Document, counts: Document, expected: DataPosition | None
) -> None:
    found = accesses(tmp_path, dataset("spark raw.orders", facets, **counts))
    assert [access.positions for access in found if access.direction == "write"] == [
        (expected,) if expected else ()
    ]


@pytest.mark.parametrize(
    ("columns", "fields", "expected"),
    [
        (DateColumns(), [], []),
        (DateColumns(include=("posted*",)), [], ["posted_on 2026-10-04 2026-10-05 day predicate"]),
        (
            DateColumns(),
            [{"name": "POSTED_ON", "type": "date"}],
            ["posted_on 2026-10-04 2026-10-05 day predicate"],
        ),
        (DateColumns(exclude=("posted*",)), [{"name": "posted_on", "type": "date"}], []),
    ],
    ids=["unknown", "configured", "by the schema's type", "excluded"],
)
def test_date_columns_are_those_of_other_logs(
    tmp_path: Path, columns: DateColumns, fields: list[Document], expected: list[str]
) -> None:
    subset = {"outputCondition": compare("posted_on", "EQUAL", "2026-10-04")}
    document = dataset("spark raw.orders", {"schema": {"fields": fields}}, subset=subset)
    file = written(tmp_path / "events.jsonl", event(outputs=[document]))
    size = file.stat().st_size
    [result] = read_part(FilePart(str(file), "e", "e", 0, size, size, 0), columns=columns)
    assert [shown(access.periods) for access in result.records.accesses] == [expected]
