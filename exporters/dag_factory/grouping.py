"""The DAG, and the task group, that a unit belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from dbt_graft.exporters.dag_factory.identifiers import unique_identifiers
from dbt_graft.exporters.dag_factory.order import Edge
from dbt_graft.exporters.dag_factory.settings import (
    DagGrouping,
    DagSettings,
    TaskGrouping,
)
from dbt_graft.exporters.dag_factory.units import WorkUnit

_Key = Callable[[WorkUnit], str]
_FIELD = r"(?:[0-9*?L][0-9A-Za-z*/,#?-]*|[A-Za-z]{3}(?:[-,][A-Za-z]{3})*)"
_CRON = re.compile(rf"{_FIELD}(?: +{_FIELD}){{4,5}}")
_PRESETS = frozenset(
    {"@once", "@continuous", "@hourly", "@daily", "@midnight", "@weekly", "@monthly"}
    | {"@quarterly", "@yearly", "@annually"}
)


def is_schedule(text: str) -> bool:
    """Whether a text looks like a schedule of Airflow: five fields of cron, six, or a preset."""
    return text in _PRESETS or _CRON.fullmatch(text.strip()) is not None


def dags_of(
    units: Mapping[str, WorkUnit], edges: Iterable[Edge], settings: DagSettings
) -> tuple[dict[str, str], dict[str, str]]:
    """Unit -> the id of its DAG, and id of a DAG -> its schedule."""
    if settings.dags is DagGrouping.PART:
        keys = _parts(units, edges)
    else:
        key = _DAG_KEYS[settings.dags]
        keys = {name: key(unit) for name, unit in units.items()}
    names = {
        suffix: f"{settings.name}_{suffix}" if suffix else settings.name for suffix in keys.values()
    }
    ids = unique_identifiers(names.values())
    by_schedule = settings.dags is DagGrouping.SCHEDULE
    schedules = {
        ids[name]: (key if by_schedule else "") or settings.schedule for key, name in names.items()
    }
    return {unit: ids[names[key]] for unit, key in keys.items()}, schedules


def task_group_of(unit: WorkUnit, settings: DagSettings) -> str:
    """The name of a unit's task group; empty for none."""
    return _GROUP_KEYS[settings.task_groups](unit)


def _parts(units: Mapping[str, WorkUnit], edges: Iterable[Edge]) -> dict[str, str]:
    """Unit -> the name of its connected part, which is that of its first task."""
    parent = {name: name for name in units}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = name = parent[parent[name]]
        return name

    for a, b in edges:
        first, second = sorted((root(a), root(b)), key=lambda name: (units[name].is_dbt, name))
        parent[second] = first
    return {name: units[root(name)].title for name in units}


def _tag(unit: WorkUnit) -> str:
    tags = unit.nodes[0].info.tags
    return tags[0] if tags and not unit.is_level else ""


def _owner(unit: WorkUnit) -> str:
    return unit.nodes[0].info.owner if not unit.is_level else ""


def _schedule(unit: WorkUnit) -> str:
    return unit.nodes[0].info.schedule if not unit.is_level else ""


def _engine(unit: WorkUnit) -> str:
    return next(iter(unit.nodes[0].engines), "")


def _nothing(_: WorkUnit) -> str:
    return ""


_DAG_KEYS: Mapping[DagGrouping, _Key] = {
    DagGrouping.ONE: _nothing,
    DagGrouping.TAG: _tag,
    DagGrouping.OWNER: _owner,
    DagGrouping.SCHEDULE: _schedule,
}
_GROUP_KEYS: Mapping[TaskGrouping, _Key] = {
    TaskGrouping.NONE: _nothing,
    TaskGrouping.ENGINE: _engine,
    TaskGrouping.OWNER: _owner,
    TaskGrouping.TAG: _tag,
    TaskGrouping.SCHEDULE: _schedule,
}
