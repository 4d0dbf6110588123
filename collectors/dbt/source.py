"""The door of dbt's results: the files of its target folder, and folders of past ones.

The results in an index of dbt 2, in the form of run_results.json and sources.json.

`dbt_rt.run_results` has all invocations since the target folder is new, `dbt.source_freshness` the
last check of each source. The former's commands are in a table beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.dbt.results import (
    Document,
    Invocation,
    NoResultsError,
    artifact,
    read_document,
    read_invocation,
)
from dbt_graft.collectors.files import (
    LogFile,
    LogPath,
    changed_logs,
    filesystem,
    log_files,
    report_nothing,
)
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.source import LogSource
from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Collected, Positions, ReadLog
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import NodeResult, Records, Reject

RUNS, FRESHNESS = "dbt_rt.run_results.parquet", "dbt.source_freshness.parquet"
_INVOCATIONS = "dbt_rt.invocations.parquet"
_JSON = ("adapter_response", "timing", "batch_results")
_SCHEMA = "https://schemas.getdbt.com/dbt/{}.json"


def index_documents(files: fs.FileSystem, path: str) -> Iterator[Document]:
    """The results of each invocation in a file of an index.

    Raises:
        ArrowException: It is no Parquet file, or not all of it.
        OSError: It cannot be read.
    """
    folder, _, name = path.rpartition("/")
    is_runs = name == RUNS
    commands = _commands(files, f"{folder}/{_INVOCATIONS}") if is_runs else {}
    rows = (
        (str(row.get("invocation_id") or ""), _result(row) if is_runs else _check(row))
        for row in _rows(files, path)
        if not is_runs or row["invocation_id"] in commands or not _never_ran(row)
    )
    for invocation, results in group_by_key(rows).items():
        times = filter(None, (result.get("created_at") for result in results))
        yield {
            "metadata": {
                "dbt_schema_version": _SCHEMA.format("run-results/v6" if is_runs else "sources/v3"),
                "dbt_version": "2",
                "invocation_id": invocation,
                "generated_at": max(times, default=None),
            },
            "args": {"which": commands.get(invocation)},
            "results": results,
        }


def _rows(files: fs.FileSystem, path: str) -> list[dict[str, Any]]:
    return pq.read_table(path, filesystem=files, partitioning=None).to_pylist()


def _commands(files: fs.FileSystem, path: str) -> dict[str, str]:
    if files.get_file_info(path).type == fs.FileType.NotFound:
        return {}
    return {row["invocation_id"]: str(row.get("command")) for row in _rows(files, path)}


def _never_ran(row: Document) -> bool:
    """Whether a node failed before it ran, as in a compile; dbt's own views leave it out."""
    return row.get("status") == "error" and not row.get("execution_time")


def _result(row: Document) -> Document:
    result = {**_plain(row), **{key: _loaded(row.get(key)) for key in _JSON}}
    response = result["adapter_response"]
    if row.get("rows_affected") is not None and isinstance(response, dict):
        result["adapter_response"] = {"rows_affected": row["rows_affected"], **response}
    return result


def _check(row: Document) -> Document:
    limits = ("warn_after", "error_after")
    criteria = {
        limit: {"count": row.get(f"{limit}_count"), "period": row.get(f"{limit}_period")}
        for limit in limits
    }
    return {**_plain(row), "timing": _loaded(row.get("timing")), "criteria": criteria}


def _plain(row: Document) -> dict[str, Any]:
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in row.items()
    }


def _loaded(text: Any) -> Any:
    try:
        return orjson.loads(text) if isinstance(text, str) else None
    except orjson.JSONDecodeError:
        return None


# The files of an index last: what another file has of an invocation is more.
_NAMES = ("run_results.json", "sources.json", f"index/{RUNS}", f"index/{FRESHNESS}")
_SUFFIXES = (".json", ".json.gz", f"/{RUNS}", f"/{FRESHNESS}")
_PARQUET, _OF_INDEX = ".parquet", "index "
# Bytes at the beginning of an artifact that say which one it is.
_HEAD = 1 << 12
# Results that are in memory at once, and written into one file.
_ROWS = 100_000


def results_source(path: str, label: str) -> LogSource:
    """Past results of dbt as a source.

    Args:
        path: A file, a folder, or a glob, on this machine or a URL.
        label: The path as `graft.yml` writes it.
    """
    files = LogPath(path, f"dbt:{label}")
    return LogSource(
        partial(_new_files, files),
        read=lambda positions: _read(files.label, _new_files(files, positions), positions),
        label=files.label,
    )


def target_source(folder: Path) -> LogSource | None:
    """The results in dbt's target folder, of the last run and the last check of its sources.

    None where there are none.
    """
    label = "dbt:target"
    if not any((folder / name).is_file() for name in _NAMES):
        return None

    def new_files(positions: Positions, _: Report = report_nothing, /) -> list[LogFile]:
        present = [name for name in _NAMES if (folder / name).is_file()]
        logs = [log_files(str(folder / name), f"{label}/{name}")[0] for name in present]
        return changed_logs(logs, of_logs(positions, (log.origin for log in logs)))

    return LogSource(
        new_files, read=lambda positions: _read(label, new_files(positions), positions), label=label
    )


def _new_files(
    files: LogPath, positions: Positions, report: Report = report_nothing, /
) -> list[LogFile]:
    logs = log_files(files.path, files.label, lambda log: log.url.endswith(_SUFFIXES), report)
    return changed_logs(logs, of_logs(positions, (log.origin for log in logs)))


def _read(label: str, new: list[LogFile], positions: Positions) -> Iterator[Collected]:
    """The results in new files, in parts that fit into memory."""
    part = _Part()
    stored = of_logs(positions, [label])
    taken: dict[str, str] = {}
    for log in sorted(new, key=_is_of_index):
        invocations: list[Invocation] = []
        try:
            invocations = list(_invocations(log, label))
        except NoResultsError as error:
            part.rejects.append(Reject(log.origin, "", str(error)))
        except orjson.JSONDecodeError:
            part.pending.append(Reject(log.origin, "", "this is not JSON, or is cut short"))
        except (OSError, EOFError, pa.ArrowException):
            part.pending.append(Reject(log.origin, "", "the file cannot be read"))
        for invocation in invocations:
            handled = (stored.get(invocation.origin, ("",))[0], taken.get(invocation.origin, ""))
            if _is_of_index(log) and any(at and not at.startswith(_OF_INDEX) for at in handled):
                continue
            if invocation.results and invocation.position not in handled:
                taken[invocation.origin] = invocation.position
                part.add(invocation.origin, invocation.position, invocation.results)
        unread = part.pending and part.pending[-1].origin == log.origin
        part.logs.append(ReadLog(log.origin, "" if unread else log.position))
        if part.rows >= _ROWS:
            yield part.collected()
            part = _Part()
    if part.logs:
        yield part.collected()


def _is_of_index(log: LogFile) -> bool:
    return log.url.endswith(_PARQUET)


def _invocations(log: LogFile, label: str) -> Iterator[Invocation]:
    if _is_of_index(log):
        for document in index_documents(*filesystem(log.url)):
            invocation = read_document(document, label, "index")
            yield replace(invocation, position=f"{_OF_INDEX}{invocation.position}")
    elif content := _content(log):
        yield read_invocation(content, label)


class _Part:
    def __init__(self) -> None:
        self.logs: list[ReadLog] = []
        self.results: list[pa.Table] = []
        self.rejects: list[Reject] = []
        self.pending: list[Reject] = []
        self.rows = 0

    def add(self, origin: str, position: str, results: tuple[NodeResult, ...]) -> None:
        """Add an invocation."""
        self.logs.append(ReadLog(origin, position, len(results)))
        self.results.append(table(NodeResult, results))
        self.rows += len(results)

    def collected(self) -> Collected:
        """Its files and their results as tables."""
        rejects = (*self.rejects, *self.pending)
        return tables(
            Records(rejects=rejects),
            {},
            node_results=pa.concat_tables(self.results) if self.results else None,
            origins=table(ReadLog, self.logs),
            pending=tuple(self.pending),
        )


def _content(log: LogFile) -> bytes:
    """The bytes of a file, unpacked; none if its head says that it is another artifact of dbt."""
    files, path = filesystem(log.url)
    # Arrow unpacks what ends in `.gz`.
    with files.open_input_stream(path) as stream:
        head: bytes = stream.read(_HEAD)
        if artifact(head) not in ("", "run-results", "sources"):
            return b""
        return head + stream.read()
