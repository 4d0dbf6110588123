"""Evidence of the edges of a dataset or a task, and reasons why it lacks some."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dbt_graft.analysis.answer import Cell, Table
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.analysis.render.phrases import count, join_names, time_text
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.names import shown_name
from dbt_graft.graft.questions.show.facts import BEGINNING
from dbt_graft.lineage.building.transient import transient
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period_text import period_json, period_text
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import open_tasks, shapes_of
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import NameRules
from dbt_graft.lineage.records import Access, Direction, Evidence, Outcome, Records, Run, Status

_CLOSE, _STATEMENT = 3, 100
_USE = ("task", "dataset", "operation", "status", "kind", "evidence")
_NEW = (Role.ADDED, Role.NEW_SOURCE)


@frozen
class Evidences:
    """Everything that shows, or should show, edges.

    Attributes:
        records: The store's, under the names of the logs.
        names: The names of the logs -> the datasets.
        rules: The rules of graft.yml for names.
        candidates: A name in logs -> the relations of dbt that it may mean.
    """

    described: DescribedLineage
    records: Records
    names: Mapping[DatasetId, DatasetId]
    rules: NameRules
    candidates: Callable[[DatasetId], tuple[DatasetId, ...]]

    def accesses(self, thing: DatasetId | str) -> list[Access]:
        """The accesses of a dataset under each of its names, or of a task."""
        if isinstance(thing, str):
            return [access for access in self.records.accesses if access.task == thing]
        names = {name for name, dataset in self.names.items() if dataset == thing}
        return [access for access in self.records.accesses if access.dataset in names]

    def relation(self, dataset: DatasetId) -> str | None:
        """dbt's id of a dataset that it knows by itself."""
        description = self.described.descriptions.get(dataset)
        return description.dbt_ids[0] if description and description.role not in _NEW else None


def read_evidences(asked: AskedLineage) -> Evidences:
    """The evidences of a project."""
    index = asked.index
    candidates = index.short_names.candidates if index.short_names else lambda _: ()
    rules = asked.config.name_rules
    return Evidences(index.described, index.records, index.names, rules, candidates)


def uses(
    accesses: Iterable[Access], direction: Direction, evidences: Evidences
) -> list[dict[str, Any]]:
    """The reads, or writes, among accesses, each kind once."""

    def use_of(access: Access) -> tuple[str, ...]:
        dataset = shown_name(evidences.names.get(access.dataset, access.dataset))
        how = (access.operation, access.status, access.kind, access.evidence)
        return (access.task, dataset, *map(str, how))

    rows = []
    relevant = (access for access in accesses if access.direction is direction)
    accesses_by_use = group_by_key((use_of(access), access) for access in relevant)
    for use, alike in sorted(accesses_by_use.items()):
        newest = max(alike, key=lambda access: access.last_at or BEGINNING)
        rows.append(
            {
                **dict(zip(_USE, use, strict=True)),
                "statements": sum(access.statements for access in alike),
                "last_at": exact_iso(newest.last_at),
                "last_dates": period_text(newest.periods),
                "last_periods": period_json(newest.periods),
                "last_positions": [asdict(position) for position in newest.positions],
            }
        )
    return rows


def use_table(title: str, rows: Iterable[Mapping[str, Any]], user: str) -> Table:
    """Reads or writes as a table.

    Args:
        user: `task` or `dataset`: the one that the answer is not about.
    """
    head = ("", "operation", "times", "last", "dates of data", "")
    cells = []
    for row in rows:
        marks = ["failed"] * (row["status"] == Status.FAILED)
        marks += ["temporary"] * (row["kind"] == Kind.TEMPORARY)
        marks += [row["evidence"]] * (row["evidence"] != Evidence.OBSERVED)
        # Of what people declare nobody knows how it is done, nor how often.
        is_declared = row["evidence"] == Evidence.DECLARED
        done = ("", "") if is_declared else (row["operation"], row["statements"])
        when = (time_text(row["last_at"]), row["last_dates"])
        cells.append((row[user], *done, *when, ", ".join(marks)))
    return Table(title, head, cells)


def why(thing: DatasetId | str, accesses: Sequence[Access], evidences: Evidences) -> dict[str, Any]:
    """The evidence of a dataset's or a task's edges, and reasons for those that are not there."""
    records, flows = evidences.records, evidences.described.lineage.flows
    runs = [run for run in records.runs if run.task == thing]
    origins = {run.origin for run in runs} | {access.origin for access in accesses}
    if isinstance(thing, DatasetId):
        edges = [*(f for f in flows if f.target == thing), *(f for f in flows if f.source == thing)]
        about = _names(thing, accesses, evidences)
        reasons = [
            f"no edge {'into' if into else 'from'} it: {reason}"
            for into in (True, False)
            if not any((flow.target if into else flow.source) == thing for flow in edges)
            for reason in _missing(thing, accesses, evidences, into=into)
        ]
    else:
        edges, about = [flow for flow in flows if flow.task == thing], {}
        reasons = [*_idle(accesses), *_open(thing, evidences.described.lineage)]
    # Of the lineage: what the store's records of a statement lack, others may have.
    all_shapes = evidences.described.lineage.shapes
    shapes = map(all_shapes.get, dict.fromkeys(shapes_of(accesses, runs)))
    # What people or a JobEvent declare is no run.
    done = [access for access in accesses if access.evidence.is_of_runs or access.last_at]
    return {
        **about,
        "runs": _runs(runs or done, records),
        # Without literals, as in the store.
        "statements": [
            {"outcome": str(shape.outcome), "reason": shape.reason, "text": shape.text}
            for shape in shapes
            if shape
        ],
        "edges": [*map(_edge, edges)],
        "rejects": [
            {"origin": reject.origin, "position": reject.position, "reason": reject.reason}
            for reject in records.rejects
            if reject.origin in origins
        ],
        "reasons": reasons,
    }


def why_tables(evidence: Mapping[str, Any]) -> Iterator[Table]:
    """The evidence as tables."""
    names = {(name["name"], name["rule"] or ""): None for name in evidence.get("names", ())}
    for title, head, rows in (
        ("edges", ("from", "to", "by", "evidence", "through"), map(_edge_row, evidence["edges"])),
        ("statements", ("", "", "reason"), map(_statement_row, evidence["statements"])),
        ("names in logs", ("", "rule"), names),
        ("rejected", ("", "", ""), (tuple(reject.values()) for reject in evidence["rejects"])),
    ):
        yield Table(title, head, [*rows])


def _names(dataset: DatasetId, accesses: Iterable[Access], evidences: Evidences) -> dict[str, Any]:
    """The names of a dataset, with the rules that gave them, and dbt's relation of it."""
    relation = evidences.relation(dataset)
    last = dataset.parts[-1].casefold() if dataset.parts else ""
    return {
        "names": [
            {
                "name": shown_name(name),
                "rule": f"{rule.source} -> {rule.target}" if rule else None,
            }
            for name in sorted({access.dataset for access in accesses} or {dataset})
            for rule in (evidences.rules.rule_for(name),)
        ],
        "relation": relation,
        "ambiguous": [*map(str, evidences.candidates(dataset))],
        # Relations of dbt with its last name.
        "alike": [
            str(other)
            for other in sorted(evidences.described.descriptions)
            if relation is None
            and evidences.relation(other)
            and other.parts
            and other.parts[-1].casefold() == last
        ][:_CLOSE],
    }


def _missing(
    dataset: DatasetId, accesses: Sequence[Access], evidences: Evidences, *, into: bool
) -> Iterator[str]:
    """Reasons why a dataset has no edge in a direction."""
    records, names = evidences.records, evidences.names
    direction, verb = (Direction.WRITE, "wrote") if into else (Direction.READ, "read")
    relevant = [access for access in accesses if access.direction is direction]
    moving = [access for access in relevant if _moves(access)]
    definition = evidences.described.lineage.definition(dataset) if into else None
    if definition and not moving:
        yield definition.gap or "its query names no table"
    elif any(access.kind is Kind.TEMPORARY for access in accesses):
        yield "it is a temporary table: edges go through it to lasting datasets"
    elif dataset in {names.get(name, name) for name in transient(records.accesses)}:
        yield "each run that made it dropped it: edges go through it to lasting datasets"
    elif not relevant:
        is_doubtful = _rejects_beside(dataset, evidences)
        also = "; input of such logs was rejected, see `graft doctor`" if is_doubtful else ""
        yield f"no statement in the logs {verb} it{also}"
    elif not moving:
        yield f"no statement {verb} its data{_failures(relevant)}"
    else:
        tasks = {access.task for access in moving}
        others = {
            names.get(access.dataset, access.dataset)
            for access in records.accesses
            if access.task in tasks and access.direction is not direction and _moves(access)
        }
        by = f"its tasks ({', '.join(sorted(tasks))})"
        if others - {dataset}:
            yield "no run of its tasks carried data between it and another lasting dataset"
        elif others:
            yield f"{by} use no other dataset"
        else:
            yield f"{by} {'read' if into else 'wrote'} no dataset that the logs show"
    last = dataset.parts[-1] if dataset.parts else ""
    its_name = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)", re.IGNORECASE)
    unread = [
        shape
        for shape in evidences.described.lineage.shapes.values()
        if shape.outcome is not Outcome.PARSED and last and its_name.search(shape.text)
    ]
    if unread:
        causes = join_names(sorted({shape.reason for shape in unread if shape.reason}))
        statements = count(len(unread), "statement")
        yield f"{statements} with its name could not be read, or only in part: {causes}"


def _rejects_beside(dataset: DatasetId, evidences: Evidences) -> bool:
    """Input was rejected of a log that shows datasets beside this one, or none at all."""
    namespaces: dict[str, set[str]] = defaultdict(set)
    for access in evidences.records.accesses:
        name = evidences.names.get(access.dataset, access.dataset)
        namespaces[access.origin].add(name.namespace)
    return any(
        dataset.namespace in namespaces.get(reject.origin, {dataset.namespace})
        for reject in evidences.records.rejects
    )


def _idle(accesses: Sequence[Access]) -> Iterator[str]:
    """Reasons why a task has no edges."""
    if not accesses:
        yield "no statement of its runs is known to read or write a dataset"
        return
    for direction, verb in ((Direction.READ, "reads"), (Direction.WRITE, "writes")):
        relevant = [access for access in accesses if access.direction is direction]
        if not any(map(_moves, relevant)):
            yield f"no statement of it {verb} data{_failures(relevant)}"


def _open(task: str, lineage: Lineage) -> Iterator[str]:
    """Reasons why a task may have more edges."""
    for reason in open_tasks(lineage).get(task, ()):
        yield f"it may read or write more than is known: {reason}"


def _moves(access: Access) -> bool:
    if access.status is Status.FAILED:
        return False
    operation = access.operation
    return operation.reads_data if access.direction is Direction.READ else operation.brings_data


def _failures(accesses: Sequence[Access]) -> str:
    failed = sum(access.status is Status.FAILED for access in accesses)
    others = sorted({str(a.operation) for a in accesses if a.status is not Status.FAILED})
    parts = [f"{failed} failed"] * bool(failed) + [", ".join(others)] * bool(others)
    return f" ({'; '.join(parts)})" if parts else ""


def _runs(records_of_runs: Iterable[Run | Access], records: Records) -> dict[str, int]:
    """The number of runs, with those that are folded."""
    repeats = {(repeat.task, repeat.run_id): repeat.runs for repeat in records.run_repeats}
    statuses = group_by_key(((run.task, run.run_id), run.status) for run in records_of_runs)
    counts = {run: 1 + repeats.get(run, 0) for run in statuses}
    failed = sum(counts[run] for run in counts if Status.FAILED in statuses[run])
    return {"seen": sum(counts.values()), "with_failures": failed}


def runs_text(runs: Mapping[str, int]) -> str:
    """`32, 2 with failures`"""
    failed = runs["with_failures"]
    return f"{runs['seen']:,}" + (f", {failed:,} with failures" if failed else "")


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


def _edge_row(edge: Mapping[str, Any]) -> tuple[Cell, ...]:
    sources = " · ".join(f"{each['evidence']} ({each['source']})" for each in edge["evidences"])
    through = [*edge["through"], *["the task's memory"] * edge["through_memory"]]
    evidence = sources or edge["evidence"]
    return edge["from"], edge["to"], edge["task"], evidence, ", ".join(through)


def _statement_row(statement: Mapping[str, Any]) -> tuple[Cell, ...]:
    text = textwrap.shorten(statement["text"], _STATEMENT, placeholder=" …")
    return statement["outcome"], text, statement["reason"] or ""
