"""The results in an index of dbt 2, in the form of run_results.json and sources.json.

`dbt_rt.run_results` has all invocations since the target folder is new, `dbt.source_freshness` the
last check of each source. The former's commands are in a table beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.lineage.grouping import group_by_key

Document = Mapping[str, Any]
RUNS, FRESHNESS = "dbt_rt.run_results.parquet", "dbt.source_freshness.parquet"
_INVOCATIONS = "dbt_rt.invocations.parquet"
_JSON = ("adapter_response", "timing", "batch_results")
_SCHEMA = "https://schemas.getdbt.com/dbt/{}.json"


def index_documents(files: fs.FileSystem, path: str) -> Iterator[Document]:
    """The results of each invocation in a file of an index.

    Args:
        path: A file `RUNS` or `FRESHNESS`.

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
