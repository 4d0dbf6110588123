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
    "databases",
    "files",
    "memory",
    "queries",
    "servers",
    "shop",
    "streams",
    "tables",
]
