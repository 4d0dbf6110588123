"""`graft export dag-factory --check`: existing DAGs, held against the order of lineage."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.exporters.dag_factory.check.compare import OrderFinding, compare
from dbt_graft.exporters.dag_factory.check.event_dags import event_dags
from dbt_graft.exporters.dag_factory.check.matching import task_matcher
from dbt_graft.exporters.dag_factory.check.scheduled import ScheduledDag
from dbt_graft.exporters.dag_factory.check.yaml_dags import read_yaml_dags
from dbt_graft.exporters.dag_factory.document import marker
from dbt_graft.exporters.dag_factory.order import DemandedOrder
from dbt_graft.exporters.dag_factory.planner import plan_dags, wanted_order
from dbt_graft.exporters.dag_factory.settings import DagSettings
from dbt_graft.lineage.errors import GraftError

_YAML = (".yml", ".yaml")
_EVENTS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")


@dataclass
class FoundDags:
    """DAGs that were read, and what could not be, by place."""

    dags: list[ScheduledDag] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


def check_dags(
    order: DemandedOrder,
    settings: DagSettings,
    known_as: Mapping[str, str],
    paths: Sequence[Path],
    *,
    strict: bool,
    as_json: bool,
) -> int:
    """Print where DAGs run tasks in another order than lineage demands.

    Returns:
        The exit code: 1 where data may be read before it was written; with `strict` for any finding
        or file that cannot be read.

    Raises:
        GraftError: There is no DAG at these places.
    """
    scan = read_dags(paths, settings)
    findings = dag_findings(order, settings, known_as, scan, paths)
    failed = any(finding.fault.is_error for finding in findings)
    code = 1 if failed or (strict and (findings or scan.unreadable)) else 0
    if as_json:
        click.echo(orjson.dumps(_findings_json(findings, scan, code), option=orjson.OPT_INDENT_2))
        return code
    for path, why in scan.unreadable.items():
        click.echo(one_line(f"{path}: {why}"), err=True)
    for finding in findings:
        click.echo(one_line(finding_line(finding)))
    number = sum(len(dag.tasks) for dag in scan.dags)
    faults = Counter(finding.fault.is_error for finding in findings)
    outcome = (
        f"{count(faults[True], 'error')}, {count(faults[False], 'warning')}"
        if findings
        else "in the order that lineage demands"
    )
    click.echo(f"{count(len(scan.dags), 'DAG')} with {count(number, 'task')}: {outcome}")
    return code


def relative_to_cwd(path: Path) -> Path:
    """A path inside of the working directory, relative to it, as CI annotates files."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def finding_line(finding: OrderFinding) -> str:
    """`dags/shop.yml:12: error: …`"""
    prefix = f"{finding.place}: " if finding.place else ""
    return f"{prefix}{'error' if finding.fault.is_error else 'warning'}: {finding.text}"


def order_json(finding: OrderFinding) -> dict[str, Any]:
    """A finding as JSON values."""
    return {
        "fault": str(finding.fault),
        "level": "error" if finding.fault.is_error else "warning",
        "task": finding.task,
        "other": finding.other or None,
        "datasets": list(map(str, finding.datasets)),
        "place": finding.place or None,
        "text": finding.text,
    }


def dag_findings(
    order: DemandedOrder,
    settings: DagSettings,
    known_as: Mapping[str, str],
    scan: FoundDags,
    paths: Sequence[Path],
) -> list[OrderFinding]:
    """The places where DAGs run tasks in another order than lineage demands.

    Raises:
        GraftError: There is no DAG at these places.
    """
    if not scan.dags:
        reasons = "".join(f"\n{path}: {why}" for path, why in scan.unreadable.items())
        raise GraftError(
            f"there are no DAGs to check{reasons}",
            place=", ".join(map(str, paths)),
            remedy="name dag-factory's YAML, or the OpenLineage events of Airflow",
        )
    wanted = wanted_order(order, settings)
    exported = {
        (dag.dag_id, f"{task.group}.{task.task_id}" if task.group else task.task_id): task.nodes
        for dag in plan_dags(order, settings).dags
        for task in dag.tasks
    }
    return compare(wanted, scan.dags, task_matcher(wanted, known_as, exported))


def _findings_json(findings: Iterable[OrderFinding], scan: FoundDags, code: int) -> dict[str, Any]:
    return {
        "findings": list(map(order_json, findings)),
        "dags": {dag.dag_id: len(dag.tasks) for dag in scan.dags},
        "unreadable": scan.unreadable,
        "exit_code": code,
    }


def read_dags(paths: Sequence[Path], settings: DagSettings) -> FoundDags:
    """The DAGs in files and folders: YAML of dag-factory, events of Airflow.

    Raises:
        GraftError: One of them is neither.
    """
    our_marker = marker(settings.name)
    scan = FoundDags()
    events: list[Path] = []
    for path in _files(paths):
        if path.name.endswith(_EVENTS):
            events.append(path)
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            scan.unreadable[str(path)] = getattr(error, "strerror", None) or "is not UTF-8"
            continue
        is_ours = text.partition("\n")[0].rstrip("\r") == our_marker
        read = read_yaml_dags(text, str(path), is_ours=is_ours)
        scan.dags += read.dags
        scan.unreadable |= read.unreadable
    dag_ids = {dag.dag_id for dag in scan.dags}
    seen = event_dags(event for path in events for event in _events(path, scan.unreadable))
    # A file says what a DAG is now, events what it was.
    scan.dags += [dag for dag in seen if dag.dag_id not in dag_ids]
    return scan


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.is_file())
            yield from sorted(file for file in inside if file.name.endswith((*_YAML, *_EVENTS)))
        elif not path.exists():
            raise GraftError("there is no such file or folder", place=str(path))
        elif path.name.endswith((*_YAML, *_EVENTS)):
            yield path
        else:
            raise GraftError(
                "is neither YAML nor events",
                place=str(path),
                remedy=f"name a file that ends in one of {', '.join((*_YAML, *_EVENTS))}",
            )


def _events(path: Path, unreadable: dict[str, str]) -> Iterator[Any]:
    """The events in a file: one a line, or all of it one event or a list of them."""
    faults = 0
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            first = file.readline()
            if not _is_json(first):
                yield from _document(first + file.read(), path, unreadable)
                return
            for line in (first, *file):
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


def _document(text: bytes, path: Path, unreadable: dict[str, str]) -> Iterator[Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        good = [line for line in lines if _is_json(line)]
        if len(good) < len(lines):
            bad = count(len(lines) - len(good), "line")
            unreadable[str(path)] = f"{bad} cannot be read as JSON"
        yield from map(orjson.loads, good)
        return
    yield from read if isinstance(read, list) else (read,)
