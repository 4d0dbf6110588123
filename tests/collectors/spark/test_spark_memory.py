"""What a log takes of memory does not grow with its length."""

from __future__ import annotations

import tracemalloc
from typing import Any

from collectors.spark.assemble import Part, assemble
from collectors.spark.logs import SparkLogs

TASKS = b'{"Event":"SparkListenerTaskEnd","Stage ID":0,"x":"%s"}\n' % (b"x" * 4_000) * 250


class Long:
    """A log that is made while it is read: a head, and a megabyte of tasks again and again."""

    def __init__(self, head: bytes, megabytes: int) -> None:
        self.pieces = [head] + [TASKS] * megabytes

    def __enter__(self) -> Long:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, _: int) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


def peak(head: bytes, megabytes: int) -> int:
    """Bytes, at most, while a log is read."""
    part = Part("log", lambda: Long(head, megabytes))
    tracemalloc.start()
    told = assemble("log", [part], SparkLogs("log", "log"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert told.events == 4 + 250 * megabytes
    assert told.run
    return most


def test_a_log_of_many_tasks_takes_no_more_than_a_short_one(make_log: Any, node: Any) -> None:
    head = make_log({"plan": node("Scan hive raw.a")}, end=False)
    peak(head, 1)  # what is imported and compiled at the first time
    assert peak(head, 60) < 1.5 * peak(head, 5)
