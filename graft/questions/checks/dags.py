"""The check `dags`: existing DAGs, held against the order that lineage demands."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.render.phrases import count, open_note
from dbt_graft.analysis.rule import DAG_NOT_READ
from dbt_graft.exporters.dag_factory.check.compare import compare
from dbt_graft.exporters.dag_factory.check.event_dags import event_dags
from dbt_graft.exporters.dag_factory.check.matching import Select, task_matcher
from dbt_graft.exporters.dag_factory.check.scheduled import ReadDags, ScheduledDag
from dbt_graft.exporters.dag_factory.check.yaml_dags import read_yaml_dags
from dbt_graft.exporters.dag_factory.document import marker
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.dag_factory.overrides import added_tasks
from dbt_graft.exporters.dag_factory.planner import plan_dags, wanted_order
from dbt_graft.exporters.dag_factory.settings import DagSettings
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, NothingToCheckError
from dbt_graft.injector.selection import SelectableNodes
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.gaps import open_tasks

_YAML = (".yml", ".yaml")
_EVENTS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")


def check_dags(checked: CheckedProject) -> Answer:
    """The places where DAGs run tasks in another order than lineage demands."""
    config, lineage = checked.config, checked.described.lineage
    settings = config.airflow
    places = _places(checked)
    scan = read_dags(places, settings)
    if not scan.dags:
        raise NothingToCheckError(
            "\n".join(("there are no DAGs to check", *scan.unreadable)),
            place=", ".join(map(str, places)),
            remedy="name dag-factory's YAML, or the OpenLineage events of Airflow",
        )
    order = demanded_order(lineage, checked.described.descriptions)
    wanted = wanted_order(order, settings)
    exported = {
        (dag.dag_id, f"{task.group}.{task.task_id}" if task.group else task.task_id): task.nodes
        for dag in plan_dags(order, settings).dags
        for task in dag.tasks
    }
    # Importing it takes longer than the other checks, and mostly there are no DAGs.
    from dbt_graft.graft.project.dag_overrides import dag_overrides

    # A task that people added was never in the lineage.
    exported |= dict.fromkeys(added_tasks(dag_overrides(config)), ())
    matcher = task_matcher(wanted, config.airflow.known_as, exported, _selection(checked))
    unknown = [*open_tasks(lineage)]
    rows = [(dag.dag_id, len(dag.tasks)) for dag in scan.dags]
    tasks = count(sum(number for _, number in rows), "task")
    return Answer(
        "the order of DAGs",
        f"{count(len(rows), 'DAG')} with {tasks}",
        tables=[Table("DAGs", ("DAG", "tasks"), rows)],
        notes=open_note(unknown),
        findings=[
            *compare(wanted, scan.dags, matcher, unknown),
            *(
                DAG_NOT_READ.finding(Path(place).name.partition(":")[0], why, place=place)
                for place, why in scan.unreadable.items()
            ),
        ],
        data={"dags": dict(rows)},
    )


def _selection(checked: CheckedProject) -> Select:
    """The selections of commands of dbt in its project, which is read for the first of them."""

    @cache
    def nodes() -> SelectableNodes:
        if not (dbt := checked.project.dbt):
            raise ValueError("there is no dbt project")
        return SelectableNodes.from_manifest(dbt.artifacts.manifest)

    return lambda selected, excluded: nodes().of_command(selected, excluded)


def _places(checked: CheckedProject) -> list[Path]:
    """The files and folders that are named, or the folder to which DAGs are exported."""
    config = checked.config
    if checked.options.dags:
        return list(checked.options.dags)
    paths = [Path(config.path(path)) for path in config.check.dags or (config.airflow.out,)]
    if not config.check.dags and not paths[0].exists():
        remedy = "name them by --dags, or `check: {dags: […]}` in graft.yml"
        raise NothingToCheckError("no DAGs are named", remedy=remedy)
    return paths


def read_dags(paths: Sequence[Path], settings: DagSettings) -> ReadDags:
    """The DAGs in files and folders: YAML of dag-factory, events of Airflow.

    Raises:
        GraftError: One of them is neither.
    """
    our_marker = marker(settings.name)
    dags: list[ScheduledDag] = []
    unreadable: dict[str, str] = {}
    events: list[Path] = []
    for path, root in _files(paths):
        if path.name.endswith(_EVENTS):
            events.append(path)
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            unreadable[str(path)] = getattr(error, "strerror", None) or "is not UTF-8"
            continue
        is_ours = text.partition("\n")[0].rstrip("\r") == our_marker
        read = read_yaml_dags(
            text,
            str(path),
            defaults=_defaults(path, root),
            is_ours=is_ours,
            version=settings.version,
        )
        dags += read.dags
        unreadable |= read.unreadable
    dag_ids = {dag.dag_id for dag in dags}
    seen = event_dags(event for path in events for event in _events(path, unreadable))
    # A file says what a DAG is now, events what it was.
    dags += [dag for dag in seen if dag.dag_id not in dag_ids]
    return ReadDags(tuple(dags), unreadable)


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Files, each with the folder that was named."""
    for path in paths:
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.is_file())
            for file in sorted(f for f in inside if f.name.endswith((*_YAML, *_EVENTS))):
                yield file, path
        elif not path.exists():
            raise GraftError("there is no such file or folder", place=str(path))
        elif path.name.endswith((*_YAML, *_EVENTS)):
            yield path, path.parent
        else:
            raise GraftError(
                "is neither YAML nor events",
                place=str(path),
                remedy=f"name a file that ends in one of {', '.join((*_YAML, *_EVENTS))}",
            )


def _defaults(path: Path, root: Path) -> Iterator[str]:
    """The files `defaults.yml` of dag-factory that count for a file, the nearest last."""
    folders = [folder for folder in path.parents if folder.is_relative_to(root)]
    for folder in reversed(folders):
        for file in (folder / f"defaults{ending}" for ending in _YAML):
            if file.is_file() and file != path:
                with suppress(OSError, UnicodeDecodeError):
                    yield file.read_text(encoding="utf-8")
                break


def _events(path: Path, unreadable: dict[str, str]) -> Iterator[Any]:
    """The events in a file: one a line, or all of it one event or a list of them."""
    faults = 0
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            first = file.readline()
            lines: Iterable[bytes] = chain((first,), file)
            if not _is_json(first):
                text = first + file.read()
                lines = (text,) if _is_json(text) else text.splitlines()
            for line in lines:
                if not line.strip():
                    continue
                try:
                    record = orjson.loads(line)
                except orjson.JSONDecodeError:
                    faults += 1
                    continue
                yield from record if isinstance(record, list) else (record,)
    except (OSError, EOFError, zlib.error) as error:
        unreadable[str(path)] = getattr(error, "strerror", None) or "is damaged"
    if faults:
        unreadable[str(path)] = f"{count(faults, 'line')} cannot be read as JSON"


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True
