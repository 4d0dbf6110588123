"""Which column comes from which, for each way in which Spark moves columns: a real job's log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from collectors.spark.decode import Event, decode
from collectors.spark.edges import Edge
from collectors.spark.history import Application, replay
from collectors.spark.logs import SparkLogs
from collectors.spark.rejects import Rejects
from collectors.spark.statements import Statement
from collectors.spark.work import Work

pytestmark = pytest.mark.spark

Columns = dict[str, dict[str, str]]

O, C = "raw.orders", "raw.customers"  # noqa: E741
# What is written -> its columns -> the columns that have a part in them, and how.
EXPECTED: dict[str, Columns] = {
    "ml.joined": {
        "name": {f"{C}.name": "IDENTITY"},
        "twice": {f"{O}.amount": "TRANSFORMATION"},
        "*": {f"{O}.customer_id": "JOIN", f"{C}.id": "JOIN", f"{O}.dt": "FILTER"},
    },
    "ml.grouped": {
        "customer_id": {f"{O}.customer_id": "IDENTITY"},
        "spent": {f"{O}.amount": "AGGREGATION"},
        "orders": {f"{O}.order_id": "AGGREGATION"},
        "late": {f"{O}.amount": "AGGREGATION", f"{O}.dt": "CONDITIONAL"},
        "*": {f"{O}.customer_id": "GROUP_BY", f"{O}.amount": "FILTER"},
    },
    "ml.masked": {
        "digest": {f"{C}.email": "TRANSFORMATION masked"},
        "id": {f"{C}.id": "IDENTITY"},
    },
    "ml.cased": {
        "big": {f"{O}.amount": "CONDITIONAL", f"{O}.order_id": "TRANSFORMATION"},
        "late": {f"{O}.dt": "CONDITIONAL", f"{O}.customer_id": "TRANSFORMATION"},
    },
    "ml.ranked": {
        "order_id": {f"{O}.order_id": "IDENTITY"},
        "rank": {f"{O}.customer_id": "WINDOW", f"{O}.amount": "WINDOW"},
        "total": {f"{O}.amount": "AGGREGATION", f"{O}.dt": "WINDOW"},
    },
    "ml.sorted": {"order_id": {f"{O}.order_id": "IDENTITY"}, "*": {f"{O}.amount": "SORT"}},
    "ml.exploded": {
        "order_id": {f"{O}.order_id": "IDENTITY"},
        "tag": {f"{O}.tags": "TRANSFORMATION"},
    },
    "ml.cubed": {
        "customer_id": {f"{O}.customer_id": "IDENTITY"},
        "dt": {f"{O}.dt": "IDENTITY"},
        "top": {f"{O}.amount": "AGGREGATION"},
        "*": {f"{O}.customer_id": "GROUP_BY", f"{O}.dt": "GROUP_BY"},
    },
    "ml.united": {
        "id": {f"{O}.order_id": "IDENTITY", f"{C}.id": "IDENTITY"},
        "label": {f"{O}.dt": "IDENTITY", f"{C}.name": "IDENTITY"},
    },
    "ml.nested": {
        "order_id": {f"{O}.order_id": "IDENTITY"},
        "newest": {f"{C}.id": "AGGREGATION"},
        "*": {f"{O}.customer_id": "JOIN", f"{C}.id": "JOIN", f"{C}.name": "FILTER"},
    },
    "ml.missing": {
        "name": {f"{C}.name": "IDENTITY"},
        "*": {f"{O}.customer_id": "JOIN", f"{C}.id": "JOIN"},
    },
    "ml.structs": {
        "city": {f"{O}.addr": "TRANSFORMATION"},
        "pair": {f"{O}.order_id": "TRANSFORMATION", f"{O}.amount": "TRANSFORMATION"},
    },
    "ml.shared": {
        "customer_id": {f"{O}.customer_id": "IDENTITY"},
        "s": {f"{O}.amount": "AGGREGATION"},
        "again": {f"{O}.amount": "AGGREGATION"},
        "*": {f"{O}.customer_id": "GROUP_BY JOIN"},
    },
    "ml.selfish": {
        "order_id": {f"{O}.order_id": "IDENTITY"},
        "amount": {f"{O}.amount": "IDENTITY"},
        "*": {f"{O}.order_id": "JOIN", f"{O}.customer_id": "JOIN"},
    },
    "ml.cached": {"twice": {f"{O}.amount": "TRANSFORMATION"}},
    "ml.people": {"loud": {f"{C}.name": "TRANSFORMATION"}, "*": {f"{C}.id": "FILTER"}},
    "ml.louder": {"name": {"ml.people.loud": "IDENTITY"}},
    "ml.viewed": {"name": {f"{C}.name": "TRANSFORMATION"}, "*": {f"{C}.id": "FILTER"}},
    "ml.parts": {"a": {f"{O}.order_id": "IDENTITY"}, "dt": {f"{O}.dt": "TRANSFORMATION"}},
    "ml.left": {"x": {f"{O}.order_id": "IDENTITY"}, "*": {f"{O}.amount": "FILTER"}},
    "ml.right": {"y": {f"{O}.amount": "IDENTITY"}},
    "ml.udf": {"both": {f"{C}.name": "TRANSFORMATION", f"{C}.email": "TRANSFORMATION"}},
    "ml.means": {
        "dt": {f"{O}.dt": "IDENTITY"},
        "m": {f"{O}.amount": "AGGREGATION"},
        "*": {f"{O}.dt": "GROUP_BY"},
    },
    "ml.halves": {
        "half": {f"{O}.order_id": "TRANSFORMATION", f"{O}.amount": "TRANSFORMATION"},
    },
    "APP.CUST": {
        "ID": {f"{C}.id": "IDENTITY"},
        "NAME": {f"{C}.name": "IDENTITY"},
        "EMAIL": {f"{C}.email": "IDENTITY"},
    },
    "ml.from_table": {"NAME": {"APP.CUST.NAME": "IDENTITY"}, "*": {"APP.CUST.ID": "FILTER"}},
    "ml.from_query": {
        "ID": {"APP.CUST.ID": "IDENTITY"},
        "LOUD": {"APP.CUST.NAME": "TRANSFORMATION"},
        "*": {"APP.CUST.ID": "FILTER"},
    },
    "ml.from_catalog": {
        "NAME": {"memory:shop.APP.CUST.NAME": "IDENTITY"},
        "*": {"memory:shop.APP.CUST.ID": "FILTER"},
    },
    "memory:shop.APP.CUST": {
        "ID": {f"{C}.id": "IDENTITY"},
        "NAME": {f"{C}.name": "IDENTITY"},
        "EMAIL": {f"{C}.email": "IDENTITY"},
    },
    "ml.from_rdd": {"a": {f"{O}.*": "TRANSFORMATION"}},
    "ml.from_lines": {"line": {"lines.txt.*": "TRANSFORMATION"}},
    "ml.checkpointed": {
        "id": {f"{C}.id": "IDENTITY"},
        "name": {f"{C}.name": "IDENTITY"},
        "email": {f"{C}.email": "IDENTITY"},
    },
}
OPAQUE = {"ml.halves", "ml.from_rdd", "ml.from_lines"}


@pytest.fixture(scope="module")
def found(
    tmp_path_factory: pytest.TempPathFactory, run_job: Callable[..., Path]
) -> list[Statement]:
    """The statements of `jobs/column_job.py`."""
    folder = tmp_path_factory.mktemp("columns")
    [log] = run_job("column_job.py", folder).glob("*/events_*")
    with log.open("rb") as file:
        events = [(event.name, event.body) for event in decode(file) if isinstance(event, Event)]
    application, rejects = Application(), Rejects()
    work = Work(application, SparkLogs("logs", "logs"))
    for one in replay(iter(events), application, rejects.tell):
        work.take(one)
    [done] = work.finish(rejects)
    assert rejects.found == []
    return done.statements


def told(edges: list[Edge]) -> Columns:
    columns: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for edge in edges:
        name = edge.use.dataset.name.rpartition("/")[2]
        how = f"{edge.use.subtype}{' masked' if edge.use.masking else ''}"
        columns[edge.column][f"{name}.{edge.use.column}"].add(how)
    return {
        column: {source: " ".join(sorted(how)) for source, how in sources.items()}
        for column, sources in columns.items()
    }


@pytest.mark.parametrize("target", EXPECTED)
def test_every_column_edge_and_none_besides(found: list[Statement], target: str) -> None:
    edges = [edge for done in found for edge in done.edges if edge.dataset.name == target]
    assert told(edges) == EXPECTED[target]


def test_only_code_of_the_task_leaves_gaps(found: list[Statement]) -> None:
    gaps = {use.dataset.name for done in found if done.gaps for use in done.writes}
    assert gaps == OPAQUE


def test_streams_go_from_the_watched_folder_to_their_sinks(found: list[Statement]) -> None:
    moved = {
        (use.dataset.name.rpartition("/")[2], taken.dataset.name.rpartition("/")[2], taken.rows)
        for done in found
        for use in done.writes
        for taken in done.reads
        if taken.dataset.name.endswith("watched")
    }
    assert {(sink, source) for sink, source, _ in moved} == {
        ("sunk", "watched"),
        ("ml.streamed", "watched"),
        ("ml.batches", "watched"),
    }


def test_nothing_is_read_that_goes_nowhere(found: list[Statement]) -> None:
    assert [done.reads[0].dataset.name for done in found if not done.writes] == [O, C]
