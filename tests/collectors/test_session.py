"""The Spark session: executors get our code, and failures are told in a sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from collectors.session import _failure

CLUSTER = """
from collectors.session import session

def where(batches):
    import pyarrow as pa
    import collectors.spark.decode
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"file": [collectors.spark.decode.__file__]})

settings = {"spark.master": "local-cluster[1,1,1024]", "spark.driver.host": "127.0.0.1"}
with session(settings) as spark:
    [row] = spark.range(1).coalesce(1).mapInArrow(where, "file string").collect()
    print(row.file)
"""


@pytest.mark.spark
def test_executors_of_a_cluster_import_what_was_shipped(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLUSTER], cwd=root, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "graft_collectors.zip" in done.stdout


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("An error occurred while calling o1.x.\n: a.B: why\n\tat c.D", "Spark failed: a.B: why"),
        (
            "An error…\n: a.B: outer\n\tat c.D\nCaused by: e.F: inner\n\tat g.H",
            "Spark failed: e.F: inner",
        ),
        ("[PATH_NOT_FOUND] no such path", "Spark failed: [PATH_NOT_FOUND] no such path"),
        ("", "Spark failed: ValueError"),
    ],
)
def test_a_failure_is_one_sentence_and_the_log_holds_the_rest(
    tmp_path: Path, said: str, told: str
) -> None:
    log = tmp_path / "spark.log"
    error = _failure(ValueError(said), log)
    assert error.problem == told
    assert said in log.read_text("utf-8")
    assert str(log) in str(error)
