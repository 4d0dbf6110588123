"""Long texts: what is too long says so, and the statements behind it are found."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text import length
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.length import TOO_LONG, pieces
from tests.cases import for_each

ROWS = ", ".join(f"({n}, N'it''s {n}')" for n in range(1_000))
UNEQUAL = ", ".join(f"(f{n}(1), b)" for n in range(1_000))
NEXT = "INSERT INTO dbo.b (x) SELECT x FROM dbo.c"


@for_each("between", ["; ", " ", "\nGO\n"])
@pytest.mark.parametrize(("rows", "reason"), [(ROWS, None), (UNEQUAL, TOO_LONG)])
def test_the_statement_behind_a_long_one_is_read(
    rows: str, reason: str | None, between: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(length, "LONGEST", 10_000)
    text = f"INSERT INTO dbo.t (a, b) VALUES {rows}{between}{NEXT}"
    assert len(text) > length.LONGEST
    long, behind = parse(text, Dialect.TSQL)
    assert (long.reason, long.writes) == (reason, {"dbo.t"})
    assert len(long.text) <= length.LONGEST
    assert (behind.reason, behind.reads, behind.writes) == (None, {"dbo.c"}, {"dbo.b"})


@for_each(
    "text, found",
    [
        ("", [("", False)]),
        ("a; b", [("a; b", False)]),
        ("a b c;d e f;g h i", [("a b c;", False), ("d e f;g h i", False)]),
        ("a b c d e f g;h", [("a b c d e f", True), ("h", False)]),
        ("f(a b c d e) UPDATE t", [("f(a b c d ", True), ("UPDATE t", False)]),
        ("f(a b c d e f) g h i", [("f(a b c d ", True)]),
    ],
)
def test_a_text_is_cut_between_statements_where_it_can_be(
    text: str, found: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(length, "LONGEST", 10 if text[:1] != "a" else 11)
    assert list(pieces(text)) == found
