"""Taint by hand: small histories with what is bad at their end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import bad_dates, bad_runs, last_good_run
from dbt_graft.analysis.dates.dataset_dates import dataset_kind
from dbt_graft.analysis.dates.mapping_findings import mapping_findings
from dbt_graft.analysis.dates.taint import Taint, spread
from dbt_graft.analysis.dates.taint_plan import taint_plan
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES
from dbt_graft.lineage.dates.date_text import dates_text, parse_dates
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    NodeResult,
    Outcome,
    Run,
    Shape,
    Status,
    Subtype,
)
from dbt_graft.lineage.usage import Usage
from tests.analysis.dates.histories import START, history, table
from tests.cases import for_each


def shown(taint: Taint) -> dict[str, str]:
    """Task and dataset -> bad dates."""
    return {
        f"{task} {dataset.name}": dates_text(dates)
        for (task, dataset), dates in taint.tainted.items()
    }


SAME = tuple(f"copy: a[{n}] > INSERT_OVERWRITE b[{n}]" for n in (11, 12, 13))
LOAD, COPY = "load: _ > INSERT_OVERWRITE a[3]", "copy: a[3] > INSERT_OVERWRITE b[3]"


@for_each(
    "lines, expected",
    [
        pytest.param(
            (LOAD, "copy: a[3] > INSERT b[3]"),
            {"load a": "3 Oct 2026", "copy b": "3 Oct 2026"},
            id="who reads it is bad",
        ),
        pytest.param(
            ("copy: a[3] > INSERT b[3]", LOAD),
            {"load a": "3 Oct 2026"},
            id="not who read before",
        ),
        pytest.param(
            (LOAD, "copy: a[4] > INSERT b[4]"), {"load a": "3 Oct 2026"}, id="nor who read others"
        ),
        pytest.param(
            (LOAD, LOAD, "copy: a[3] > INSERT b[3]"), {}, id="nor who read after a clean write"
        ),
        pytest.param(
            (LOAD, "copy: a[3] > INSERT b[3]", LOAD),
            {"copy b": "3 Oct 2026"},
            id="a clean write of the input does not clean the output",
        ),
        pytest.param(
            (
                LOAD,
                "copy: a[3] > INSERT_OVERWRITE b[3]",
                LOAD,
                "copy: a[3] > INSERT_OVERWRITE b[3]",
            ),
            {},
            id="its own clean write does",
        ),
        pytest.param(
            (LOAD, COPY, LOAD, f"{COPY}?"), {"copy b": "3 Oct 2026"}, id="not one without an end"
        ),
        pytest.param(
            (LOAD, COPY, LOAD, "clear: _ > TRUNCATE b?"),
            {"copy b": "3 Oct 2026"},
            id="nor a removal without an end",
        ),
        pytest.param(
            (LOAD, "copy: a[3] > INSERT b[3]", LOAD, "copy: a[3] > INSERT b[3]"),
            {"copy b": "3 Oct 2026"},
            id="rows beside bad ones do not",
        ),
        pytest.param(
            (LOAD, "load: _ > INSERT_OVERWRITE a[3]!", "copy: a[3] > INSERT b[3]!"),
            {"load a": "3 Oct 2026"},
            id="what failed wrote nothing",
        ),
        pytest.param(
            (LOAD, "copy: a[3] > INSERT b[3]", "drop: _ > TRUNCATE b", "drop: _ > TRUNCATE a"),
            {},
            id="nothing is bad in an empty table",
        ),
        pytest.param(
            (LOAD, "copy: a[1..5] > INSERT b[5]"),
            {"load a": "3 Oct 2026", "copy b": "5 Oct 2026"},
            id="of one run all that it wrote is bad",
        ),
        pytest.param(
            (*SAME, LOAD, "copy: a[1..5] > INSERT_OVERWRITE b[1..5]"),
            {"load a": "3 Oct 2026", "copy b": "3 Oct 2026"},
            id="where three agree, the same day of a backfill",
        ),
        pytest.param(
            (LOAD, "snap: a > CREATE_TABLE_AS b"),
            {"load a": "3 Oct 2026", "snap b": "all dates"},
            id="all of a table without dates",
        ),
        pytest.param(
            (LOAD, "snap: a > CREATE_TABLE_AS b", LOAD, "snap: a > CREATE_TABLE_AS b"),
            {},
            id="until it is replaced",
        ),
        pytest.param(
            (*SAME, LOAD, "copy: a[3] > INSERT_OVERWRITE b*"),
            {"load a": "3 Oct 2026", "copy b": "3 Oct 2026"},
            id="rows that decide on partitions take the dates of the input",
        ),
        pytest.param(
            (LOAD, "x: a[3] > INSERT b[3]", "y: b[3] > INSERT a[4]", "x: a[4] > INSERT b[4]"),
            {"load a": "3 Oct 2026", "x b": "3 to 4 Oct 2026", "y a": "4 Oct 2026"},
            id="around a cycle, as often as it was run",
        ),
    ],
)
def test_bad_data_is_followed(lines: tuple[str, ...], expected: dict[str, str]) -> None:
    past = history(*lines)

    assert shown(spread(past, bad_dates(past, table("a"), parse_dates("2026-10-03")))) == expected


@pytest.mark.parametrize(
    ("lines", "hours", "tainted", "certain"),
    [
        pytest.param(
            (LOAD, LOAD, "copy: a[3] > INSERT b[3]"),
            2,
            {"copy b": "3 Oct 2026"},
            {},
            id="its input was written again while it read",
        ),
        pytest.param(
            (LOAD, "copy: a[3] > INSERT b[3]"),
            2,
            {"load a": "3 Oct 2026", "copy b": "3 Oct 2026"},
            {"load a": "3 Oct 2026"},
            id="its input became bad while it read",
        ),
        pytest.param(
            (LOAD, "copy: a[3] > INSERT b[3]"),
            0.5,
            {"load a": "3 Oct 2026", "copy b": "3 Oct 2026"},
            {"load a": "3 Oct 2026", "copy b": "3 Oct 2026"},
            id="its input was bad all the time",
        ),
        pytest.param(
            (LOAD, LOAD, "copy: a[3] > INSERT b[3]", "copy: b[3] > INSERT c[3]"),
            2,
            {"copy b": "3 Oct 2026", "copy c": "3 Oct 2026"},
            {},
            id="what comes of what may be bad may be bad",
        ),
    ],
)
def test_a_read_lies_anywhere_between_its_beginning_and_its_end(
    lines: tuple[str, ...], hours: float, tainted: dict[str, str], certain: dict[str, str]
) -> None:
    past = history(*lines)
    bad = bad_dates(past, table("a"), parse_dates("2026-10-03"))
    longer = [
        replace(access, first_at=access.last_at - timedelta(hours=hours))
        if access.direction is Direction.READ and access.dataset == table("a") and access.last_at
        else access
        for access in past.lineage.history.accesses
    ]
    taint = spread(AccessHistory(_with(past.lineage, longer)), bad)

    assert shown(taint) == tainted
    assert shown(replace(taint, tainted=taint.certain)) == certain


@for_each(
    "removed, written, bad, certain",
    [
        ("3", "3", "no dates", "no dates"),
        # What a run cuts at a time of day may leave bad rows in that day.
        ("3~", "3~", "3 Oct 2026", "no dates"),
        ("3~", "3", "3 Oct 2026", "no dates"),
        ("3", "3~", "no dates", "no dates"),
        ("3~,4", "3~,4", "3 Oct 2026", "no dates"),
        ("2..3", "2..4", "no dates", "no dates"),
        ("4", "3..4", "3 Oct 2026", "3 Oct 2026"),
    ],
)
def test_a_delete_of_a_part_of_a_day_does_not_clean_the_day(
    removed: str, written: str, bad: str, certain: str
) -> None:
    past = history(LOAD, f"load: _ > DELETE a[{removed}]", f"load: _ > INSERT a[{written}]")
    joined = [
        replace(access, run_id="again") if access.run_id != "r0" else access
        for access in past.lineage.history.accesses
    ]
    past = AccessHistory(_with(past.lineage, joined))
    taint = spread(past, bad_runs(past, [("load", "r0")]))

    assert dates_text(taint.of_dataset(table("a"))) == bad
    assert dates_text(taint.of_dataset(table("a"), is_certain=True)) == certain


@for_each(
    "lines, bad, certain",
    [
        ((LOAD, "load: _ > INSERT_OVERWRITE a[3~]"), {"load a"}, set[str]()),
        ((LOAD, "load: _ > MERGE a[3~]"), {"load a"}, set[str]()),
        ((LOAD, "copy: a[3~] > INSERT b[3]"), {"load a", "copy b"}, {"load a"}),
        ((LOAD, "copy: a[3] > INSERT b[3~]"), {"load a", "copy b"}, {"load a", "copy b"}),
    ],
)
def test_dates_that_are_meant_in_part_may_be_bad(
    lines: tuple[str, ...], bad: set[str], certain: set[str]
) -> None:
    past = history(*lines)
    taint = spread(past, bad_runs(past, [("load", "r0")]))

    assert shown(taint).keys() == bad
    assert shown(replace(taint, tainted=taint.certain)).keys() == certain


def test_of_a_date_that_was_written_in_parts_each_may_be_the_bad_one() -> None:
    past = history("load: _ > INSERT a[3~]", "load: _ > INSERT a[3~]", LOAD, LOAD)
    bad = bad_dates(past, table("a"), parse_dates("2026-10-03"))

    assert [write.run for write in bad] == ["r0", "r1", "r2"]


def test_delete_and_insert_write_again() -> None:
    lines = (LOAD, "copy: a[3] > INSERT b[3]", LOAD)
    past = history(*lines, "copy: _ > DELETE b[3]", "copy: a[3] > INSERT b[3]")
    joined = [
        access if access.run_id != "r4" else _replaced(access, "r3")
        for access in past.lineage.history.accesses
    ]
    past = AccessHistory(_with(past.lineage, joined))

    assert shown(spread(past, bad_dates(past, table("a"), parse_dates("2026-10-03")))) == {}


def _replaced(access: Access, run_id: str) -> Access:
    return replace(access, run_id=run_id)


def _with(lineage: Lineage, accesses: list[Access]) -> Lineage:
    return replace(lineage, history=replace(lineage.history, accesses=tuple(accesses)))


def test_of_several_bad_runs_each_is_bad() -> None:
    past = history(LOAD, LOAD, "copy: a[3] > INSERT b[3]")
    bad = bad_runs(past, [("load", "r0"), ("load", "r1")])

    assert shown(spread(past, bad)) == {"load a": "3 Oct 2026", "copy b": "3 Oct 2026"}
    assert last_good_run(past, bad) is None
    good = last_good_run(past, bad_runs(past, [("load", "r1")]))
    assert good
    assert good.run_id == "r0"


def test_a_run_that_failed_is_no_last_good_one() -> None:
    """Its statement went well; another of the run did not."""
    runs = (
        Run("r1", "load", "spark", status=Status.FAILED),
        Run("r0", "load", "spark", status=Status.OK),
    )
    past = history(LOAD, LOAD, LOAD, tasks={"load": Task("load", runs=runs)})
    good = last_good_run(past, bad_runs(past, [("load", "r2")]))
    assert good
    assert good.run_id == "r0"


def test_views_hold_no_data_and_dbt_builds_count_by_their_times() -> None:
    view = Definition("db/v", DefinitionKind.VIEW, table("v"), (table("a"),))
    model = Definition(
        "model.shop.m", DefinitionKind.DBT, table("m"), (table("v"),), Operation.CREATE_TABLE_AS
    )
    other = Definition(
        "model.shop.n", DefinitionKind.DBT, table("n"), (table("v"),), Operation.CREATE_TABLE_AS
    )
    result = NodeResult(
        "model.shop.m",
        "i1",
        "run",
        status=Status.OK,
        started_at=START + timedelta(hours=1),
        ended_at=START + timedelta(hours=2),
    )
    datasets = {table(name): Dataset(table(name)) for name in "amnv"}
    more = {
        "definitions": {one.name: one for one in (view, model, other)},
        "dbt": DbtRuns({"model.shop.m": (result,)}),
        "datasets": datasets,
    }
    past = history(LOAD, **more)
    bad = bad_dates(past, table("a"), parse_dates("2026-10-03"))

    taint = spread(past, bad)
    assert shown(taint) == {
        "load a": "3 Oct 2026",
        "db/v v": "all dates",
        "model.shop.m m": "all dates",
        "model.shop.n n": "all dates",
    }
    # Of the other model no build is known: it may have none of the bad data yet.
    assert {dataset.name for (_, dataset), dates in taint.certain.items() if dates} == {*"avm"}
    plan = taint_plan(past, bad, taint)
    names = [rerun.name for rerun in plan.reruns]
    assert (names[0], {*names[1:]}) == ("load", {"model.shop.m", "model.shop.n"})

    early = history(LOAD.replace("a[3]", "c[3]"), "slow: _ > INSERT d[3]", LOAD, **more)
    bad = bad_dates(early, table("a"), parse_dates("2026-10-03"))
    # The model was built before, and the other one at no time that is known.
    assert set(shown(spread(early, bad))) == {"load a", "db/v v", "model.shop.n n"}


@pytest.mark.parametrize(
    ("subtype", "period_of_output", "expected"),
    [
        (Subtype.IDENTITY, None, "3 Oct 2026"),
        (Subtype.TRANSFORMATION, Grain.MONTH, "1 to 31 Oct 2026"),
        (Subtype.TRANSFORMATION, None, "all dates"),
        (Subtype.AGGREGATION, None, "all dates"),
    ],
)
def test_the_edge_of_the_partition_column_maps_dates(
    subtype: Subtype, period_of_output: Grain | None, expected: str
) -> None:
    edge = ColumnEdge(
        *("copy", table("b"), "day", table("a"), "DS", subtype.type, subtype), masking=False,
        shape_id="s",
    )  # fmt: skip
    declared = {table("b"): DeclaredDates(period_of_output)} if period_of_output else {}
    past = history(LOAD, "copy: a > INSERT_OVERWRITE b*", column_edges=(edge,), declared=declared)

    bad = bad_dates(past, table("a"), parse_dates("2026-10-03"))
    assert shown(spread(past, bad))["copy b"] == expected


@for_each(
    "subtype, text, expected",
    [
        (Subtype.IDENTITY, "INSERT INTO b SELECT ds FROM db.a AS x", "3 Oct 2026"),
        (Subtype.IDENTITY, "SELECT a.ds FROM [a] WHERE a.x > 1", "3 Oct 2026"),
        # The day before is joined to each day, and a window goes over many.
        (Subtype.IDENTITY, "SELECT x.ds FROM db.a x LEFT JOIN db.a y ON x.i = y.i", "all dates"),
        (Subtype.IDENTITY, 'SELECT x.ds FROM "db"."a" x, "A" y', "all dates"),
        (Subtype.WINDOW, "SELECT sum(n) OVER (ORDER BY ds), ds FROM a", "all dates"),
    ],
)
def test_a_copied_date_is_that_of_the_row_where_no_other_dates_have_a_part_in_it(
    subtype: Subtype, text: str, expected: str
) -> None:
    edges = tuple(
        ColumnEdge("copy", table("b"), "ds", table("a"), "ds", kind.type, kind, False, "s")
        for kind in dict.fromkeys((Subtype.IDENTITY, subtype))
    )
    shapes = {"s": Shape("s", "tsql", text, "sqlglot", Outcome.PARSED)}
    past = history(LOAD, "copy: a > INSERT b", column_edges=edges, shapes=shapes)

    bad = bad_dates(past, table("a"), parse_dates("2026-10-03"))
    assert shown(spread(past, bad))["copy b"] == expected


IN_AND_OUT = tuple(Usage("add", table("b"), direction) for direction in Direction)
OWN_DAY = ColumnEdge(
    *("add", table("b"), "n", table("a"), "n", EdgeType.DIRECT, Subtype.IDENTITY), masking=False,
    shape_id="s",
)  # fmt: skip


@for_each(
    "fed_again, columns, expected",
    [
        ((("add", table("b")),), (OWN_DAY,), "4 to 6 Oct 2026"),
        ((), (), "4 to 6 Oct 2026"),  # no columns are known, as of events
        ((), (OWN_DAY,), "4 Oct 2026"),
    ],
)
def test_a_table_that_is_made_of_its_own_day_before_stays_bad_day_after_day(
    fed_again: tuple[tuple[str, DatasetId], ...], columns: tuple[ColumnEdge, ...], expected: str
) -> None:
    days = [
        line
        for day in (3, 4, 5, 6)
        for line in (
            f"load: _ > INSERT_OVERWRITE a[{day}]",
            f"add: a[{day}] b[{day - 1}] > INSERT_OVERWRITE b[{day}]",
        )
    ]
    past = history(*days, column_edges=columns, tasks={"add": Task("add", usages=IN_AND_OUT)})
    again = replace(past.lineage.history, fed_again=fed_again)
    flows = tuple(flow for flow in past.lineage.flows if flow.source != flow.target)
    past = AccessHistory(replace(past.lineage, history=again, flows=flows))

    bad = bad_dates(past, table("a"), parse_dates("2026-10-04"))
    taint = spread(past, bad)
    assert shown(taint) == {"load a": "4 Oct 2026", "add b": expected}
    assert taint.certain == taint.tainted


@for_each(
    "reads, subtypes, certain",
    [
        ("a[3]", [], "3 Oct 2026"),
        ("a", [], "no date"),
        ("a", [Subtype.IDENTITY, Subtype.GROUP_BY], "3 Oct 2026"),
        ("a", [Subtype.IDENTITY, Subtype.FILTER], "no date"),
        ("a", [Subtype.IDENTITY, Subtype.JOIN], "no date"),
    ],
)
def test_who_reads_dates_that_nothing_tells_may_have_read_bad_ones(
    reads: str, subtypes: list[Subtype], certain: str
) -> None:
    edges = tuple(
        ColumnEdge("copy", table("b"), "i", table("a"), "i", kind.type, kind, False, "s")
        for kind in subtypes
    )
    past = history(LOAD, f"copy: {reads} > INSERT_OVERWRITE b[3]", column_edges=edges)

    taint = spread(past, bad_runs(past, [("load", "r0")]))
    assert shown(taint)["copy b"] == "3 Oct 2026"
    assert shown(replace(taint, tainted=taint.certain)).get("copy b", "no date") == certain


@for_each(
    "load, again, read, bad, certain",
    [
        # Rows that are added stand beside others, and nothing tells which are read.
        ("INSERT a", "INSERT a", "a", "3 Oct 2026", "no date"),
        ("INSERT_OVERWRITE a", None, "a", "3 Oct 2026", "3 Oct 2026"),
        ("INSERT_OVERWRITE a", "INSERT_OVERWRITE a", "a", "no date", "no date"),
        # A table that is read by its partitions has some, so one of them may be what is replaced.
        ("INSERT_OVERWRITE a", "INSERT_OVERWRITE a", "a[3]", "3 Oct 2026", "no date"),
        ("CREATE_TABLE_AS a", "CREATE_TABLE_AS a", "a[3]", "no date", "no date"),
    ],
)
def test_a_table_whose_writes_show_no_dates(
    load: str, again: str | None, read: str, bad: str, certain: str
) -> None:
    writes = [f"load: _ > {write}" for write in (load, again) if write]
    past = history(*writes, f"copy: {read} > INSERT b[3]")

    taint = spread(past, bad_runs(past, [("load", "r0")]))
    assert shown(taint).get("copy b", "no date") == bad
    assert shown(replace(taint, tainted=taint.certain)).get("copy b", "no date") == certain


def test_dates_after_all_that_is_written_are_an_error() -> None:
    past = history(LOAD)
    with pytest.raises(GraftError, match="written yet; the last one is 2026-10-03"):
        bad_dates(past, table("a"), parse_dates("2026-10-04..2027-01-31"))


def test_dates_before_the_first_write_have_a_writer_that_no_log_shows() -> None:
    (bad,) = bad_dates(history(LOAD), table("a"), parse_dates("2025-10-03"))
    assert (bad.task, bad.at) == ("", None)


def test_what_is_declared_wins_and_a_difference_is_a_finding() -> None:
    declared = {table("b"): DeclaredDates(Grain.DAY, {table("a"): (-1, 0), table("c"): (0, 0)})}
    past = history(*SAME, LOAD, "copy: a[3] > INSERT_OVERWRITE b[3..4]", declared=declared)

    bad = bad_dates(past, table("a"), parse_dates("2026-10-03"))
    assert shown(spread(past, bad))["copy b"] == "3 to 4 Oct 2026"
    assert [(finding.subject, finding.problem) for finding in mapping_findings(past)] == [
        ("db/b", "declared lineage names db/c as its input, and nothing reads it for that"),
        (
            "db/b",
            "it is declared to need [-1, 0] by day of db/a, and 3 of 4 runs of copy read same day",
        ),
    ]


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (SAME, "time series"),
        (tuple(f"week: a[{n}..{n + 6}] > INSERT b[{n + 6}]" for n in (1, 2, 3)), "sliding"),
        (("snap: a > CREATE_TABLE_AS b",), "snapshot"),
        (("add: a > INSERT b",), "cumulative"),
    ],
)
def test_a_dataset_has_a_kind_by_how_its_dates_grow(lines: tuple[str, ...], kind: str) -> None:
    assert dataset_kind(history(*lines), table("b")) == kind


@pytest.mark.parametrize(("removal", "kind"), [("TRUNCATE", "snapshot"), ("DELETE", "cumulative")])
def test_a_table_that_each_run_empties_before_is_a_snapshot(removal: str, kind: str) -> None:
    past = history(f"fill: _ > {removal} b", "fill: a > INSERT b")
    runs = [replace(access, run_id="night") for access in past.lineage.history.accesses]
    one_run = replace(past.lineage, history=replace(past.lineage.history, accesses=tuple(runs)))

    assert dataset_kind(AccessHistory(one_run), table("b")) == kind
    assert dataset_kind(past, table("b")) == "cumulative", "another run has emptied it"


def test_what_is_only_read_is_static() -> None:
    assert dataset_kind(history("copy: a > INSERT b"), table("a")) == "static"


def test_the_plan_names_cycles_and_keeps_the_order() -> None:
    past = history(LOAD, "x: a[3] > INSERT b[3]", "y: b[3] > INSERT a[4]", "z: b[3] > INSERT c[3]")
    bad = bad_dates(past, table("a"), parse_dates("2026-10-03"))

    plan = taint_plan(past, bad, spread(past, bad))

    names = [rerun.name for rerun in plan.reruns]
    assert (names[0], names[-1]) == ("load", "z")
    assert plan.cycles == (("x", "y"),)


def test_dates_without_a_known_writer_are_bad_since_ever() -> None:
    past = history("copy: a > INSERT b[3]")
    (bad,) = bad_dates(past, table("a"), ALL_DATES)

    assert (bad.at, bad.task) == (None, "")
    assert shown(spread(past, [bad])) == {" a": "all dates", "copy b": "3 Oct 2026"}


@pytest.mark.parametrize(
    ("writes", "expected"),
    [
        (("a[3@]", "a[4@]"), ""),
        (("a[3]", "a[4]"), "3 Oct 2026"),
        (("a[3]", "a[4@]"), "3 Oct 2026"),
        (("a[3]", "a"), ""),
    ],
    ids=["intervals only", "partitions", "partitions elsewhere", "no dates beside partitions"],
)
def test_an_overwrite_that_may_be_of_all_dates_leaves_nothing_bad_in_any_case(
    writes: tuple[str, str], expected: str
) -> None:
    found = history(*(f"load: _ > INSERT_OVERWRITE {write}" for write in writes))
    taint = spread(found, bad_runs(found, [("load", "r0")]))

    assert shown(taint) == {"load a": "3 Oct 2026"}
    assert dates_text(taint.certain.get(("load", table("a")), NO_DATES)) == (expected or "no dates")
