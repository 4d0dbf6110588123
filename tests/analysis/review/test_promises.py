"""The change matrix of data contracts, for what is promised of a column."""

from __future__ import annotations

from dbt_graft.analysis.checks.contracts import ColumnPromise
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.promises import promise_changes
from tests.cases import for_each

NONE = ColumnPromise()
REQUIRED = ColumnPromise(required=True)
UNIQUE = ColumnPromise(constraints=frozenset({("unique", "")}))
AB = ColumnPromise(values=frozenset({"a", "b"}))
ABC = ColumnPromise(values=frozenset({"a", "b", "c"}))


@for_each(
    "before, after, enforced, expected",
    [
        (REQUIRED, NONE, False, [("VALUES", "may be null now", ChangeType.SEMANTICS)]),
        (REQUIRED, NONE, True, [("BREAKING", "may be null now", ChangeType.SEMANTICS)]),
        (NONE, REQUIRED, True, [("ADDITIVE", "is never null now", None)]),
        (UNIQUE, NONE, True, [("BREAKING", "no longer enforced: unique", ChangeType.SEMANTICS)]),
        (UNIQUE, NONE, False, [("VALUES", "no longer enforced: unique", ChangeType.SEMANTICS)]),
        (NONE, UNIQUE, True, [("ADDITIVE", "enforced now: unique", None)]),
        (AB, ABC, False, [("VALUES", "other accepted values: 1 new", ChangeType.SEMANTICS)]),
        (ABC, AB, False, [("VALUES", "other accepted values: 1 gone", ChangeType.SEMANTICS)]),
        (NONE, AB, False, [("ADDITIVE", "limited to accepted values now", None)]),
        (AB, NONE, False, [("VALUES", "no longer limited to accepted values", "meaning")]),
        (
            ColumnPromise(classification="internal"),
            ColumnPromise(classification="PII"),
            False,
            [("VALUES", "classified pii now, no longer classified internal", ChangeType.PRIVACY)],
        ),
        (
            ColumnPromise(classification="pii"),
            NONE,
            False,
            [("VALUES", "unclassified now, no longer classified pii", None)],
        ),
        (
            NONE,
            ColumnPromise(classification="public"),
            False,
            [("METADATA", "classified public now, no longer unclassified", None)],
        ),
        (ColumnPromise(classification="PII"), ColumnPromise(classification="pii"), False, []),
        (
            ColumnPromise(unit="EUR"),
            ColumnPromise(unit="cent"),
            False,
            [("BREAKING", "its unit is cent, no longer EUR", ChangeType.UNIT)],
        ),
        (NONE, ColumnPromise(unit="EUR"), False, []),
        (
            ColumnPromise(type="int"),
            ColumnPromise(type="bigint"),
            True,
            [("VALUES", "int is bigint now", ChangeType.WIDEN)],
        ),
        (
            ColumnPromise(type="bigint"),
            ColumnPromise(type="int"),
            True,
            [("BREAKING", "bigint is int now", ChangeType.NARROW)],
        ),
        (AB, AB, True, []),
    ],
)
def test_a_change_of_a_promise(
    before: ColumnPromise,
    after: ColumnPromise,
    enforced: bool,
    expected: list[tuple[str, str, object]],
) -> None:
    changes = list(promise_changes("a", before, after, enforced=enforced))
    assert [(change.verdict.name, change.text, change.kind) for change in changes] == expected
    assert {change.column for change in changes} <= {"a"}
