"""The evidence of a table's or a task's edges, and reasons for those that lack."""

# ruff: noqa: F811 (a fixture of another module)

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from dbt_graft.collectors.store import arrow_tables
from dbt_graft.collectors.store import door as store
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
from tests.cases import for_each
from tests.graft.commands.answers import read_answer
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)

NOW = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
Shown = Callable[..., dict[str, Any]]


@pytest.fixture
def shown(folder: Path) -> Shown:
    """The answer about a thing."""

    def show(name: str) -> dict[str, Any]:
        config = ["-c", str(folder / "graft.yml"), "--json"]
        done = CliRunner().invoke(main, ["show", name, *config])
        assert done.exit_code == 0, done.output
        return read_answer(done.stdout)

    return show


def logged(
    folder: Path, *statements: str, rejects: tuple[Reject, ...] = (), other: str = ""
) -> None:
    """Put other records into the store: `task: OPERATION input … > output …`, in order.

    `!` before the task: the statement failed. `?`: it was parsed only in part. `~`: it is declared.

    Args:
        other: A task with a log of its own.
    """
    accesses: list[Access] = []
    shapes: dict[str, Shape] = {}
    runs: dict[str, Run] = {}
    for number, statement in enumerate(statements):
        task, _, text = statement.partition(": ")
        status = Status.FAILED if task.startswith("!") else Status.OK
        outcome = Outcome.PARTIAL if task.startswith("?") else Outcome.PARSED
        is_declared = task.startswith("~")
        task = task.strip("!?~")
        words, _, outputs = text.partition(" > ")
        operation, *inputs = words.split()
        at = NOW + timedelta(seconds=number)
        shape = f"s{number}"
        shapes[shape] = Shape(
            shape, "tsql", text, "1", outcome, "dynamic SQL" if "?" in statement else None
        )
        origin = "other" if task == other else "log"
        if not is_declared:
            runs[task] = Run(f"{task}-1", task, "sqlserver", NOW, NOW, Status.OK, origin=origin)
        for names, direction in ((inputs, Direction.READ), (outputs.split(), Direction.WRITE)):
            for name in names:
                dataset = parse_dataset_id(name if "/" in name else f"mssql/{name}")
                kind = Kind.TEMPORARY if "#" in name else Kind.TABLE
                verb = Operation(operation.replace("_", " "))
                accesses.append(
                    Access(
                        *(task, f"{task}-1", dataset, kind, direction, verb, shape, 1),
                        *(None, None, None, None, *((None, None) if is_declared else (at, at))),
                        status,
                        Evidence.DECLARED if is_declared else Evidence.OBSERVED,
                        origin=origin,
                    )
                )
    records = Records(tuple(accesses), tuple(runs.values()), shapes, (), rejects)
    shutil.rmtree(folder / ".graft/store")
    store.commit(str(folder / ".graft/store"), [arrow_tables.tables(records, {"log": "1"})])


def test_a_table_has_its_names_node_writers_and_reasons(shown: Shown) -> None:
    data = shown("mssql/raw.orders")["data"]
    assert data["dataset"] == "mssql/Shop.raw.orders"
    assert data["why"]["names"] == [{"name": "mssql/raw.orders", "rule": None}]
    assert data["dbt"] == "source.shop.raw.orders"
    assert data["why"]["runs"] == {"seen": 1, "with_failures": 0}
    assert [use["task"] for use in data["written_by"]] == ["load_orders"]
    assert data["why"]["reasons"] == [
        "no edge into it: its tasks (load_orders) read no dataset that the logs show"
    ]


def test_a_task_has_its_reads_and_writes(shown: Shown) -> None:
    data = shown("report")["data"]
    assert [use["dataset"] for use in data["reads"]] == ["mssql/Shop.analytics.mart"]
    assert data["why"]["reasons"] == ["no statement of it writes data"]


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
def test_a_missing_edge_has_its_reason(case: str, folder: Path, shown: Shown) -> None:
    statements, name, reasons = REASONS[case]
    logged(folder, *statements)
    answer = shown(name)
    assert answer["data"]["why"]["reasons"] == answer["notes"] == reasons


def test_what_is_declared_is_no_run(folder: Path, shown: Shown) -> None:
    logged(folder, "~load: INSERT a.in > a.out", "copy: INSERT a.in > a.b")
    for name, runs in (("load", 0), ("copy", 1), ("a.in", 1), ("a.out", 0)):
        assert shown(name)["data"]["why"]["runs"]["seen"] == runs, name


def test_a_former_name_is_that_of_the_table_of_today(folder: Path, shown: Shown) -> None:
    logged(folder, "load: SELECT_INTO a.in > a.out_new", "load: RENAME a.out_new > a.out")
    data = shown("a.out_new")["data"]
    assert (data["dataset"], data["former_names"]) == ("mssql/a.out", ["mssql/a.out_new"])
    assert {use["operation"] for use in data["written_by"]} == {"SELECT INTO", "RENAME"}


def test_rejected_log_input_is_named_where_an_edge_lacks(folder: Path, shown: Shown) -> None:
    logged(folder, "load: INSERT a.in > a.out", rejects=(Reject("log", "event 7", "cut off"),))
    why = shown("a.in")["data"]["why"]
    also = "input of such logs was rejected, see `graft doctor`"
    assert why["reasons"] == [f"{INTO}no statement in the logs wrote it; {also}"]
    assert why["rejects"] == [{"origin": "log", "position": "event 7", "reason": "cut off"}]


@for_each("origin, named", [("other", False), ("cannot be read", True)])
def test_a_reject_counts_unless_its_log_shows_other_platforms_alone(
    origin: str, named: bool, folder: Path, shown: Shown
) -> None:
    statements = ("load: INSERT a.in > a.out", "copy: INSERT file/x > file/y")
    rejects = (Reject(origin, "event 7", "cut off"),)
    (folder / "graft.yml").write_text("collect: [{spark: {path: cannot be read}}]")
    logged(folder, *statements, rejects=rejects, other="copy")
    [reason] = shown("a.in")["data"]["why"]["reasons"]
    assert reason.startswith(f"{INTO}no statement in the logs wrote it")
    assert ("rejected" in reason) == named


# The rules, the dataset of the log -> the rule that counts, dbt's node and those that are alike.
MATCHES: dict[str, tuple[str, str, tuple[str | None, str | None, list[str]]]] = {
    "by a rule": (
        "names: [{from: 'file/mnt/*', to: 'mssql/Shop.raw.*'}]",
        "file/mnt/orders",
        ("file/mnt/* -> mssql/Shop.raw.*", "source.shop.raw.orders", []),
    ),
    "by its short name": ("", "mssql/RAW.Orders", (None, "source.shop.raw.orders", [])),
    "by its name": ("", "mssql/Shop.raw.orders", (None, "source.shop.raw.orders", [])),
    "by a rule into a former namespace": (
        "names: [{from: 'file/mnt/*', to: 'spark/Shop.raw.*'}]\ndbt: {former_namespaces: [spark]}",
        "file/mnt/orders",
        ("file/mnt/* -> spark/Shop.raw.*", "source.shop.raw.orders", []),
    ),
    "in another namespace": ("", "spark/lake.orders", (None, None, ["mssql/Shop.raw.orders"])),
    "not at all": ("", "mssql/Shop.raw.nothing", (None, None, [])),
}


@pytest.mark.parametrize("case", MATCHES)
def test_a_dataset_has_the_relation_and_the_rule_that_gave_it(
    case: str, folder: Path, shown: Shown
) -> None:
    rules, dataset, expected = MATCHES[case]
    (folder / "graft.yml").write_text(rules)
    logged(folder, f"load: INSERT mssql/a.in > {dataset}")
    why = shown(dataset)["data"]["why"]
    assert (why["names"][0]["rule"], why["relation"], why["alike"]) == expected


def test_a_name_that_fits_two_relations_has_both(folder: Path, shown: Shown) -> None:
    manifest = orjson.loads((folder / "target/manifest.json").read_bytes())
    twin = manifest["sources"]["source.shop.raw.orders"] | {
        "database": "Archive",
        "unique_id": "source.shop.old.orders",
    }
    manifest["sources"]["source.shop.old.orders"] = twin
    for maps in ("parent_map", "child_map"):
        manifest[maps]["source.shop.old.orders"] = []
    (folder / "target/manifest.json").write_bytes(orjson.dumps(manifest))
    assert shown("mssql/raw.orders")["notes"][0] == (
        "its name fits several relations of dbt: mssql/Archive.raw.orders, mssql/Shop.raw.orders; "
        "decide with a rule under `names`"
    )


def test_a_model_of_another_dbt_project_is_a_task(folder: Path, shown: Shown) -> None:
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
    data = shown(name)["data"]
    assert [read["dataset"] for read in data["reads"]] == ["mssql/Shop.dbo.a"]
    assert [write["dataset"] for write in data["writes"]] == ["mssql/Shop.dbo.b"]
    assert data["why"]["runs"]["seen"] == 1


def test_an_edge_that_yaml_declares_too_has_both_evidences(folder: Path, shown: Shown) -> None:
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
    data = shown("a.out")["data"]
    assert data["why"]["edges"][0]["evidences"] == [
        {"evidence": "observed", "source": "SQL Server log"},
        {"evidence": "declared", "source": "shop.yml"},
    ]
    assert [use["evidence"] for use in data["written_by"]] == ["declared", "observed"]


def test_people_get_it_in_tables(folder: Path) -> None:
    logged(
        folder,
        "load: SELECT_INTO raw.orders > #t~7",
        "load: SELECT_INTO raw.orders > #t~8",
        "load: INSERT #t~7 > a.out",
        "!load: DELETE > a.out",
    )
    config = ["-c", str(folder / "graft.yml")]
    done = CliRunner().invoke(main, ["show", "load", "--why", *config])
    assert (
        done.output
        == """\
load: task, SQL Server
  runs  1

reads (2)
                         operation    times  last
  #t                     INSERT       1      2026-11-20 02:00  temporary
  mssql/Shop.raw.orders  SELECT INTO  2      2026-11-20 02:00

writes (3)
               operation    times  last
  #t           SELECT INTO  2      2026-11-20 02:00  temporary
  mssql/a.out  DELETE       1      2026-11-20 02:00  failed
  mssql/a.out  INSERT       1      2026-11-20 02:00

runs (1)
          started           took
  load-1  2026-11-20 02:00  0.0 s  ok

edges (1)
  from                   to           by    evidence  through
  mssql/Shop.raw.orders  mssql/a.out  load  observed  #t

statements (4)
  parsed  SELECT_INTO raw.orders > #t~7
  parsed  SELECT_INTO raw.orders > #t~8
  parsed  INSERT #t~7 > a.out
  parsed  DELETE > a.out
"""
    )
