"""DAGs from dag-factory's YAML, whoever wrote it, each task with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import yaml

from dbt_graft.exporters.dag_factory.check.scheduled import (
    ReadDags,
    ScheduledDag,
    ScheduledGroup,
    ScheduledTask,
    links_between_dags,
    upstream_by_rule,
)

_NO_DAGS = frozenset({"default", "task_groups"})
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 50
_TIMETABLE = "its timetable"
# The schedule of a DAG without one: Airflow 2 runs it daily, Airflow 3 when asked to.
_UNSCHEDULED = {2: "1 day, 0:00:00"}
# The keys of schedules that only assets start.
_EVENTS = frozenset({"__and__", "__or__", "datasets", "assets"})
# Where an argument is what another task returns.
_RETURNED = re.compile(r"""\+(\w+)(?:\[["'].*["']\])?""")
_EXPANDED = re.compile(r"([\w.-]+)\.output\b.*|.*XcomArg\(+([^)]*)\).*")
# URIs in a condition such as `(s3://a & s3://b)`.
_IN_CONDITION = re.compile(r"[^\s()&|]+://[^\s()&|]+")


class _Loader(_Base):  # type: ignore[misc]
    """A loader that makes nothing of tags: `!!python/name:` stays text, no code is run."""


_Loader.add_multi_constructor("", lambda _, suffix, node: f"{suffix} {node.value}")


def read_yaml_dags(
    text: str,
    place: str,
    *,
    defaults: Iterable[str] = (),
    is_ours: bool = False,
    version: int = 3,
) -> ReadDags:
    """The DAGs in a YAML file; none in one that has something else.

    Args:
        defaults: The files `defaults.yml` that count for it, the nearest last.
        is_ours: `graft export` wrote the file.
        version: The major version of the Airflow that loads it.
    """
    try:
        root, data = _load(text)
        if not isinstance(data, dict):
            return ReadDags()
        default = data.get("default")
        shared = _shared_keys(defaults)
        bodies = {
            name: _with_defaults({**shared, **body}, default if isinstance(default, dict) else {})
            for name, body in data.items()
            if isinstance(name, str) and name not in _NO_DAGS and isinstance(body, dict)
        }
        lines = _Lines(root, place)
        dags = [
            _dag(name, body, lines, _UNSCHEDULED.get(version), is_ours=is_ours)
            for name, body in bodies.items()
            if isinstance(body.get("tasks"), dict | list)
        ]
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        return ReadDags(unreadable={f"{place}{line}": "is not valid YAML"})
    return ReadDags(tuple(dags))


def _load(text: str) -> tuple[Any, Any]:
    """A document, and its content."""
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        return root, loader.construct_document(root) if root else None
    finally:
        loader.dispose()


def _shared_keys(defaults: Iterable[str]) -> dict[str, Any]:
    """The keys that files `defaults.yml` give to each DAG; one that is no YAML has none."""
    shared: dict[str, Any] = {}
    for text in defaults:
        with suppress(yaml.YAMLError, ValueError, TypeError, RecursionError):
            _, data = _load(text)
            shared |= data if isinstance(data, dict) else {}
    return shared


class _Lines:
    """The lines of tasks in a document."""

    def __init__(self, root: yaml.Node, place: str) -> None:
        self.place = place
        self._line_numbers: dict[tuple[str, str], int] = {}
        for dag, body in _pairs(root):
            for key, tasks in _pairs(body):
                if key == "tasks" and isinstance(tasks, yaml.MappingNode):
                    for name, _ in tasks.value:
                        self._line_numbers[dag, str(name.value)] = name.start_mark.line
                elif key == "tasks" and isinstance(tasks, yaml.SequenceNode):
                    for entry in tasks.value:
                        for name, node in _pairs(entry):
                            if name == "task_id":
                                self._line_numbers[dag, str(node.value)] = entry.start_mark.line

    def locate(self, dag: str, task: str) -> str:
        """`dags/shop.yml:12`"""
        line = self._line_numbers.get((dag, task))
        return self.place if line is None else f"{self.place}:{line + 1}"


def _pairs(node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), value


def _with_defaults(body: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """A DAG, or a part of it, with what `default` has and it has not; a list stands as it is."""
    merged = {**default, **body}
    for key, value in body.items():
        if isinstance(value, dict) and isinstance(default.get(key), dict):
            merged[key] = _with_defaults(value, default[key])
    return merged


def _dag(
    dag_id: str, body: Mapping[str, Any], lines: _Lines, unscheduled: str | None, *, is_ours: bool
) -> ScheduledDag:
    groups = {
        name: ScheduledGroup(
            _names(group.get("dependencies")), str(group.get("parent_group_name") or "")
        )
        for name, group in _entries(body.get("task_groups"), "group_name")
    }
    entries = dict(_entries(body.get("tasks"), "task_id"))
    full_ids = {name: _full_id(name, entry, groups) for name, entry in entries.items()}
    schedule = body.get("schedule", body.get("schedule_interval"))
    if schedule is None:  # dag-factory takes `null` for nothing
        schedule = unscheduled
    assets = tuple(dict.fromkeys(_uris(schedule)))
    clock = ""
    if isinstance(schedule, str) and schedule.strip().lower() not in ("", "none", "@once"):
        clock = schedule.strip()
    elif isinstance(schedule, dict) and (_has_clock(schedule) or not _EVENTS & schedule.keys()):
        clock = _TIMETABLE
    return ScheduledDag(
        dag_id,
        tuple(
            _task(dag_id, name, entry, full_ids, groups, lines, is_ours)
            for name, entry in entries.items()
        ),
        groups,
        _TIMETABLE if body.get("timetable") else "" if assets else clock,
        assets,
    )


def _task(
    dag_id: str,
    name: str,
    body: Mapping[str, Any],
    full_ids: Mapping[str, str],
    groups: Mapping[str, ScheduledGroup],
    lines: _Lines,
    is_ours: bool,
) -> ScheduledTask:
    operator = str(body.get("operator") or "").rpartition(".")[2]
    waits, triggers, awaits = links_between_dags(body, _names)
    before = [*_names(body.get("dependencies")), *_returning_tasks(body, full_ids)]
    dependencies = upstream_by_rule(tuple(dict.fromkeys(before)), body.get("trigger_rule"))
    command = body.get("bash_command")
    return ScheduledTask(
        dag_id,
        full_ids[name],
        tuple(full_ids.get(dependency, dependency) for dependency in dependencies),
        tuple(reversed(list(_group_path(str(body.get("task_group_name") or ""), groups)))),
        command if isinstance(command, str) else "",
        tuple(dict.fromkeys(_uris(body.get("outlets")))),
        str(body.get("dataset") or "") if operator == "LineageSensor" else "",
        waits,
        triggers,
        awaits,
        lines.locate(dag_id, name),
        is_ours,
    )


def _entries(section: Any, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and body of each entry, of a mapping or of a list."""
    if isinstance(section, dict):
        for name, body in section.items():
            yield str(name), body if isinstance(body, dict) else {}
    elif isinstance(section, list):
        for body in section:
            if isinstance(body, dict) and key in body:
                yield str(body[key]), body


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _returning_tasks(body: Mapping[str, Any], tasks: Mapping[str, str]) -> Iterator[str]:
    """The tasks whose results are arguments of a task: `+numbers`, or `numbers.output` of many."""
    arguments = dict(body)
    for key in ("expand", "partial"):
        if isinstance(several := arguments.pop(key, None), dict):
            arguments |= {f"{key} {name}": value for name, value in several.items()}
    pattern = _RETURNED if "decorator" in body else _EXPANDED
    for name, value in arguments.items():
        is_read = "decorator" in body or name.startswith("expand ")
        if is_read and isinstance(value, str) and (match := pattern.fullmatch(value)):
            yield from (task for task in match.groups() if task in tasks)


def _group_path(group: str, groups: Mapping[str, ScheduledGroup]) -> Iterator[str]:
    """A group and those around it."""
    seen: set[str] = set()
    while group and group in groups and group not in seen:
        seen.add(group)
        yield group
        group = groups[group].parent


def _full_id(name: str, body: Mapping[str, Any], groups: Mapping[str, ScheduledGroup]) -> str:
    path = list(_group_path(str(body.get("task_group_name") or ""), groups))
    return ".".join([*reversed(path), name])


def _uris(value: Any, depth: int = 0) -> Iterator[str]:
    """The URIs of assets in outlets, or that a schedule needs, however they are nested.

    Of several with `__or__` between them it needs none, nor where a clock starts the DAG, too.
    """
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for entry in value:
            if isinstance(entry, str) and "://" in entry:
                yield entry
            else:
                yield from _uris(entry, depth + 1)
    elif isinstance(value, dict):
        uri, kind = value.get("uri"), str(value.get("__type__") or "")
        if isinstance(uri, str):
            yield uri
        elif not _has_clock(value):
            for entry in _needed(value, is_any=kind.endswith("Any")):
                yield from _uris(entry, depth + 1)


def _has_clock(schedule: Mapping[str, Any]) -> bool:
    """A clock starts the DAG, or assets do: `{datasets: …, timetable: …}` is short for that."""
    kind = str(schedule.get("__type__") or "")
    return "timetable" in schedule or kind.endswith("OrTimeSchedule")


def _needed(parts: Mapping[str, Any], *, is_any: bool) -> Iterator[Any]:
    """The parts of a schedule without which it does not start."""
    for key, part in parts.items():
        if key == "datasets" and isinstance(part, str) and "|" not in part:
            yield _IN_CONDITION.findall(part)
        elif not ((is_any or key == "__or__") and isinstance(part, list) and len(part) > 1):
            yield part
