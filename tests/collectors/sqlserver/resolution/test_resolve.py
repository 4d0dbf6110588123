"""A text that kills or hangs the parser is one failed shape; all others count."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from dbt_graft.collectors.sqlserver.resolution.resolve import SentText, TextResolver, resolve_texts
from dbt_graft.collectors.sqlserver.runs.segment import SegmentCounts, SegmentKey, SegmentKind
from dbt_graft.collectors.sqlserver.runs.sessions import RunSegment
from dbt_graft.collectors.sqlserver.runs.temporaries import encode
from dbt_graft.collectors.statements import parse as statements
from dbt_graft.collectors.statements.earlier import ColumnLookup
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect


def test_a_deadly_text_is_one_failed_shape() -> None:
    def fragile(text: str, dialect: Dialect, columns: ColumnLookup) -> Sequence[ParsedShape]:
        if "deadly" in text:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "endless" in text:
            time.sleep(600)
        return statements.parse(text, dialect, columns)

    names = [f"t{number}" for number in range(40)] + ["deadly", "endless", "deadly_too"]
    texts = [SentText(f"SELECT a FROM {name}", "Shop") for name in names]
    with closing(TextResolver("mssql://sql01:1433", parse=fragile, seconds=1.0)) as resolver:
        resolved = resolver.resolve(texts)
    parsed = {sent.text: found.statements for sent, found in resolved.items()}

    assert {text.split()[-1] for text in parsed} == set(names)
    reasons = {text.split()[-1]: found[0].shape.reason for text, found in parsed.items()}
    assert {name: reason for name, reason in reasons.items() if reason} == {
        "deadly": "crashed the parser (SIGSEGV)",
        "deadly_too": "crashed the parser (SIGSEGV)",
        "endless": "took longer than 1 s",
    }
    for text, (statement,) in parsed.items():
        name = text.split()[-1]
        assert statement.shape.shape_id
        assert statement.shape.outcome == ("failed" if reasons[name] else "parsed")
        read = [] if reasons[name] else [f"Shop.dbo.{name}"]
        assert [access.dataset.name for access in statement.reads] == read


MAKE = "SELECT s.id, s.name INTO #n FROM stg.P s"
OTHER = "SELECT s.code INTO #n FROM stg.Q s"
COPY = "INSERT INTO dw.P (a, b) SELECT * FROM #n"


@pytest.fixture
def resolver() -> Iterator[TextResolver]:
    with closing(TextResolver("mssql://crm:1433")) as texts:
        yield texts


def edges(resolver: TextResolver, texts: Sequence[tuple[str, str]]) -> list[set[str]]:
    """The column edges of texts, each with the suffix of its table `#n`."""
    segments = [
        RunSegment(
            "log",
            SegmentKey(
                SegmentKind.STATEMENT, "load", "", "51", "Dw", text, temporaries=encode(tables)
            ),
            SegmentCounts(1),
            "run",
        )
        for text, suffix in texts
        for tables in [[("#n", suffix), ("#m", suffix)]]
    ]
    return [
        {f"{edge.to_column}<{edge.from_column}" for s in text.statements for edge in s.edges}
        for text in filter(None, resolve_texts(segments, resolver))
    ]


def test_all_columns_of_a_table_that_another_text_made_are_known(resolver: TextResolver) -> None:
    assert edges(resolver, [(MAKE, "1"), (COPY, "1")])[1] == {"a<id", "b<name"}


def test_a_table_that_is_made_of_another_is_known_in_turn(resolver: TextResolver) -> None:
    through = "SELECT * INTO #m FROM #n"
    last = "INSERT INTO dw.P (a, b) SELECT * FROM #m"
    assert edges(resolver, [(MAKE, "1"), (through, "1"), (last, "1")])[2] == {"a<id", "b<name"}


def test_another_table_of_the_same_name_has_its_own_columns(resolver: TextResolver) -> None:
    found = edges(resolver, [(MAKE, "1"), (COPY, "1"), (OTHER, "2"), (COPY, "2")])
    assert (found[1], found[3]) == ({"a<id", "b<name"}, {"a<code"})


def test_a_table_that_was_made_in_two_ways_is_not_known(resolver: TextResolver) -> None:
    assert edges(resolver, [(MAKE, "1"), (OTHER, "1"), (COPY, "1")])[2] == {"*<*"}
