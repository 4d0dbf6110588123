"""Real Spark jobs, each with what a reader of its log must find (see `case`)."""

from tests.collectors.spark.suite import (
    databases,
    files,
    memory,
    queries,
    servers,
    shop,
    streams,
    tables,
)
from tests.collectors.spark.suite.case import CASES

__all__ = [
    "CASES",
    "SAMPLE",
    "databases",
    "files",
    "memory",
    "queries",
    "servers",
    "shop",
    "streams",
    "tables",
]

# Ways into a log that need no server and no workers of Python's: each of those starts for seconds.
SAMPLE = (
    *("wide_tables", "csv_glob", "date_folders", "saved_twice", "joined", "ranked", "views"),
    *("save_as_table", "insert_partitions", "built_then_renamed", "failed_select"),
)
