"""run_results.json and sources.json as dbt writes them, for tests."""

from __future__ import annotations

import json
from typing import Any

Document = dict[str, Any]


def result(node_id: str, status: str = "success", **keys: object) -> Document:
    """A node's entry, with the keys that a test is about."""
    return {
        "unique_id": node_id,
        "status": status,
        "timing": [
            {"name": "compile", "started_at": "2026-11-20T05:00:01Z"},
            {"name": "execute", "started_at": "2026-11-20T05:00:02Z"},
        ],
        "thread_id": "Thread-1",
        "execution_time": 2.5,
        "adapter_response": {},
        "message": None,
        "failures": None,
        **keys,
    }


def run_results(*results: Document, invocation: str = "i1", which: str = "build") -> Document:
    """The results of an invocation."""
    return {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v6.json",
            "dbt_version": "1.11.0",
            "generated_at": "2026-11-20T05:01:00.123456Z",
            "invocation_id": invocation,
            "invocation_started_at": "2026-11-20T05:00:00Z",
        },
        "results": [*results],
        "elapsed_time": 60.0,
        "args": {"which": which},
    }


def sources(*results: Document, invocation: str = "f1") -> Document:
    """The results of a freshness check."""
    document = run_results(*results, invocation=invocation)
    document["metadata"]["dbt_schema_version"] = "https://schemas.getdbt.com/dbt/sources/v3.json"
    del document["args"]
    return document


def dump(document: Document) -> bytes:
    """A document as dbt writes it: its metadata first."""
    return json.dumps(document).encode()
