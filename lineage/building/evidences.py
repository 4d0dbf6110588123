"""Evidences of an edge: what a log shows, and an event or a declaration says too, is one edge.

Logs decide which edges there are (`lineage.precedence`); here the others are noted on these:

| source | evidence of an edge |
|---|---|
| `Spark log`, `SQL Server log` | observed; inferred from the body of a procedure |
| `OpenLineage event` | observed, by an event of a run |
| `Airflow` | declared: inlets, outlets and hooks |
| `OpenLineage job event` | declared |
| `shop.yml` | declared in that file |
| `load_orders.py` | the code of the task |

An event or a file shows an edge if one statement of it has both ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from dbt_graft.lineage.building.event_runs import EVENT_SHAPE, is_event
from dbt_graft.lineage.building.orchestration import orchestrator_runs, orchestrator_task
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import EvidenceSource, Flow
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import Access, Direction, Evidence, Run, Status
from dbt_graft.lineage.usage import UNKNOWN, Usage

_RANKS = {evidence: rank for rank, evidence in enumerate(Evidence)}
_ENGINES = {"sqlserver": "SQL Server", "dbt": "dbt"}
_Use = tuple[str, DatasetId, Direction]
_ShapeKey = tuple[str, str]
_Sources = set[EvidenceSource]


def with_evidences(
    accesses: Iterable[Access], runs: Iterable[Run], flows: list[Flow], used: list[Usage]
) -> tuple[list[Flow], list[Usage]]:
    """Flows and usages with their evidences; as they are where logs alone show them.

    Args:
        accesses: All of them, under the names that flows and usages have.
    """
    listed = list(accesses)
    others = [
        access
        for access in listed
        if (not access.evidence.is_of_runs or is_event(access))
        and access.status is not Status.FAILED
    ]
    if not others:
        return flows, used
    tasks = {access.task for access in others}
    logged = [
        access
        for access in listed
        if access.task in tasks
        and access.evidence.is_of_runs
        and not is_event(access)
        and access.status is not Status.FAILED
    ]
    sources = _SourcesOfRuns(runs)
    return (
        _with_flow_evidences(flows, logged, others, sources),
        _with_usage_evidences(used, logged, others, sources),
    )


def evidence_text(evidences: Sequence[EvidenceSource]) -> str:
    """`observed (Spark log) · declared (Airflow)`"""
    names_by_evidence = group_by_key((source.evidence, source.source) for source in evidences)
    return " · ".join(
        f"{evidence} ({', '.join(names)})" for evidence, names in names_by_evidence.items()
    )


class _SourcesOfRuns:
    """The sources of accesses, by the engines of their runs."""

    def __init__(self, runs: Iterable[Run]) -> None:
        listed = list(runs)
        self._runs = {(run.task, run.run_id): run for run in listed}
        self._orchestrators = orchestrator_runs(listed)

    def __call__(self, access: Access) -> EvidenceSource:
        return EvidenceSource(access.evidence, self._name(access))

    def engine(self, access: Access) -> str:
        """The engine of its run."""
        run = self._runs.get((access.task, access.run_id))
        return run.engine if run else UNKNOWN

    def _name(self, access: Access) -> str:
        if not is_event(access):
            if not access.evidence.is_of_runs:
                return access.origin.rpartition("#")[2].rpartition("/")[2] or "YAML"
            engine = self.engine(access)
            return "log" if engine == UNKNOWN else f"{_label(engine)} log"
        if access.evidence.is_of_runs:
            return "OpenLineage event"
        run = self._runs.get((access.task, access.run_id))
        by = orchestrator_task(run, self._orchestrators) if run else None
        return _label(by.engine) if by else "OpenLineage job event"


def _label(engine: str) -> str:
    return _ENGINES.get(engine, engine.capitalize())


def _with_flow_evidences(
    flows: Iterable[Flow],
    logged: Iterable[Access],
    others: Iterable[Access],
    sources: _SourcesOfRuns,
) -> list[Flow]:
    logs: dict[_ShapeKey, _Sources] = defaultdict(set)
    for access in logged:
        if access.direction is Direction.WRITE:
            logs[access.task, access.shape_id].add(sources(access))
    statements = _Statements(others, sources)
    return [
        replace(flow, evidences=evidences)
        if (evidences := _best_evidences(chosen)) and flow.definition is None
        else flow
        for flow in flows
        for chosen in [_log_sources(flow, logs) | statements.that_show(flow)]
    ]


def _log_sources(flow: Flow, logs: Mapping[_ShapeKey, _Sources]) -> _Sources:
    shapes = (shape for shape in flow.shapes if not shape.startswith(EVENT_SHAPE))
    sources: _Sources = set()
    return sources.union(*(logs.get((flow.task, shape), ()) for shape in shapes))


class _Statements:
    """The inputs and outputs of events and declarations, statement by statement.

    Runs repeat them: those with equal ends are one.
    """

    def __init__(self, accesses: Iterable[Access], sources: _SourcesOfRuns) -> None:
        groups = group_by_key(
            ((access.task, access.run_id, access.shape_id), access) for access in accesses
        )
        self._with_input: dict[tuple[str, DatasetId], set[int]] = defaultdict(set)
        self._with_output: dict[tuple[str, DatasetId], dict[int, EvidenceSource]] = defaultdict(
            dict
        )
        seen: set[object] = set()
        for (task, _, _), group in groups.items():
            uses = [(access.direction, access.dataset, sources(access)) for access in group]
            content = (task, frozenset(uses))
            if content in seen:
                continue
            seen.add(content)
            number = len(seen)
            for direction, dataset, source in uses:
                if direction is Direction.READ:
                    self._with_input[task, dataset].add(number)
                else:
                    self._with_output[task, dataset][number] = source

    def that_show(self, flow: Flow) -> _Sources:
        """The sources of those that have both ends of a flow."""
        inputs = self._with_input.get((flow.task, flow.source), set())
        outputs = self._with_output.get((flow.task, flow.target), {})
        return {outputs[number] for number in inputs & outputs.keys()}


def _with_usage_evidences(
    used: Iterable[Usage],
    logged: Iterable[Access],
    others: Iterable[Access],
    sources: _SourcesOfRuns,
) -> list[Usage]:
    logs: dict[_Use, dict[str, _Sources]] = defaultdict(lambda: defaultdict(set))
    for access in logged:
        use = access.task, access.dataset, access.direction
        logs[use][sources.engine(access)].add(sources(access))
    other_sources: dict[_Use, _Sources] = defaultdict(set)
    for access in others:
        other_sources[access.task, access.dataset, access.direction].add(sources(access))
    listed = list(used)
    in_lists = {
        use
        for usage in listed
        if usage.engine in logs.get(use := _use_key(usage), ())
        and usage.moves_data
        and not usage.failed
    }
    return [_with_sources(usage, logs, other_sources, in_lists) for usage in listed]


def _with_sources(
    usage: Usage,
    logs: Mapping[_Use, Mapping[str, _Sources]],
    other_sources: Mapping[_Use, _Sources],
    in_lists: Collection[_Use],
) -> Usage:
    use = _use_key(usage)
    if use not in other_sources:
        return usage
    log_sources = logs.get(use, {}).get(usage.engine, set())
    repeats = use in in_lists and not log_sources
    evidences = _best_evidences(log_sources | other_sources[use])
    best = evidences[0].evidence if evidences else usage.evidence
    return replace(usage, evidences=evidences, evidence=best, repeats=repeats)


def _use_key(usage: Usage) -> _Use:
    return usage.task, usage.dataset, usage.direction


def _best_evidences(sources: _Sources) -> tuple[EvidenceSource, ...]:
    """The sources, each with its best evidence, strongest first; none if there is one alone."""
    best: dict[str, EvidenceSource] = {}
    for source in sorted(sources, key=_strength, reverse=True):
        best[source.source] = source
    return tuple(sorted(best.values(), key=_strength)) if len(best) > 1 else ()


def _strength(source: EvidenceSource) -> tuple[int, str]:
    return _RANKS[source.evidence], source.source
