"""Tasks of a real job that write, or read, what Spark's log does not name: their runs have gaps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.collectors.spark.gap_reasons import RDD_FILES, RDD_READ, RDD_WRITTEN, ROWS_IN_CODE
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble

EXPECTED = {
    "table": set(),
    "files": {RDD_WRITTEN, RDD_FILES},
    "empty_files": {RDD_WRITTEN},
    "pickles": {RDD_WRITTEN},
    "each_row": {ROWS_IN_CODE, RDD_FILES},
    "each_part": {ROWS_IN_CODE},
    "input_format": {RDD_READ},
    "collects": set(),
    "batch_to_files": {RDD_WRITTEN, ROWS_IN_CODE},
    "batch_to_table": set(),
}


@pytest.mark.spark
def test_a_task_that_writes_rows_by_itself_has_a_gap(
    run_jobs: Callable[..., Path], tmp_path: Path
) -> None:
    folder = run_jobs(tmp_path, "rows_job") / "rows_job/events"
    files = sorted(folder.rglob("events_*"))
    parts = [EventFile(file.name, lambda file=file: file.open("rb")) for file in files]
    # The description of a streaming batch begins with the name of its query.
    logs = SparkLogs("rows", "rows", task=r"(?P<task>\w+)", task_from=("job_description",))
    records = assemble("rows", parts, logs).records
    shapes = {shape.shape_id: shape.reason for shape in records.shapes}
    assert {run.task: {shapes[gap] for gap in run.gaps} for run in records.runs} == EXPECTED
