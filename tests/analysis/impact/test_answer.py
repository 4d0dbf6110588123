"""The impact of a change on `orders -> clean -> mart`, by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.impact.answer import Impact, ProposedChange, Surroundings, impact
from dbt_graft.analysis.impact.change import (
    OF_DATASETS,
    START,
    ChangeType,
    ImpactEffect,
    ImpactSeverity,
)
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import ColumnUse
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Masking
from tests.cases import for_each
from tests.notation import edge

NOW = datetime(2026, 11, 1, tzinfo=UTC)
EDGES = [
    edge("clean.id < orders.id IDENTITY", "clean_orders"),
    edge("clean.note < orders.note TRANSFORMATION", "clean_orders"),
    edge("clean.* < orders.id FILTER", "clean_orders"),
    edge("mart.note < clean.note IDENTITY", "mart"),
    edge("mart.* < clean.note GROUP_BY", "mart"),
    replace(edge("hashed.id < clean.id TRANSFORMATION!", "hash_ids"), masked_by=Masking.HASH),
    edge("ranked.place < clean.note WINDOW", "rank"),
]


def table(name: str) -> DatasetId:
    return DatasetId("db", name)


def flow(text: str, task: str, last_at: datetime | None = NOW) -> Flow:
    source, target = text.split(" > ")
    return Flow(table(source), table(target), task, last_at=last_at)


FLOWS = [
    flow("orders > clean", "clean_orders"),
    flow("clean > mart", "mart"),
    flow("clean > hashed", "hash_ids"),
    flow("clean > ranked", "rank"),
    flow("mart > copy", "script"),  # its columns are not known
]
BOARD = Consumer("exposure.shop.board", "board", "dashboard", (table("mart"),))
TESTS = (NodeTest("t1", "not_null", "note"), NodeTest("t2", "unique", "id"))


def answer(
    name: str, kind: str, consumer: Consumer = BOARD, stale_before: datetime | None = None
) -> Impact:
    dataset, _, column = name.partition(".")
    graph = ImpactGraph(EDGES, FLOWS, stale_before=stale_before)
    description = Description(table("clean"), "", "clean", Role.MODEL, owner="sales", tests=TESTS)
    around = Surroundings({table("clean"): description}, (consumer,), {"script": "ada"})
    return impact(graph, ProposedChange(table(dataset), ChangeType(kind), column), around)


def shown(found: Impact) -> dict[str, str]:
    """Dataset -> severity, effects on all of it, effects on its columns."""
    return {
        dataset.dataset.name: " ".join(
            [
                dataset.severity.name,
                *(effect.name for effect in dataset.effects),
                *(f"{column}:{effect.name}" for column, effect in dataset.columns.items()),
            ]
        )
        for dataset in found.datasets
    }


@for_each(
    "name, kind, expected",
    [
        (
            "orders.note",
            "remove",
            {
                "clean": "BLOCKING LATE note:GONE",
                "mart": "BLOCKING LATE note:GONE",
                "ranked": "BLOCKING LATE",
                "copy": "BLOCKING LATE",
                # It reads another column of what is not written.
                "hashed": "WARNING LATE",
            },
        ),
        (
            "orders.id",
            "remove",
            {
                "clean": "BLOCKING LATE id:GONE",
                "hashed": "BLOCKING LATE id:GONE",
                "mart": "WARNING LATE",
                "ranked": "WARNING LATE",
                "copy": "WARNING LATE",
            },
        ),
        # A filter on another meaning gives other rows, so everything below is other.
        (
            "orders.id",
            "meaning",
            {
                "clean": "BLOCKING ROWS id:VALUES",
                "hashed": "BLOCKING ROWS id:VALUES",
                "mart": "WARNING ROWS",
                "ranked": "WARNING ROWS",
                "copy": "WARNING ROWS",
            },
        ),
        (
            "clean.note",
            "unit",
            {
                "mart": "CRITICAL ROWS note:VALUES",
                "ranked": "CRITICAL place:VALUES",
                "copy": "BLOCKING ROWS",
            },
        ),
        (
            "orders.note",
            "widen",
            {
                "clean": "INFO note:VALUES",
                "mart": "INFO ROWS note:VALUES",
                "ranked": "INFO place:VALUES",
                "copy": "INFO ROWS",
            },
        ),
        ("clean.note", "type", {
            "mart": "BLOCKING ROWS note:TYPE",
            "ranked": "WARNING place:VALUES",
            "copy": "WARNING ROWS",
        }),
        (
            "clean",
            "rows",
            dict.fromkeys(("mart", "hashed", "ranked", "copy"), "WARNING ROWS"),
        ),
        (
            "mart",
            "freshness",
            {"copy": "WARNING LATE"},
        ),
        (
            "clean",
            "remove",
            {
                "hashed": "BLOCKING LATE",
                "mart": "BLOCKING LATE",
                "ranked": "BLOCKING LATE",
                "copy": "WARNING LATE",
            },
        ),
        # A hash stays sensitive, and a ranking only depends on the values.
        (
            "clean.id",
            "privacy",
            {"hashed": "RESTRICTED id:SENSITIVE"},
        ),
        (
            "clean.note",
            "privacy",
            {
                "mart": "RESTRICTED DEPENDS note:SENSITIVE",
                "copy": "RESTRICTED SENSITIVE",
                "ranked": "INFO place:DEPENDS",
            },
        ),
        ("clean.note", "data_incorrect", {
            "mart": "TAINTED ROWS note:VALUES",
            "ranked": "TAINTED place:VALUES",
            "copy": "TAINTED ROWS",
        }),
        ("clean.fresh", "add", {"mart": "INFO NEW", "hashed": "INFO NEW", "ranked": "INFO NEW"}),
        ("ORDERS.NOTE", "privacy", {
            "clean": "RESTRICTED note:SENSITIVE",
            "mart": "RESTRICTED DEPENDS note:SENSITIVE",
            "copy": "RESTRICTED SENSITIVE",
            "ranked": "INFO place:DEPENDS",
        }),
        ("copy", "remove", {}),
    ],
)  # fmt: skip
def test_a_change_reaches(name: str, kind: str, expected: dict[str, str]) -> None:
    assert shown(answer(name, kind)) == expected


def test_the_path_names_tasks_and_how_they_use_it() -> None:
    (dataset,) = [
        one for one in answer("orders.note", "meaning").datasets if one.dataset.name == "copy"
    ]
    assert [
        (step.task, step.subtype and step.subtype.value, step.dataset.name, step.column)
        for step in dataset.path
    ] == [
        ("clean_orders", "TRANSFORMATION", "clean", "note"),
        ("mart", "IDENTITY", "mart", "note"),
        ("script", None, "copy", ""),
    ]


def test_tasks_break_where_they_name_what_is_gone() -> None:
    found = answer("clean.note", "remove")
    assert [(task.name, task.breaks, task.severity.name, task.owner) for task in found.tasks] == [
        ("mart", True, "BLOCKING", ""),
        ("rank", True, "BLOCKING", ""),
        ("script", False, "BLOCKING", "ada"),
    ]
    assert [task.name for task in answer("clean.note", "meaning").tasks if task.breaks] == []


@pytest.mark.parametrize(
    ("name", "kind", "tests"),
    [
        ("clean.note", "remove", [("note", True)]),
        ("clean.note", "meaning", [("note", False)]),
        ("clean.note", "freshness", []),
        ("orders.note", "remove", [("note", True), ("id", False)]),
        ("orders", "rows", [("id", False), ("note", False)]),
    ],
)
def test_a_test_on_a_column_that_is_gone_breaks(
    name: str, kind: str, tests: list[tuple[str, bool]]
) -> None:
    assert [(test.test.column, test.breaks) for test in answer(name, kind).tests] == tests


@for_each(
    "kind, more, severity",
    [
        ("rows", {}, ImpactSeverity.WARNING),
        ("rows", {"criticality": "High"}, ImpactSeverity.BLOCKING),
        ("rows", {"deadline": "08:00"}, ImpactSeverity.BLOCKING),
        ("rows", {"criticality": "low"}, ImpactSeverity.WARNING),
        ("rows", {"kind": "application"}, ImpactSeverity.BLOCKING),
        ("rows", {"kind": "API"}, ImpactSeverity.BLOCKING),
        ("rows", {"kind": "data contract"}, ImpactSeverity.BLOCKING),
        ("rows", {"kind": "api", "criticality": "low"}, ImpactSeverity.WARNING),
        (
            "rows",
            {"kind": "api", "criticality": "low", "deadline": "8:00"},
            ImpactSeverity.BLOCKING,
        ),
        ("rows", {"kind": "notebook"}, ImpactSeverity.WARNING),
        ("data_incorrect", {}, ImpactSeverity.TAINTED),
        ("data_incorrect", {"freshness_slo": "PT2H"}, ImpactSeverity.CRITICAL),
        ("privacy", {"criticality": "critical"}, ImpactSeverity.RESTRICTED),
    ],
)
def test_a_consumer_that_somebody_waits_for_or_no_person_looks_at_counts_more(
    kind: str, more: dict[str, str], severity: ImpactSeverity
) -> None:
    board = replace(BOARD, **more)
    (consumer,) = answer("clean.note", kind, board).consumers
    assert (consumer.consumer.name, consumer.severity) == ("board", severity)


def test_a_consumer_of_the_changed_dataset_itself_is_affected() -> None:
    (consumer,) = answer("mart.note", "remove").consumers
    assert consumer.severity is ImpactSeverity.BLOCKING


def test_columns_are_known_for_a_part_of_the_way() -> None:
    found = answer("orders.note", "meaning")
    assert (found.known, found.flows) == (3, 4)


def test_what_only_old_edges_reach_is_stale() -> None:
    old = [flow("clean > mart", "mart", NOW - timedelta(days=200)), *FLOWS[:1], *FLOWS[2:]]
    graph = ImpactGraph(EDGES, old, stale_before=NOW - timedelta(days=90))
    change = ProposedChange(table("orders"), ChangeType.SEMANTICS, "note")
    found = impact(graph, change, Surroundings())
    assert {dataset.dataset.name: dataset.stale for dataset in found.datasets} == {
        "clean": False,
        "ranked": False,
        "mart": True,
        "copy": True,
    }


def test_a_way_over_edges_of_today_is_preferred_to_a_shorter_old_one() -> None:
    flows = [
        flow("a > c", "old", NOW - timedelta(days=200)),
        flow("a > b", "new"),
        flow("b > c", "new"),
    ]
    graph = ImpactGraph([], flows, stale_before=NOW - timedelta(days=90))
    found = impact(graph, ProposedChange(table("a"), ChangeType.ROWS), Surroundings())
    assert [
        (dataset.dataset.name, dataset.distance, dataset.stale) for dataset in found.datasets
    ] == [
        ("b", 1, False),
        ("c", 2, False),
    ]


def test_unknown_columns_keep_their_names() -> None:
    edges = [edge("b.* < a.* TRANSFORMATION"), edge("c.x < b.x IDENTITY")]
    flows = [flow("a > b", "load"), flow("b > c", "load")]
    datasets = [Dataset(table("b"), columns=(Column("x"),))]
    graph = ImpactGraph(edges, flows, datasets)
    found = impact(graph, ProposedChange(table("a"), ChangeType.PRIVACY, "X"), Surroundings())
    assert shown(found) == {"b": "RESTRICTED x:SENSITIVE", "c": "RESTRICTED x:SENSITIVE"}


def test_a_cycle_ends() -> None:
    flows = [flow("a > b", "t"), flow("b > a", "u")]
    found = impact(
        ImpactGraph([], flows), ProposedChange(table("a"), ChangeType.ROWS), Surroundings()
    )
    assert shown(found) == {"b": "WARNING ROWS"}


@pytest.mark.parametrize(
    ("masked_by", "found"),
    [
        ("", "RESTRICTED id:SENSITIVE"),  # masked, nothing says how
        ("HASH", "RESTRICTED id:SENSITIVE"),
        ("ENCRYPT", "WARNING id:MASKED"),
        ("TOKENIZE", "WARNING id:MASKED"),
        ("MASK", "WARNING id:MASKED"),
    ],
)
def test_sensitive_values_are_less_so_behind_a_mask_and_not_behind_a_hash(
    masked_by: str, found: str
) -> None:
    hidden = edge("hashed.id < clean.id TRANSFORMATION!", "hash_ids")
    graph = ImpactGraph([replace(hidden, masked_by=Masking(masked_by))], FLOWS)
    change = ProposedChange(table("clean"), ChangeType.PRIVACY, "id")
    assert shown(impact(graph, change, Surroundings()))["hashed"] == found


@for_each(
    "name, kind, named, breaks",
    [
        ("orders.note", "remove", "note", True),
        ("orders.note", "rename", "NOTE", True),
        ("orders.note", "remove", "other", False),
        ("orders.note", "meaning", "note", False),
        ("mart.note", "remove", "note", True),
        ("mart", "remove", "other", True),  # all of it is gone
    ],
)
def test_a_consumer_that_names_what_is_gone_breaks(
    name: str, kind: str, named: str, breaks: bool
) -> None:
    board = replace(BOARD, columns=((table("mart"), named),))
    (consumer,) = answer(name, kind, board).consumers
    assert consumer.breaks is breaks


def test_a_consumer_that_names_no_column_is_not_certain_to_break() -> None:
    (consumer,) = answer("mart.note", "remove").consumers
    assert not consumer.breaks


READS = {
    "all": "",  # which columns it reads is not known
    "note": "note",
    "struct": "note.text",
    "other": "id",
    "counts": "",
}


@for_each(
    "name, kind, expected",
    [
        ("mart.note", "remove", {"all": "may be", "note": "hit", "struct": "hit"}),
        ("mart.note", "unit", {"all": "may be", "note": "hit", "struct": "hit"}),
        ("mart.note", "privacy", {"all": "may be", "note": "hit", "struct": "hit"}),
        ("mart.id", "remove", {"all": "may be", "other": "hit"}),
        # It is not written then, or has other rows.
        (
            "clean.note",
            "remove",
            dict.fromkeys(("all", "note", "struct", "other", "counts"), "hit"),
        ),
        ("clean.note", "unit", dict.fromkeys(("all", "note", "struct", "other", "counts"), "hit")),
        ("mart", "remove", dict.fromkeys(("all", "note", "struct", "other", "counts"), "hit")),
        ("mart", "rows", dict.fromkeys(("all", "note", "struct", "other", "counts"), "hit")),
    ],
)
def test_a_consumer_is_hit_by_the_columns_that_it_reads(
    name: str, kind: str, expected: dict[str, str]
) -> None:
    mart = table("mart")
    readers = [
        replace(
            BOARD,
            node_id=reader,
            name=reader,
            columns=((mart, column),) if column else (),
            known_reads=() if reader == "all" else (mart,),
        )
        for reader, column in READS.items()
    ]
    dataset, _, column = name.partition(".")
    change = ProposedChange(table(dataset), ChangeType(kind), column)
    found = impact(ImpactGraph(EDGES, FLOWS), change, Surroundings(consumers=readers))

    assert {
        hit.consumer.name: "may be" if hit.unknown_columns else "hit" for hit in found.consumers
    } == expected


def test_a_reader_of_other_columns_is_counted_and_a_contract_that_promises_others_is_not() -> None:
    mart = table("mart")
    other = replace(BOARD, columns=((mart, "id"),), known_reads=(mart,))
    readers = [other, replace(other, kind="data contract", name="contract")]
    change = ProposedChange(mart, ChangeType.REMOVE, "note")
    found = impact(ImpactGraph(EDGES, FLOWS), change, Surroundings(consumers=readers))

    assert (found.consumers, found.unaffected) == ((), 1)


@for_each(
    "uses, known_reads, expected",
    [
        ([], [], {"script": "may be"}),
        (["note"], [], {"script": "hit"}),
        (["id"], [], {"script": "may be"}),
        ([], ["mart"], {}),
        (["id"], ["mart"], {}),
        (["note"], ["mart"], {"script": "hit"}),
        (["id"], ["clean"], {"script": "may be"}),
    ],
)
@pytest.mark.parametrize("kind", ["remove", "meaning"])
def test_a_task_whose_output_has_unknown_columns_is_hit_by_those_that_it_reads(
    uses: list[str], known_reads: list[str], expected: dict[str, str], kind: str
) -> None:
    graph = ImpactGraph(
        EDGES,
        FLOWS,
        uses=[ColumnUse("script", table("mart"), column) for column in uses],
        known_reads=[("script", table(name)) for name in known_reads],
    )
    found = impact(graph, ProposedChange(table("mart"), ChangeType(kind), "note"), Surroundings())
    if kind == "meaning" and not known_reads:
        expected = {"script": "may be"}  # what it takes may be in other columns, too

    assert {
        task.name: "may be" if task.unknown_columns else "hit" for task in found.tasks
    } == expected
    assert [dataset.dataset.name for dataset in found.datasets] == ["copy"] * len(expected)


# `raw > stg > mart, other`: stg is `select *`, or names its columns.
STAGED = [
    edge("stg.amount < raw.amount IDENTITY", "stg"),
    edge("stg.id < raw.id IDENTITY", "stg"),
    edge("mart.amount < stg.amount AGGREGATION", "mart"),
    edge("other.id < stg.id IDENTITY", "other"),
]
STAGED_FLOWS = [flow("raw > stg", "stg"), flow("stg > mart", "mart"), flow("stg > other", "other")]
BY_STAR = Definition("stg", DefinitionKind.DBT, table("stg"), starred=("amount", "id"))
UNKNOWN = [edge("stg.* < raw.* IDENTITY", "stg"), *STAGED[2:]]


@pytest.mark.parametrize(
    ("edges", "definition", "expected", "broken"),
    [
        pytest.param(
            STAGED,
            replace(BY_STAR, starred=()),
            {
                "stg": "BLOCKING LATE amount:GONE",
                "mart": "BLOCKING LATE amount:GONE",
                "other": "WARNING LATE",
            },
            ["mart", "stg"],
            id="who reads another column of what fails is late",
        ),
        pytest.param(
            STAGED,
            BY_STAR,
            {"stg": "BLOCKING amount:GONE", "mart": "BLOCKING LATE amount:GONE"},
            ["mart"],
            id="what selects all has one column less",
        ),
        pytest.param(
            UNKNOWN,
            replace(BY_STAR, starred=("*",)),
            {"stg": "BLOCKING amount:GONE", "mart": "BLOCKING LATE amount:GONE"},
            ["mart"],
            id="so does a select of columns that are not known",
        ),
        pytest.param(
            UNKNOWN,
            replace(BY_STAR, starred=()),
            {
                "stg": "BLOCKING LATE amount:GONE",
                "mart": "BLOCKING LATE amount:GONE",
                "other": "WARNING LATE",
            },
            ["mart"],
            id="a task that takes unknown columns may fail",
        ),
    ],
)
def test_a_statement_fails_where_it_names_what_is_gone(
    edges: list[ColumnEdge], definition: Definition, expected: dict[str, str], broken: list[str]
) -> None:
    graph = ImpactGraph(edges, STAGED_FLOWS, definitions={"stg": definition})
    change = ProposedChange(table("raw"), ChangeType.REMOVE, "amount")
    result = impact(graph, change, Surroundings())
    assert shown(result) == expected
    assert sorted(task.name for task in result.tasks if task.breaks) == broken


# `SELECT id, email INTO #d FROM raw`, and later only `id` of #d.
USE = ColumnUse("load", table("raw"), "email")
LOADED = ([edge("stg.id < raw.id IDENTITY", "load")], [flow("raw > stg", "load")])


@for_each(
    "column, expected, broken, unaffected",
    [
        ("email", {"stg": "BLOCKING LATE"}, ["load"], 0),
        ("EMAIL", {"stg": "BLOCKING LATE"}, ["load"], 0),
        ("id", {"stg": "BLOCKING LATE id:GONE"}, ["load"], 0),
        ("other", {}, [], 1),
    ],
)
def test_a_statement_fails_that_names_what_nothing_is_made_of(
    column: str, expected: dict[str, str], broken: list[str], unaffected: int
) -> None:
    graph = ImpactGraph(*LOADED, uses=[USE])
    change = ProposedChange(table("raw"), ChangeType.REMOVE, column)
    result = impact(graph, change, Surroundings())
    assert shown(result) == expected
    assert [task.name for task in result.tasks if task.breaks] == broken
    assert result.unaffected == unaffected


@for_each("kind", [kind for kind in ChangeType if START[kind] is not ImpactEffect.GONE])
def test_what_nothing_is_made_of_may_change(kind: ChangeType) -> None:
    graph = ImpactGraph(*LOADED, uses=[USE])
    if kind not in OF_DATASETS:
        result = impact(graph, ProposedChange(table("raw"), kind, "email"), Surroundings())
        assert (tuple(result.datasets), result.unaffected) == ((), 0)
