"""Servers that come with Spark, started for a test and stopped for sure."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from dbt_graft.collectors.java import java_home

SPARK = Path(pyspark.__file__).parent
_START = 180.0  # seconds, on a busy machine


@contextmanager
def daemon(name: str, *arguments: str, log: Path, ready: str) -> Iterator[str]:
    """A server while it is needed.

    Args:
        name: Its class below `org.apache.spark.deploy`.
        log: Where its log goes.
        ready: A regular expression on what it logs when it is ready; its group is what is given.
    """
    environment = {
        **os.environ,
        "JAVA_HOME": java_home(),
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
    }
    command = [str(SPARK / "bin/spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with log.open("wb") as sink:
        # In a process group of its own, with the executors that it may start.
        process = subprocess.Popen(
            command, env=environment, stdout=sink, stderr=sink, start_new_session=True
        )
    try:
        yield _ready(process, log, re.compile(ready))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ready(process: subprocess.Popen[bytes], log: Path, ready: re.Pattern[str]) -> str:
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline and process.poll() is None:
        if match := ready.search(log.read_text("utf-8", "replace")):
            return match[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text("utf-8", "replace")[-3000:])
