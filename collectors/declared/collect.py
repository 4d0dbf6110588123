"""Declared lineage -> rows of the lineage store."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from dbt_graft.analysis.finding import Finding
from dbt_graft.collectors.declared.document import (
    DeclaredFlow,
    DeclaredUpstream,
    Document,
    SplitDataset,
    dataset_of,
    read,
)
from dbt_graft.collectors.files import LogPath, report_nothing
from dbt_graft.collectors.folder_walk import Report, unlisted_folder
from dbt_graft.collectors.statement import (
    DatasetAccess,
    Statement,
    StatementEdge,
    access_records,
    column_edge_records,
)
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Collected, Positions
from dbt_graft.collectors.system_reason import system_reason
from dbt_graft.lineage.dataset import DatasetId, Kind, parse_dataset_id
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Evidence, Records, Run, Status, TaskInfo

_GONE = "gone"


@frozen
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


def documents(files: LogPath) -> dict[Path, Document]:
    """Path -> the file, read and checked.

    Raises:
        NoFileError: There is none.
        GraftError: Some are not valid; all errors at once, each with its line.
    """
    documents_by_path, faults = {}, []
    for path in _paths(files):
        try:
            documents_by_path[path] = read(path)
        except GraftError as error:
            faults.append(str(error))
    if faults:
        raise GraftError("\n".join(faults))
    return documents_by_path


def task_infos(documents_by_path: Mapping[Path, Document]) -> dict[str, TaskInfo]:
    """Descriptions, owners and so on of tasks and consumers; the first file with a name wins."""
    infos: dict[str, TaskInfo] = {}
    for document in documents_by_path.values():
        infos = {**document.infos(), **infos}
    return infos


def declared_dates(documents_by_path: Mapping[Path, Document]) -> dict[DatasetId, DeclaredDates]:
    """The dates of datasets; the first file with a name wins."""
    dates: dict[DatasetId, DeclaredDates] = {}
    for document in documents_by_path.values():
        dates = {**document.dates(), **dates}
    return dates


def changed_files(
    files: LogPath, positions: Positions, report: Report = report_nothing
) -> list[ChangedFile]:
    """The files that the store does not have as they are now, and those that are gone.

    None is gone while a folder cannot be listed: it may be in there.

    Raises:
        GraftError: There is none, or some are not valid.
    """
    present = {
        _origin(files, path): (path, document) for path, document in documents(files).items()
    }
    positions = of_logs(positions, [f"declared:{files.label}"])
    changed = []
    for origin, (path, document) in present.items():
        position = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
        if positions.get(origin, ("",))[0] != position:
            changed.append(ChangedFile(origin, position, document))
    closed = _closed_folders(files)
    for finding in closed:
        report(finding)
    gone = [
        origin
        for origin, (position, _) in positions.items()
        if origin.startswith(f"declared:{files.label}#")
        and origin not in present
        and position != _GONE
        and not closed
    ]
    return [*changed, *(ChangedFile(origin, _GONE, None) for origin in sorted(gone))]


def collect(new: Sequence[ChangedFile]) -> Iterator[Collected]:
    """The lineage in new and changed files, in one part if there are any."""
    if not new:
        return
    records = _records((file.origin, file.document) for file in new if file.document)
    yield tables(records, {file.origin: file.position for file in new})


def declared_records(files: LogPath, documents_by_path: Mapping[Path, Document]) -> Records:
    """The lineage in files, as records of the store."""
    return _records(
        (_origin(files, path), document) for path, document in documents_by_path.items()
    )


def _records(documents: Iterable[tuple[str, Document]]) -> Records:
    statements = [statement for file in documents for statement in _statements(*file)]
    return Records(
        accesses=tuple(access_records(statements)),
        column_edges=tuple(column_edge_records(statements)),
    )


def _paths(files: LogPath) -> list[Path]:
    if "://" in files.path:
        raise GraftError(
            "declared lineage cannot be read from a URL",
            place=files.label,
            remedy="use a local path",
        )
    path = Path(files.path)
    if "*" in files.path:
        base = _base(files)
        paths = sorted(base.glob(str(path.relative_to(base))))
    elif path.is_dir():
        paths = sorted((*path.rglob("*.yml"), *path.rglob("*.yaml")))
    else:
        paths = [path]
    if not [path for path in paths if path.is_file()]:
        raise NoFileError(
            "there is no such file", place=files.label, remedy="correct `path` in graft.yml"
        )
    return [path for path in paths if path.is_file()]


def _closed_folders(files: LogPath) -> list[Finding]:
    """The folders below a folder that cannot be listed."""
    faults: list[OSError] = []
    if Path(files.path).is_dir():
        for _ in os.walk(files.path, onerror=faults.append):
            pass
    return [
        unlisted_folder(_origin(files, Path(fault.filename)), system_reason(fault))
        for fault in faults
    ]


def _origin(files: LogPath, path: Path) -> str:
    """The path as `graft.yml` writes it and the file below it: the same on every machine."""
    return f"declared:{files.label}#{path.relative_to(_base(files))}"


def _base(files: LogPath) -> Path:
    """The folder above everything that a pattern can match."""
    path = Path(files.path)
    if "*" in files.path:
        return Path(*takewhile(lambda part: "*" not in part, path.parts))
    return path if path.is_dir() else path.parent


def _statements(origin: str, document: Document) -> Iterator[Statement]:
    """A statement for each flow, as a run: flows of a task do not pass data to each other."""
    for task, entry in document.tasks.items():
        for n, flow in enumerate(entry.flows):
            yield _statement(_run(origin, task, n), flow.source, flow.target, tuple(_edges(flow)))
    for consumer, reader in document.consumers.items():
        yield _statement(_run(origin, consumer, 0), reader.reads)


def _run(origin: str, task: str, flow: int) -> Run:
    return Run(f"{origin}/{task}/{flow}", task, "", origin=origin)


def _statement(
    run: Run,
    reads: Iterable[str | SplitDataset],
    writes: Iterable[str | SplitDataset] = (),
    edges: tuple[StatementEdge, ...] = (),
) -> Statement:
    return Statement(
        # A flow has no text.
        shape_id=hashlib.sha256(run.run_id.encode()).hexdigest()[:32],
        reads=tuple(_accesses(reads, Operation.SELECT)),
        writes=tuple(_accesses(writes, Operation.INSERT)),
        edges=edges,
        run=run,
        status=Status.UNKNOWN,
        evidence=Evidence.DECLARED,
    )


def _accesses(
    entries: Iterable[str | SplitDataset], operation: Operation
) -> Iterator[DatasetAccess]:
    for dataset in dict.fromkeys(map(dataset_of, entries)):
        yield DatasetAccess(dataset, Kind.PATH if dataset.is_path else Kind.TABLE, operation)


def _edges(flow: DeclaredFlow) -> Iterator[StatementEdge]:
    for name, upstream_columns in flow.columns.items():
        for column, upstream in upstream_columns.items():
            for upstream_column in map(_upstream, upstream):
                yield StatementEdge(
                    parse_dataset_id(name),
                    column,
                    *flow.origin(upstream_column),
                    upstream_column.how,
                    masking=upstream_column.masking is not False,
                    masked_by=upstream_column.masked_by,
                )


def _upstream(column: str | DeclaredUpstream) -> DeclaredUpstream:
    return column if isinstance(column, DeclaredUpstream) else DeclaredUpstream(column=column)
