"""Made-up lineages of any number of tables, and small changes to them, for tests of keys."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History, Supersession
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.names import DatasetNames
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Evidence,
    NodeResult,
    Outcome,
    Run,
    Shape,
    Status,
    Subtype,
    TaskInfo,
)
from dbt_graft.lineage.usage import Usage

NOW = datetime(2026, 11, 21, 2, 15, tzinfo=UTC)


Change = Callable[["World", random.Random], None]


@dataclass
class World:
    """The lineage of some tables in a line, each made from tables shortly before it.

    Tables are numbers; every second one is a dbt model, the others are written by tasks.

    Attributes:
        parents: Table -> the tables that it is made from.
        renamed: Table -> the name that it has now.
        column_edges: Table, column, parent, its column, subtype.
        consumers: Name -> kind and tables.
    """

    parents: dict[int, list[int]] = field(default_factory=dict)
    renamed: dict[int, str] = field(default_factory=dict)
    columns: dict[int, list[str]] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    column_edges: list[tuple[int, str, int, str, Subtype]] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    tags: dict[int, tuple[str, ...]] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)
    roles: dict[int, Role] = field(default_factory=dict)
    kinds: dict[int, Kind] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    tests: dict[int, list[str]] = field(default_factory=dict)
    runs: dict[int, list[Status]] = field(default_factory=dict)
    results: dict[str, list[str]] = field(default_factory=dict)
    infos: dict[int, TaskInfo] = field(default_factory=dict)
    statements: dict[int, str] = field(default_factory=dict)
    consumers: dict[str, tuple[str, list[int]]] = field(default_factory=dict)
    former: dict[int, str] = field(default_factory=dict)
    views: set[int] = field(default_factory=set)
    attempts: dict[int, int] = field(default_factory=dict)
    superseded: set[int] = field(default_factory=set)

    def id(self, table: int) -> DatasetId:
        """The table's dataset."""
        return DatasetId("spark", self.renamed.get(table, f"shop.table_{table:02}"))

    def is_model(self, table: int) -> bool:
        """Whether dbt makes the table."""
        return table % 2 == 1 and table not in self.views

    def lineage(self) -> tuple[Lineage, dict[DatasetId, Description], list[Consumer]]:
        """The arguments of `catalog.build`."""
        definitions, flows, tasks = {}, [], {}
        for table, parents in self.parents.items():
            target, sources = self.id(table), tuple(sorted(map(self.id, parents)))
            if self.is_model(table) or table in self.views:
                kind = DefinitionKind.VIEW if table in self.views else DefinitionKind.DBT
                name = f"{kind}.shop.{table}"
                definitions[name] = Definition(
                    name, kind, target, sources, Operation.CREATE_VIEW, (f"s{table}",)
                )
                declared = Evidence.DECLARED
                flows += [
                    Flow(s, target, name, evidence=declared, definition=kind) for s in sources
                ]
            else:
                tasks[f"load_{table:02}"] = self._task(table, sources)
                last = NOW + timedelta(hours=len(self.runs[table]))
                flows += [
                    Flow(s, target, f"load_{table:02}", shapes=(f"s{table}",), last_at=last)
                    for s in sources
                ]
        lineage = Lineage(
            datasets={self.id(column): self._dataset(column) for column in sorted(self.columns)},
            tasks=dict(sorted(tasks.items())),
            flows=tuple(sorted(flows, key=lambda f: (f.target, f.source, f.task))),
            shapes={
                f"s{one}": Shape(f"s{one}", "spark", text, "sqlglot", Outcome.PARSED)
                for one, text in self.statements.items()
            },
            column_edges=tuple(self._edge(*edge) for edge in self.column_edges),
            definitions=definitions,
            history=History(
                orchestrator_runs={
                    f"try_{one}": Run(
                        f"try_{one}", "load", "airflow", application_id="d/t/r", attempt=number
                    )
                    for one, number in self.attempts.items()
                },
                superseded={
                    (f"load_{one:02}", f"load_{one:02}-0"): (Supersession("repair", "r1", NOW),)
                    for one in self.superseded
                },
            ),
            names=DatasetNames(
                former={
                    self.id(one): (DatasetId("spark", name),) for one, name in self.former.items()
                }
            ),
            dbt=DbtRuns(
                node_results={
                    node: tuple(self._result(node, n, word) for n, word in enumerate(words))
                    for node, words in self.results.items()
                }
            ),
        )
        consumers = [
            Consumer(f"exposure.shop.{name}", name, kind, tuple(sorted(map(self.id, reads))))
            for name, (kind, reads) in sorted(self.consumers.items())
        ]
        return lineage, {self.id(role): self._description(role) for role in self.roles}, consumers

    def _dataset(self, table: int) -> Dataset:
        columns = tuple(Column(name, self.types.get(table, "int")) for name in self.columns[table])
        dropped = NOW if table in self.dropped else None
        kind = Kind.VIEW if table in self.views else self.kinds.get(table, Kind.TABLE)
        return Dataset(self.id(table), kind, columns, dropped_at=dropped)

    def _description(self, table: int) -> Description:
        node = f"model.shop.{table}"
        return Description(
            self.id(table),
            node,
            f"table_{table}",
            self.roles[table],
            self.texts.get(table, ""),
            self.owners.get(table, ""),
            self.tags.get(table, ()),
            tests=tuple(
                NodeTest(f"test.shop.{table}.{name}", name) for name in self.tests.get(table, ())
            ),
            dbt_ids=(node,),
        )

    def _task(self, table: int, sources: tuple[DatasetId, ...]) -> Task:
        name, statuses = f"load_{table:02}", self.runs[table]
        runs = tuple(
            Run(
                f"{name}-{n}",
                name,
                "spark",
                started_at=NOW + timedelta(hours=n),
                ended_at=NOW + timedelta(hours=n, seconds=30 + n),
                status=status,
                parent_run_id=f"try_{table}",
            )
            for n, status in reversed(list(enumerate(statuses)))
        )
        ids = tuple(sorted(run.run_id for run in runs))
        common = {"shapes": (f"s{table}",), "engine": "spark", "run_ids": ids, "rows": 10}
        last = NOW + timedelta(hours=len(statuses))
        read, write = Direction.READ, Direction.WRITE
        usages = [Usage(name, dataset, read, last_at=last, **common) for dataset in sources]
        usages.append(Usage(name, self.id(table), write, last_at=last, **common))
        info = self.infos.get(table, TaskInfo())
        return Task(name, ("spark",), tuple(sorted(usages, key=lambda u: u.dataset)), runs, info)

    def _edge(self, to: int, column: str, source: int, name: str, subtype: Subtype) -> ColumnEdge:
        maker = "load_%02d" if not self.is_model(to) else "dbt.shop.%d"
        ends = (self.id(to), column, self.id(source), name)
        return ColumnEdge(maker % to, *ends, subtype.type, subtype, masking=False, shape_id="")

    def _result(self, node: str, n: int, word: str) -> NodeResult:
        status = Status.OK if word in ("success", "pass") else Status.FAILED
        return NodeResult(node, f"i{n}", "build", word, status, NOW - timedelta(days=n), rows=n)


def world(seed: int, tables: int = 18) -> World:
    """A lineage with one of everything, and cycles in some."""
    chance = random.Random(seed)  # noqa: S311
    made = World()
    for table in range(tables):
        near = range(max(0, table - 3), table)
        parents = chance.sample(near, min(len(near), chance.randint(1, 2)))
        if chance.random() < 0.03:
            parents.append(min(tables - 1, table + 2))  # a cycle
        made.parents[table] = parents
        made.columns[table] = [f"c{n}" for n in range(chance.randint(1, 4))]
        made.runs[table] = [Status.OK] * chance.randint(1, 3)
        made.statements[table] = f"INSERT INTO table_{table}"
        if table % 2:
            made.roles[table] = Role.MODEL
            made.texts[table] = f"Table **{table}**."
            made.tests[table] = ["unique"]
            made.results[f"model.shop.{table}"] = ["success"]
            made.results[f"test.shop.{table}.unique"] = ["pass"]
        if chance.random() < 0.1:
            made.views.add(table)
    for table, parents in made.parents.items():
        for column in made.columns[table]:
            parent = chance.choice(parents or [table])
            if parent != table:
                ends = (table, column, parent, chance.choice(made.columns.get(parent, ["c0"])))
                made.column_edges.append((*ends, chance.choice([Subtype.IDENTITY, Subtype.FILTER])))
    made.consumers["board"] = ("dashboard", [tables - 1, tables // 2])
    return made


def _pick(made: World, chance: random.Random) -> int:
    return chance.choice(sorted(made.columns))


def _pick_task(made: World, chance: random.Random) -> int:
    return chance.choice([t for t in made.parents if not made.is_model(t) and t not in made.views])


def _add_edge(made: World, chance: random.Random) -> None:
    table = _pick(made, chance)
    other = _pick(made, chance)
    if other != table and other not in made.parents[table]:
        made.parents[table] = [*made.parents[table], other]


def _remove_edge(made: World, chance: random.Random) -> None:
    table = chance.choice([one for one, parent in made.parents.items() if parent] or [0])
    made.parents[table] = made.parents[table][1:]


def _add_column_edge(made: World, chance: random.Random) -> None:
    table = chance.choice([one for one, found in made.parents.items() if found])
    parent = chance.choice(made.parents[table])
    ends = (table, chance.choice(made.columns[table]), parent, chance.choice(made.columns[parent]))
    made.column_edges.append((*ends, chance.choice(list(Subtype))))


def _remove_column_edge(made: World, chance: random.Random) -> None:
    made.column_edges.pop(chance.randrange(len(made.column_edges)))


def _remove_table(made: World, chance: random.Random) -> None:
    gone = _pick(made, chance)
    tables = (made.parents, made.columns, made.roles, made.views, made.former, made.renamed)
    for table in tables:
        if isinstance(table, set):
            table.discard(gone)
        else:
            table.pop(gone, None)
    for found in made.parents.values():
        found[:] = [parent for parent in found if parent != gone]
    made.column_edges = [edge for edge in made.column_edges if gone not in (edge[0], edge[2])]
    made.consumers = {
        name: (kind, [read for read in reads if read != gone])
        for name, (kind, reads) in made.consumers.items()
    }


def _new_table(made: World, chance: random.Random) -> None:
    new = max(made.columns) + 1
    made.parents[new] = [_pick(made, chance)]
    made.columns[new], made.runs[new], made.statements[new] = ["c0"], [Status.OK], "INSERT"


def _new_result(made: World, chance: random.Random) -> None:
    node = chance.choice(sorted(made.results))
    word = chance.choice(["success", "error", "skipped", "fail", "pass"])
    made.results[node] = [word, *made.results[node]]


def _set(name: str, values: Callable[[random.Random], object]) -> Change:
    """A change of one table's value."""

    def change(made: World, chance: random.Random) -> None:
        of = getattr(made, name)
        described = name in ("texts", "tags", "owners", "roles", "tests")
        table = chance.choice(sorted(made.roles if described else made.columns))
        of[table] = values(chance)

    return change


def _toggle(name: str) -> Change:
    def change(made: World, chance: random.Random) -> None:
        getattr(made, name).symmetric_difference_update({_pick(made, chance)})

    return change


def _run(status: Status) -> Change:
    def change(made: World, chance: random.Random) -> None:
        table = _pick_task(made, chance)
        made.runs[table] = [*made.runs[table], status]

    return change


def _attempt(made: World, chance: random.Random) -> None:
    made.attempts[_pick_task(made, chance)] = chance.randint(1, 9)


def _supersede(made: World, chance: random.Random) -> None:
    made.superseded.add(_pick_task(made, chance))


def _new_consumer(made: World, chance: random.Random) -> None:
    kind = chance.choice(["dashboard", "notebook", "analysis"])
    made.consumers[f"reader_{chance.randrange(99)}"] = (kind, [_pick(made, chance)])


def _consumer_reads(made: World, chance: random.Random) -> None:
    name = chance.choice(sorted(made.consumers))
    kind, reads = made.consumers[name]
    made.consumers[name] = (kind, sorted({*reads, _pick(made, chance)}))


def _exposed_task(made: World, chance: random.Random) -> None:
    table = _pick_task(made, chance)
    made.consumers[f"load_{table:02}"] = ("notebook", made.parents[table])


def _task_info(made: World, chance: random.Random) -> None:
    made.infos[_pick_task(made, chance)] = TaskInfo(_word(chance), _word(chance))


def _statement(made: World, chance: random.Random) -> None:
    made.statements[_pick_task(made, chance)] = f"INSERT {_word(chance)}"


def _word(chance: random.Random) -> str:
    return f"word_{chance.randrange(1000)}"


CHANGES: dict[str, Change] = {
    "a new edge": _add_edge,
    "an edge gone": _remove_edge,
    "a new column edge": _add_column_edge,
    "a column edge gone": _remove_column_edge,
    "a new table": _new_table,
    "a table gone": _remove_table,
    "a renamed table": _set("renamed", lambda chance: f"shop.{_word(chance)}"),
    "a former name": _set("former", lambda chance: f"shop.{_word(chance)}"),
    "a new column": _set("columns", lambda chance: ["c0", "c1", _word(chance)]),
    "another type": _set("types", _word),
    "a description": _set("texts", lambda chance: f"Text with a **{_word(chance)}**."),
    "a tag": _set("tags", lambda chance: ("nightly", _word(chance))),
    "an owner": _set("owners", _word),
    "another role": _set("roles", lambda chance: chance.choice(list(Role))),
    "another kind": _set("kinds", lambda chance: chance.choice([Kind.PATH, Kind.TOPIC])),
    "a dbt test": _set("tests", lambda chance: ["unique", _word(chance)]),
    "a dbt result": _new_result,
    "a run": _run(Status.OK),
    "a failed run": _run(Status.FAILED),
    "a try of Airflow's": _attempt,
    "a task's description": _task_info,
    "a task that is an exposure": _exposed_task,
    "a statement": _statement,
    "a new consumer": _new_consumer,
    "a consumer that reads more": _consumer_reads,
    "a dropped table": _toggle("dropped"),
    "a superseded run": _supersede,
    "a view": _toggle("views"),
}
