"""Declared lineage -> rows of the lineage store."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from dbt_graft.collectors.declared.document import DeclaredUpstream, Document, parse_column, read
from dbt_graft.collectors.files import report_nothing
from dbt_graft.collectors.folder_walk import Report, unlisted_folder
from dbt_graft.collectors.store import Collected, Positions, of_logs
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.system_reason import system_reason
from dbt_graft.lineage.dataset import DatasetId, Kind, parse_dataset_id
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.findings import Finding
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Direction,
    Evidence,
    Records,
    Status,
    TaskInfo,
)

_GONE = "gone"


@dataclass(frozen=True, slots=True)
class DeclaredFiles:
    """Files of declared lineage.

    Attributes:
        path: A file, a folder, or a pattern with `*`, on this machine.
        label: The path as `graft.yml` writes it; origins begin with it.
    """

    path: str
    label: str


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that is new, changed or gone since the last collect.

    Attributes:
        document: None for a file that is gone.
    """

    origin: str
    position: str
    document: Document | None


class NoFileError(GraftError):
    """There is no file of declared lineage at a path."""


def documents(files: DeclaredFiles) -> dict[Path, Document]:
    """Path -> the file, read and checked.

    Raises:
        NoFileError: There is none.
        GraftError: Some are not valid; all errors at once, each with its line.
    """
    found, faults = {}, []
    for path in _paths(files):
        try:
            found[path] = read(path)
        except GraftError as error:
            faults.append(str(error))
    if faults:
        raise GraftError("\n".join(faults))
    return found


def task_infos(found: Mapping[Path, Document]) -> dict[str, TaskInfo]:
    """Descriptions, owners and so on of tasks and consumers; the first file with a name wins."""
    infos: dict[str, TaskInfo] = {}
    for one in found.values():
        infos = {**one.infos(), **infos}
    return infos


def declared_dates(found: Mapping[Path, Document]) -> dict[DatasetId, DeclaredDates]:
    """The dates of datasets; the first file with a name wins."""
    dates: dict[DatasetId, DeclaredDates] = {}
    for one in found.values():
        dates = {**one.dates(), **dates}
    return dates


def changed_files(
    files: DeclaredFiles, known: Positions, report: Report = report_nothing
) -> list[ChangedFile]:
    """The files that the store does not have as they are now, and those that are gone.

    None is gone while a folder cannot be listed: it may be in there.

    Args:
        report: Takes what cannot be listed.

    Raises:
        GraftError: There is none, or some are not valid.
    """
    present = {_origin(files, path): (path, one) for path, one in documents(files).items()}
    known = of_logs(known, [f"declared:{files.label}"])
    found = []
    for origin, (path, one) in present.items():
        position = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
        if known.get(origin, ("",))[0] != position:
            found.append(ChangedFile(origin, position, one))
    closed = _closed_folders(files)
    for finding in closed:
        report(finding)
    gone = [
        origin
        for origin, (position, _) in known.items()
        if origin.startswith(f"declared:{files.label}#")
        and origin not in present
        and position != _GONE
        and not closed
    ]
    return [*found, *(ChangedFile(origin, _GONE, None) for origin in sorted(gone))]


def collect(new: Sequence[ChangedFile]) -> Iterator[Collected]:
    """The lineage in new and changed files, in one part if there are any."""
    if not new:
        return
    records = _records((one.origin, one.document) for one in new if one.document)
    yield tables(records, {one.origin: one.position for one in new})


def declared_records(files: DeclaredFiles, found: Mapping[Path, Document]) -> Records:
    """The lineage in files, as records of the store."""
    return _records((_origin(files, path), one) for path, one in found.items())


def _records(documents: Iterable[tuple[str, Document]]) -> Records:
    present = list(documents)
    return Records(
        accesses=tuple(access for one in present for access in _accesses(*one)),
        column_edges=tuple(edge for one in present for edge in _column_edges(*one)),
    )


def _paths(files: DeclaredFiles) -> list[Path]:
    if "://" in files.path:
        raise GraftError(
            "declared lineage cannot be read from a URL",
            place=files.label,
            remedy="use a local path",
        )
    path = Path(files.path)
    if "*" in files.path:
        base = _base(files)
        found = sorted(base.glob(str(path.relative_to(base))))
    elif path.is_dir():
        found = sorted((*path.rglob("*.yml"), *path.rglob("*.yaml")))
    else:
        found = [path]
    if not [one for one in found if one.is_file()]:
        raise NoFileError(
            "there is no such file", place=files.label, remedy="correct `path` in graft.yml"
        )
    return [one for one in found if one.is_file()]


def _closed_folders(files: DeclaredFiles) -> list[Finding]:
    """The folders below a folder that cannot be listed."""
    faults: list[OSError] = []
    if Path(files.path).is_dir():
        for _ in os.walk(files.path, onerror=faults.append):
            pass
    return [
        unlisted_folder(_origin(files, Path(fault.filename)), system_reason(fault))
        for fault in faults
    ]


def _origin(files: DeclaredFiles, path: Path) -> str:
    """The path as `graft.yml` writes it and the file below it: the same on every machine."""
    return f"declared:{files.label}#{path.relative_to(_base(files))}"


def _base(files: DeclaredFiles) -> Path:
    """The folder above everything that a pattern can match."""
    path = Path(files.path)
    if "*" in files.path:
        return Path(*takewhile(lambda part: "*" not in part, path.parts))
    return path if path.is_dir() else path.parent


def _accesses(origin: str, document: Document) -> Iterator[Access]:
    """Accesses, with one run for each flow: flows of a task do not pass data to each other."""
    for task, entry in document.tasks.items():
        for n, flow in enumerate(entry.flows):
            yield from _used(origin, task, n, flow.source, Direction.READ, Operation.SELECT)
            yield from _used(origin, task, n, flow.target, Direction.WRITE, Operation.INSERT)
    for consumer, reader in document.consumers.items():
        yield from _used(origin, consumer, 0, reader.reads, Direction.READ, Operation.SELECT)


def _used(
    origin: str,
    task: str,
    flow: int,
    names: Sequence[str],
    direction: Direction,
    operation: Operation,
) -> Iterator[Access]:
    step = f"{origin}/{task}/{flow}"
    for name in dict.fromkeys(names):
        dataset = parse_dataset_id(name)
        yield Access(
            task=task,
            run_id=step,
            dataset=dataset,
            kind=_kind(dataset),
            direction=direction,
            operation=operation,
            shape_id=_shape(step),
            status=Status.UNKNOWN,
            evidence=Evidence.DECLARED,
            origin=origin,
        )


def _column_edges(origin: str, document: Document) -> Iterator[ColumnEdge]:
    for task, entry in document.tasks.items():
        for n, flow in enumerate(entry.flows):
            for name, columns in flow.columns.items():
                for column, upstream in columns.items():
                    for one in upstream:
                        upstream_column = _upstream(one)
                        source, source_column = parse_column(upstream_column.column)
                        yield ColumnEdge(
                            task=task,
                            to_dataset=parse_dataset_id(name),
                            to_column=column,
                            from_dataset=source,
                            from_column=source_column,
                            type=upstream_column.how.type,
                            subtype=upstream_column.how,
                            masking=upstream_column.masking is not False,
                            masked_by=upstream_column.masked_by,
                            shape_id=_shape(f"{origin}/{task}/{n}"),
                            origin=origin,
                            evidence=Evidence.DECLARED,
                        )


def _upstream(column: str | DeclaredUpstream) -> DeclaredUpstream:
    return column if isinstance(column, DeclaredUpstream) else DeclaredUpstream(column=column)


def _shape(step: str) -> str:
    """The shape id of a flow, which has no statement."""
    return hashlib.sha256(step.encode()).hexdigest()[:32]


def _kind(dataset: DatasetId) -> Kind:
    return Kind.PATH if dataset.is_path else Kind.TABLE
