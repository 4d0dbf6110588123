"""Descriptions and offsets of streaming sources, as Spark writes them -> datasets and positions."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.spark.application.streams import (
    event_period,
    parse_place,
    position,
    with_topics,
)
from dbt_graft.lineage.dates.period import DataPosition
from tests.cases import for_each
from tests.lineage.shown_periods import shown

DELTA = (
    '{{"sourceVersion":1,"reservoirId":"84590dac","reservoirVersion":{},"index":{},'
    '"isStartingVersion":false}}'
)


@pytest.mark.parametrize(
    ("description", "topics"),
    [
        ("KafkaV2[Subscribe[orders]]", ("orders",)),
        ("KafkaV2[Subscribe[orders, eu.visits]]", ("eu.visits", "orders")),
        ("KafkaV2[Subscribe[orders-2026]]", ("orders-2026",)),
        ("KafkaV2[Assign[orders-0, orders-1, orders-2026-0]]", ("orders", "orders-2026")),
        ("KafkaV2[SubscribePattern[orders-\\d{2}]]", ()),
    ],
)
def test_topics(description: str, topics: tuple[str, ...]) -> None:
    place = parse_place(description)
    assert place
    assert place.topics == topics


@for_each(
    "description, offsets, expected",
    [
        (
            "KafkaV2[SubscribePattern[orders-\\d{2}]]",
            ('{"orders-00":{"0":1}}', '{"orders-01":{"0":4},"orders-00":{"0":2}}'),
            "KafkaV2[Subscribe[orders-00, orders-01]]",
        ),
        (
            "KafkaV2[SubscribePattern[a[bc]]]",
            ("", '{"ab":{"0":1},"no, topic]":{"0":1}}'),
            "KafkaV2[Subscribe[ab]]",
        ),
        ("KafkaV2[SubscribePattern[a.*]]", ("", "7"), "KafkaV2[SubscribePattern[a.*]]"),
        ("KafkaV2[SubscribePattern[a.*]]", (), "KafkaV2[SubscribePattern[a.*]]"),
        ("KafkaV2[Subscribe[orders]]", ("", '{"x":{"0":1}}'), "KafkaV2[Subscribe[orders]]"),
        ("FileStreamSource[file:/in]", ("", '{"logOffset":0}'), "FileStreamSource[file:/in]"),
    ],
)
def test_a_pattern_of_topics_has_those_of_its_offsets(
    description: str, offsets: tuple[str, ...], expected: str
) -> None:
    assert with_topics(description, *offsets) == expected


@for_each(
    "description, start, end, expected",
    [
        (
            "KafkaV2[Subscribe[orders-1]]",
            '{"orders-1":{"10":5,"9":7}}',
            '{"orders-1":{"10":8,"9":7}}',
            ("kafka offsets", '{"orders-1":{"9":7,"10":5}}', '{"orders-1":{"9":7,"10":8}}'),
        ),
        (
            "KafkaV2[Subscribe[orders-1]]",
            "",
            '{"orders-1":{"0":8}}',
            ("kafka offsets", "", '{"orders-1":{"0":8}}'),
        ),
        ("FileStreamSource[file:/in]", "", '{"logOffset":0}', ("files", "", "0")),
        (
            "DeltaSource[s3://lake/orders]",
            DELTA.format(5, 2),
            DELTA.format(12, -1),
            ("delta version", "5", "12"),
        ),
        ("DeltaSource[s3://lake/orders]", "", DELTA.format(5, 2), ("delta version", "", "5")),
        ("RateStreamV2[rowsPerSecond=1]", "0", "1", None),
    ],
)
def test_positions(
    description: str, start: str, end: str, expected: tuple[str, str, str] | None
) -> None:
    positions = position(description, start, end, "orders-1")
    assert positions == ((DataPosition(*expected),) if expected else ())


@for_each(
    "first, last, expected",
    [
        ("2026-11-01T10:00:00.000Z", "2026-11-02T09:00:00.000Z", ["2026-11-01 2026-11-03 day"]),
        # No rows, and rows with dates that stand for none.
        ("1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z", []),
        ("2026-11-01T00:00:00.000Z", "9999-12-31T00:00:00.000Z", []),
        ("0001-01-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z", []),
        ("2026-11-01T00:00:00.000Z", "+294247-01-10T04:00:54.775Z", []),
    ],
)
def test_the_days_of_a_batch_are_those_of_its_rows(
    first: str, last: str, expected: list[str]
) -> None:
    assert shown(event_period([first, last])) == [f"{days} interval" for days in expected]
