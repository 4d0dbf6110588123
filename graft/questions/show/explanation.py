"""Reasons why a table or a task has, or lacks, edges: all that the store and dbt know of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.graft.project.named_datasets import close_to, datasets_named, shown_name
from dbt_graft.lineage.building.orchestration import orchestrator_task
from dbt_graft.lineage.building.renames import follow_renames
from dbt_graft.lineage.building.transient import transient
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period_text import period_json, period_text
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import NameRules, Rename
from dbt_graft.lineage.records import Access, Direction, Outcome, Records, Status

_CLOSE = 3


@dataclass(frozen=True)
class Evidences:
    """The inputs of an explanation.

    Attributes:
        records: The store's, under the names of the logs.
        name: The name of a dataset after the rules, in dbt's spelling.
        lineage: What became of them.
        nodes: dbt's nodes of datasets; empty without dbt's artifacts.
        ambiguous: Names that fit several relations of dbt.
    """

    records: Records
    rules: NameRules
    name: Rename
    lineage: Lineage
    nodes: Mapping[DatasetId, str] = field(default_factory=dict)
    ambiguous: Mapping[DatasetId, tuple[DatasetId, ...]] = field(default_factory=dict)


def known_names(evidences: Evidences) -> tuple[list[str], list[DatasetId]]:
    """All tasks, and all datasets: as the logs name them, as rules do, and dbt's."""
    tasks = {run.task for run in evidences.records.runs}
    tasks |= {access.task for access in evidences.records.accesses}
    datasets = {access.dataset for access in evidences.records.accesses}
    datasets |= {evidences.name(dataset) for dataset in datasets} | set(evidences.nodes)
    return sorted(tasks), sorted(datasets)


def find_matches(name: str, evidences: Evidences) -> tuple[list[str], list[DatasetId]]:
    """The tasks and datasets that a person means: by their whole name, or the end of it."""
    tasks, datasets = known_names(evidences)
    same = [task for task in tasks if task.casefold() == name.casefold()]
    return same, datasets_named(name, {dataset: evidences.name(dataset) for dataset in datasets})


def close_names(name: str, evidences: Evidences) -> list[str]:
    """Names that are spelled nearly so, or else contain it."""
    tasks, datasets = known_names(evidences)
    close = [*difflib.get_close_matches(name, tasks, 3), *close_to(name, datasets)]
    wanted = name.casefold()
    close = close or sorted(task for task in tasks if wanted in task.casefold())
    return close[:_CLOSE]


def explain_task(task: str, evidences: Evidences) -> dict[str, Any]:
    """The store's knowledge of a task, as JSON values."""
    accesses = [access for access in evidences.records.accesses if access.task == task]
    runs = [run for run in evidences.records.runs if run.task == task]
    origins = {run.origin for run in runs} | {access.origin for access in accesses}
    flows = [flow for flow in evidences.lineage.flows if flow.task == task]
    reasons = []
    if not accesses:
        reasons.append("its runs have no statement that reads or writes a dataset")
    for direction, verb in ((Direction.READ, "reads"), (Direction.WRITE, "writes")):
        if accesses and not any(_moves(a) for a in accesses if a.direction is direction):
            reasons.append(f"no statement of it {verb} data" + _failures_text(accesses, direction))
    return {
        "task": task,
        "runs": _runs([(run.task, run.run_id, run.status) for run in runs], evidences.records),
        "run_by": _run_by(task, evidences),
        "reads": _uses(accesses, Direction.READ, evidences),
        "writes": _uses(accesses, Direction.WRITE, evidences),
        "statements": _statements(accesses, evidences.records),
        "edges": [_edge(flow) for flow in flows],
        "rejects": [
            {"origin": reject.origin, "position": reject.position, "reason": reject.reason}
            for reject in evidences.records.rejects
            if reject.origin in origins
        ],
        "reasons": reasons,
    }


def _run_by(task: str, evidences: Evidences) -> list[dict[str, str]]:
    """The tasks of an orchestrator that a task's runs belong to."""
    lineage = evidences.lineage
    runs = lineage.tasks[task].runs if task in lineage.tasks else ()
    by = {
        (parent.engine, parent.dag, parent.task)
        for run in runs
        if (parent := orchestrator_task(run, lineage.history.orchestrator_runs))
    }
    return [{"engine": engine, "dag": dag, "task": name} for engine, dag, name in sorted(by)]


def explain_dataset(dataset: DatasetId, evidences: Evidences) -> dict[str, Any]:
    """The store's knowledge of a dataset, as JSON values."""
    named = {a.dataset: evidences.name(a.dataset) for a in evidences.records.accesses}
    accesses = [a for a in evidences.records.accesses if named[a.dataset] == dataset]
    into = [flow for flow in evidences.lineage.flows if flow.target == dataset]
    out = [flow for flow in evidences.lineage.flows if flow.source == dataset]
    spellings = sorted({access.dataset for access in accesses} or {dataset})
    reasons = []
    if not into:
        reasons += [
            f"no edge into it: {why}" for why in _no_edge(dataset, accesses, evidences, True)
        ]
    if not out:
        reasons += [
            f"no edge from it: {why}" for why in _no_edge(dataset, accesses, evidences, False)
        ]
    return {
        "dataset": shown_name(dataset),
        "names": [
            {
                "name": shown_name(spelling),
                "rule": _rule(spelling, evidences),
                "relation": shown_name(evidences.name(spelling)),
            }
            for spelling in spellings
        ],
        "node": evidences.nodes.get(dataset),
        "ambiguous": [str(relation) for relation in evidences.ambiguous.get(dataset, ())],
        "alike": _similar_relations(dataset, evidences),
        "former_names": [str(former) for former in evidences.lineage.names.former.get(dataset, ())],
        "runs": _runs({(a.task, a.run_id, a.status) for a in accesses}, evidences.records),
        "read_by": _uses(accesses, Direction.READ, evidences),
        "written_by": _uses(accesses, Direction.WRITE, evidences),
        "statements": _statements(accesses, evidences.records),
        "edges": [_edge(flow) for flow in (*into, *out)],
        "reasons": reasons,
    }


def _no_edge(
    dataset: DatasetId, accesses: Sequence[Access], evidences: Evidences, into: bool
) -> Iterator[str]:
    """Reasons why a dataset has no edge in a direction."""
    direction = Direction.WRITE if into else Direction.READ
    verb = "wrote" if into else "read"
    relevant = [access for access in accesses if access.direction is direction]
    moving = [access for access in relevant if _moves(access)]
    if new := _new_name(dataset, evidences):
        yield f"it was renamed to {new}, which has its edges"
    elif any(access.kind is Kind.TEMPORARY for access in accesses):
        yield "it is a temporary table: edges go through it to lasting datasets"
    elif dataset in _gone_datasets(evidences):
        yield "each run that made it dropped it: edges go through it to lasting datasets"
    elif not relevant:
        rejected = "; log input was rejected, see `graft doctor`"
        also = rejected if evidences.records.rejects else ""
        yield f"no statement in the logs {verb} it{also}"
    elif not moving:
        yield f"no statement {verb} its data{_failures_text(relevant, direction)}"
    else:
        tasks = {access.task for access in moving}
        other = Direction.READ if into else Direction.WRITE
        others = {
            evidences.name(access.dataset)
            for access in evidences.records.accesses
            if access.task in tasks and access.direction is other and _moves(access)
        }
        if others - {dataset}:
            yield "no run of its tasks carried data between it and another lasting dataset"
        elif others:
            yield f"its tasks ({', '.join(sorted(tasks))}) use no other dataset"
        else:
            done = "read" if into else "wrote"
            yield f"its tasks ({', '.join(sorted(tasks))}) {done} no dataset that the logs show"
    last = dataset.parts[-1].casefold() if dataset.parts else ""
    unread = [
        shape
        for shape in evidences.records.shapes.values()
        if shape.outcome is not Outcome.PARSED and last and last in shape.text.casefold()
    ]
    if unread:
        statements = count(len(unread), "statement")
        why = join_names(sorted({shape.reason for shape in unread if shape.reason}))
        yield f"{statements} with its name could not be read, or only in part: {why}"


def _similar_relations(dataset: DatasetId, evidences: Evidences) -> list[str]:
    """Relations of dbt with the dataset's last name, which none has as a whole."""
    if dataset in evidences.nodes or not dataset.parts:
        return []
    last = dataset.parts[-1].casefold()
    same = [
        relation
        for relation in evidences.nodes
        if relation.parts and relation.parts[-1].casefold() == last
    ]
    return [str(relation) for relation in sorted(same)[:_CLOSE]]


def _moves(access: Access) -> bool:
    if access.status is Status.FAILED:
        return False
    operation = access.operation
    return operation.reads_data if access.direction is Direction.READ else operation.brings_data


def _failures_text(accesses: Iterable[Access], direction: Direction) -> str:
    relevant = [access for access in accesses if access.direction is direction]
    failed = sum(access.status is Status.FAILED for access in relevant)
    others = sorted({str(a.operation) for a in relevant if a.status is not Status.FAILED})
    parts = [f"{failed} failed"] * bool(failed) + [", ".join(others)] * bool(others)
    return f" ({'; '.join(parts)})" if parts else ""


def _new_name(dataset: DatasetId, evidences: Evidences) -> DatasetId | None:
    for new, former in evidences.lineage.names.former.items():
        if dataset in former:
            return new
    dead = follow_renames(evidences.records.accesses, ()).dead
    return next((new for old, new in dead.items() if evidences.name(old) == dataset), None)


def _gone_datasets(evidences: Evidences) -> set[DatasetId]:
    return {evidences.name(dataset) for dataset in transient(evidences.records.accesses)}


def _rule(dataset: DatasetId, evidences: Evidences) -> str | None:
    rule = evidences.rules.rule_for(dataset)
    return f"{rule.source} -> {rule.target}" if rule else None


def _runs(runs: Iterable[tuple[str, str, Status]], records: Records) -> dict[str, int]:
    """The number of runs, with those that are folded."""
    repeats = {(repeat.task, repeat.run_id): repeat.runs for repeat in records.run_repeats}
    statuses_by_run: dict[tuple[str, str], set[Status]] = {}
    for task, run_id, status in runs:
        statuses_by_run.setdefault((task, run_id), set()).add(status)
    counts = {run: 1 + repeats.get(run, 0) for run in statuses_by_run}
    failed = sum(
        counts[run] for run, statuses in statuses_by_run.items() if Status.FAILED in statuses
    )
    return {"seen": sum(counts.values()), "with_failures": failed}


def _uses(
    accesses: Iterable[Access], direction: Direction, evidences: Evidences
) -> list[dict[str, Any]]:
    counted: dict[tuple[str, str, str, str, str], int] = {}
    newest: dict[tuple[str, str, str, str, str], Access] = {}
    for access in accesses:
        if access.direction is direction:
            key = (
                *(access.task, shown_name(evidences.name(access.dataset)), str(access.operation)),
                *(str(access.status), str(access.kind)),
            )
            counted[key] = counted.get(key, 0) + access.statements
            if key not in newest or _end_time(access) >= _end_time(newest[key]):
                newest[key] = access
    names = ("task", "dataset", "operation", "status", "kind")
    return [
        {
            **dict(zip(names, key, strict=True)),
            "statements": number,
            "last_dates": period_text(newest[key].periods),
            "last_periods": period_json(newest[key].periods),
            "last_positions": [asdict(position) for position in newest[key].positions],
        }
        for key, number in sorted(counted.items())
    ]


def _end_time(access: Access) -> datetime:
    return access.last_at or datetime.min.replace(tzinfo=UTC)


def _statements(accesses: Iterable[Access], records: Records) -> list[dict[str, Any]]:
    """The shapes of statements, without literals as in the store."""
    shapes = dict.fromkeys(access.shape_id for access in accesses)
    return [
        {"outcome": str(shape.outcome), "reason": shape.reason, "text": shape.text}
        for shape in map(records.shapes.get, shapes)
        if shape
    ]


def _edge(flow: Flow) -> dict[str, Any]:
    return {
        "from": shown_name(flow.source),
        "to": shown_name(flow.target),
        "task": flow.task,
        "through": list(dict.fromkeys(map(shown_name, flow.hops))),
        "through_memory": flow.through_memory,
        "evidence": str(flow.evidence),
        "evidences": [
            {"evidence": str(source.evidence), "source": source.source} for source in flow.evidences
        ],
    }
