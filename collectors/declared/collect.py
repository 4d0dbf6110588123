"""Declared lineage -> rows of the lineage store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dbt_graft.collectors.declared.document import (
    DeclaredFlow,
    DeclaredUpstream,
    Document,
    SplitDataset,
    dataset_of,
    read,
)
from dbt_graft.collectors.declared.listing import ChangedFile, file_paths, origin_of
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.statement import (
    DatasetAccess,
    Statement,
    StatementEdge,
    access_records,
    column_edge_records,
)
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.tables import Collected
from dbt_graft.lineage.dataset import DatasetId, Kind, parse_dataset_id
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Evidence, Records, Run, Status, TaskInfo


def documents(files: LogPath) -> dict[Path, Document]:
    """Path -> the file, read and checked.

    Raises:
        NoFileError: There is none.
        GraftError: Some are not valid; all errors at once, each with its line.
    """
    return _read(file_paths(files))


def _read(paths: Iterable[Path]) -> dict[Path, Document]:
    documents_by_path, faults = {}, []
    for path in paths:
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


def collect(new: Sequence[ChangedFile]) -> Iterator[Collected]:
    """The lineage in new and changed files, in one part if there are any.

    Raises:
        GraftError: Some are not valid; all errors at once, each with its line.
    """
    if not new:
        return
    origins = {file.path: file.origin for file in new if file.path}
    documents_by_path = _read(origins)
    records = _records((origins[path], document) for path, document in documents_by_path.items())
    yield tables(records, {file.origin: file.position for file in new})


def declared_records(files: LogPath, documents_by_path: Mapping[Path, Document]) -> Records:
    """The lineage in files, as records of the store."""
    return _records(
        (origin_of(files, path), document) for path, document in documents_by_path.items()
    )


def _records(documents: Iterable[tuple[str, Document]]) -> Records:
    statements = [statement for file in documents for statement in _statements(*file)]
    return Records(
        accesses=tuple(access_records(statements)),
        column_edges=tuple(column_edge_records(statements)),
    )


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
