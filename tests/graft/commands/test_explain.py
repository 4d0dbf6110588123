"""`graft explain`: why a table or a task has, or lacks, edges."""

# ruff: noqa: F811 (a fixture of another module)

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.collectors import store
from dbt_graft.collectors.store import arrow_tables
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import Kind, parse_dataset_id
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Direction,
    Evidence,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
    Status,
)
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)

NOW = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
Explained = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def explained(folder: Path, capfd: pytest.CaptureFixture[str]) -> Explained:
    def run(name: str) -> Any:
        with pytest.raises(SystemExit) as ended:
            main(["explain", name, "--json", "-c", str(folder / "graft.yml")])
        found = orjson.loads(capfd.readouterr().out)
        assert ended.value.code == ("error" in found)
        return found

    return run


@pytest.fixture
def lines(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[[str], list[str]]:
    """The explanation for people."""

    def run(name: str) -> list[str]:
        with pytest.raises(SystemExit):
            main(["explain", name, "-c", str(folder / "graft.yml")])
        return capfd.readouterr().out.splitlines()

    return run


def logged(folder: Path, *statements: str, rejects: tuple[Reject, ...] = ()) -> None:
    """Put other records into the store: `task: OPERATION input … > output …`, in order.

    `!` before the task: the statement failed. `?`: it was parsed only in part.
    """
    accesses: list[Access] = []
    shapes: dict[str, Shape] = {}
    runs: dict[str, Run] = {}
    for number, statement in enumerate(statements):
        task, _, text = statement.partition(": ")
        status = Status.FAILED if task.startswith("!") else Status.OK
        outcome = Outcome.PARTIAL if task.startswith("?") else Outcome.PARSED
        task = task.strip("!?")
        words, _, outputs = text.partition(" > ")
        operation, *inputs = words.split()
        at = NOW + timedelta(seconds=number)
        shape = f"s{number}"
        shapes[shape] = Shape(
            shape, "tsql", text, "1", outcome, "dynamic SQL" if "?" in statement else None
        )
        runs[task] = Run(f"{task}-1", task, "sqlserver", NOW, NOW, Status.OK, origin="log")
        for names, direction in ((inputs, Direction.READ), (outputs.split(), Direction.WRITE)):
            for name in names:
                dataset = parse_dataset_id(name if "/" in name else f"mssql/{name}")
                kind = Kind.TEMPORARY if "#" in name else Kind.TABLE
                verb = Operation(operation.replace("_", " "))
                accesses.append(
                    Access(
                        *(task, f"{task}-1", dataset, kind, direction, verb, shape, 1),
                        *(None, None, None, None, at, at, status),
                        origin="log",
                    )
                )
    records = Records(tuple(accesses), tuple(runs.values()), shapes, (), rejects)
    shutil.rmtree(folder / ".graft/store")
    store.commit(str(folder / ".graft/store"), [arrow_tables.tables(records, {"log": "1"})])


def test_a_table_has_its_names_node_writers_and_reasons(explained: Explained) -> None:
    (found,) = explained("orders")
    assert found["dataset"] == "mssql/Shop.raw.orders"
    assert found["names"] == [
        {"name": "mssql/raw.orders", "rule": None, "relation": "mssql/Shop.raw.orders"}
    ]
    assert found["node"] == "source.shop.raw.orders"
    assert found["runs"] == {"seen": 1, "with_failures": 0}
    assert [use["task"] for use in found["written_by"]] == ["load_orders"]
    assert found["reasons"] == [
        "no edge into it: its tasks (load_orders) read no dataset that the logs show"
    ]


def test_a_task_has_its_reads_and_writes(explained: Explained) -> None:
    (found,) = explained("report")
    assert [use["dataset"] for use in found["reads"]] == ["mssql/Shop.analytics.mart"]
    assert found["reasons"] == ["no statement of it writes data"]


INTO, FROM = "no edge into it: ", "no edge from it: "
# The statements of the log, the name that is asked for -> the reasons.
REASONS: dict[str, tuple[list[str], str, list[str]]] = {
    "the statement failed": (
        ["!load: INSERT a.in > a.out"],
        "a.out",
        [
            f"{INTO}no statement wrote its data (1 failed)",
            f"{FROM}no statement in the logs read it",
        ],
    ),
    "a failed statement beside one that brings no data": (
        ["!load: INSERT a.in > a.out", "load: TRUNCATE > a.out"],
        "a.out",
        [
            f"{INTO}no statement wrote its data (1 failed; TRUNCATE)",
            f"{FROM}no statement in the logs read it",
        ],
    ),
    "a task all of whose statements failed": (
        ["!load: INSERT a.in > a.out"],
        "load",
        ["no statement of it reads data (1 failed)", "no statement of it writes data (1 failed)"],
    ),
    "a temporary table": (
        ["load: SELECT_INTO a.in > #t~7", "load: INSERT #t~7 > a.out"],
        "#t",
        [
            f"{way}it is a temporary table: edges go through it to lasting datasets"
            for way in (INTO, FROM)
        ],
    ),
    "a table that a run makes and drops": (
        [
            "load: SELECT_INTO a.in > a.stage",
            "load: INSERT a.stage > a.out",
            "load: DROP > a.stage",
        ],
        "a.stage",
        [
            f"{way}each run that made it dropped it: edges go through it to lasting datasets"
            for way in (INTO, FROM)
        ],
    ),
    "the former name of a table": (
        ["load: SELECT_INTO a.in > a.out_new", "load: RENAME a.out_new > a.out"],
        "a.out_new",
        [f"{way}it was renamed to mssql/a.out, which has its edges" for way in (INTO, FROM)],
    ),
    "a task with one dataset": (
        ["load: UPDATE a.out > a.out"],
        "a.out",
        [f"{way}its tasks (load) use no other dataset" for way in (INTO, FROM)],
    ),
    "only the definition was seen": (
        ["load: CREATE_TABLE > a.out"],
        "a.out",
        [
            f"{INTO}no statement wrote its data (CREATE TABLE)",
            f"{FROM}no statement in the logs read it",
        ],
    ),
    "a statement that was read in part": (
        ["?load: INSERT > a.out"],
        "a.out",
        [
            f"{INTO}its tasks (load) read no dataset that the logs show",
            f"{INTO}1 statement with its name could not be read, or only in part: dynamic SQL",
            f"{FROM}no statement in the logs read it",
            f"{FROM}1 statement with its name could not be read, or only in part: dynamic SQL",
        ],
    ),
    "edges on both sides": (
        ["load: INSERT a.in > a.out", "next: INSERT a.out > b.end"],
        "a.out",
        [],
    ),
}


@pytest.mark.parametrize("case", REASONS)
def test_a_missing_edge_has_its_reason(case: str, folder: Path, explained: Explained) -> None:
    statements, name, reasons = REASONS[case]
    logged(folder, *statements)
    (found,) = explained(name)
    assert found["reasons"] == reasons


def test_rejected_log_input_is_named_where_an_edge_lacks(
    folder: Path, explained: Explained
) -> None:
    logged(folder, "load: INSERT a.in > a.out", rejects=(Reject("log", "event 7", "cut off"),))
    (found,) = explained("a.in")
    assert found["reasons"] == [
        f"{INTO}no statement in the logs wrote it; log input was rejected, see `graft doctor`"
    ]
    (found,) = explained("load")
    assert found["rejects"] == [{"origin": "log", "position": "event 7", "reason": "cut off"}]


# The rules, the dataset of the log -> its lines.
MATCHES: dict[str, tuple[str, str, list[str]]] = {
    "by a rule": (
        "names: [{from: 'file/mnt/*', to: 'mssql/Shop.raw.*'}]",
        "file/mnt/orders",
        [
            "  in the logs: file/mnt/orders (by the rule file/mnt/* -> mssql/Shop.raw.*)",
            "  dbt: source.shop.raw.orders",
        ],
    ),
    "by its short name": (
        "",
        "mssql/RAW.Orders",
        [
            "  in the logs: mssql/RAW.Orders (dbt's mssql/Shop.raw.orders)",
            "  dbt: source.shop.raw.orders",
        ],
    ),
    "by its name": (
        "",
        "mssql/Shop.raw.orders",
        ["  in the logs: mssql/Shop.raw.orders", "  dbt: source.shop.raw.orders"],
    ),
    "by a rule into a former namespace": (
        "names: [{from: 'file/mnt/*', to: 'spark/Shop.raw.*'}]",
        "file/mnt/orders",
        [
            "  in the logs: file/mnt/orders (by the rule file/mnt/* -> spark/Shop.raw.*)",
            "  dbt: source.shop.raw.orders",
        ],
    ),
    "in another namespace": (
        "",
        "spark/lake.orders",
        [
            "  in the logs: spark/lake.orders",
            "  dbt: no relation; if it is mssql/Shop.raw.orders, say so with a rule under `names`",
        ],
    ),
    "not at all": (
        "",
        "mssql/Shop.raw.nothing",
        ["  in the logs: mssql/Shop.raw.nothing", "  dbt: no relation of this name"],
    ),
}


@pytest.mark.parametrize("case", MATCHES)
def test_a_dataset_has_the_relation_and_the_rule_that_gave_it(
    case: str, folder: Path, lines: Callable[[str], list[str]]
) -> None:
    rules, dataset, expected = MATCHES[case]
    (folder / "graft.yml").write_text(rules)
    logged(folder, f"load: INSERT mssql/a.in > {dataset}")
    assert lines(dataset)[1:3] == expected


def test_a_name_that_fits_two_relations_has_both(
    folder: Path, lines: Callable[[str], list[str]]
) -> None:
    manifest = orjson.loads((folder / "target/manifest.json").read_bytes())
    twin = manifest["sources"]["source.shop.raw.orders"] | {
        "database": "Archive",
        "unique_id": "source.shop.old.orders",
    }
    manifest["sources"]["source.shop.old.orders"] = twin
    for maps in ("parent_map", "child_map"):
        manifest[maps]["source.shop.old.orders"] = []
    (folder / "target/manifest.json").write_bytes(orjson.dumps(manifest))
    assert lines("mssql/raw.orders")[2] == (
        "  dbt: no relation: the name fits mssql/Archive.raw.orders, mssql/Shop.raw.orders; "
        "decide with a rule under `names`"
    )


def test_a_model_of_another_dbt_project_is_a_task(folder: Path, explained: Explained) -> None:
    name, run = "db.dw.other.orders.build.run", "01a20261-2a3a-7200-94f2-000000000001"
    sides = ((Direction.READ, "mssql/Shop.dbo.a"), (Direction.WRITE, "mssql/Shop.dbo.b"))
    records = Records(
        tuple(
            Access(
                *("model.other.orders", run, parse_dataset_id(dataset), Kind.TABLE, direction),
                *(Operation.INSERT, "event-1"),
                origin="log#dbt",
            )
            for direction, dataset in sides
        ),
        (
            Run(
                *(run, "model.other.orders", "dbt", NOW, NOW, Status.OK),
                job=f"dbt/{name}",
                origin="log#dbt",
            ),
        ),
    )
    shutil.rmtree(folder / ".graft/store")
    positions = {"log": "1", "log#dbt": "1"}
    store.commit(str(folder / ".graft/store"), [arrow_tables.tables(records, positions)])
    [found] = explained(name)
    assert [one["dataset"] for one in found["reads"]] == ["mssql/Shop.dbo.a"]
    assert [one["dataset"] for one in found["writes"]] == ["mssql/Shop.dbo.b"]
    assert found["runs"]["seen"] == 1


def test_an_unknown_name_is_an_error_with_close_names(explained: Any) -> None:
    error = explained("load_ordres")["error"]
    assert error["place"] == "load_ordres"
    assert "load_orders" in error["remedy"]
    assert "did you mean" in explained("order")["error"]["remedy"], "a part of a name"


def test_an_edge_that_yaml_declares_too_has_both_evidences(
    folder: Path, explained: Explained, lines: Callable[[str], list[str]]
) -> None:
    logged(folder, "load: INSERT raw.orders > a.out")
    origin = "declared:lineage/#shop.yml"
    records = Records(
        tuple(
            Access(
                *("load", f"{origin}/load/0", parse_dataset_id(name), Kind.TABLE),
                *(direction, operation, "d"),
                evidence=Evidence.DECLARED,
                origin=origin,
            )
            for name, direction, operation in (
                ("mssql/raw.orders", Direction.READ, Operation.SELECT),
                ("mssql/a.out", Direction.WRITE, Operation.INSERT),
            )
        )
    )
    store.commit(str(folder / ".graft/store"), [arrow_tables.tables(records, {origin: "1"})])
    (edge,) = explained("a.out")[0]["edges"]
    assert edge["evidences"] == [
        {"evidence": "observed", "source": "SQL Server log"},
        {"evidence": "declared", "source": "shop.yml"},
    ]
    assert lines("a.out")[-2] == (
        "    mssql/Shop.raw.orders -> mssql/a.out, by load,"
        " observed (SQL Server log) · declared (shop.yml)"
    )


def test_people_get_it_in_lines(folder: Path, lines: Callable[[str], list[str]]) -> None:
    logged(
        folder,
        "load: SELECT_INTO raw.orders > #t~7",
        "load: SELECT_INTO raw.orders > #t~8",
        "load: INSERT #t~7 > a.out",
        "!load: DELETE > a.out",
    )
    assert lines("load") == [
        "task load",
        "  runs: 1",
        "  reads:",
        "    #t, by INSERT, 1 time, temporary",
        "    mssql/Shop.raw.orders, by SELECT INTO, 2 times",
        "  writes:",
        "    #t, by SELECT INTO, 2 times, temporary",
        "    mssql/a.out, by DELETE, 1 time, failed",
        "    mssql/a.out, by INSERT, 1 time",
        "  statements:",
        "    parsed: SELECT_INTO raw.orders > #t~7",
        "    parsed: SELECT_INTO raw.orders > #t~8",
        "    parsed: INSERT #t~7 > a.out",
        "    parsed: DELETE > a.out",
        "  edges:",
        "    mssql/Shop.raw.orders -> mssql/a.out, by load, observed, through #t",
    ]
    assert lines("a.out")[3:5] == ["  runs: 1, 1 with failures", "  written by:"]


def test_of_many_datasets_the_first_are_shown(
    folder: Path, lines: Callable[[str], list[str]]
) -> None:
    logged(folder, *(f"load: INSERT s{n:02}.in > s{n:02}.out" for n in range(12)))
    found = lines("out")
    assert sum(line.startswith("dataset ") for line in found) == 10
    assert found[-1] == "and 2 more: write more of the name, or see --json"
