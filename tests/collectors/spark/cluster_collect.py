"""Collects Spark logs on a cluster and folds them: `cluster_collect.py MASTER [LOGS STORE]…`.

Prints, as JSON, the folder that each executor works in and the files of our modules there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

import pyarrow as pa

from dbt_graft.collectors.engines.session import session
from dbt_graft.collectors.engines.spark import SparkEngine
from dbt_graft.collectors.spark.collect import collect
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.fold.spark import folding_on
from dbt_graft.collectors.store.fold.write import fold_store


def imported(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The place where this is run, and the modules of ours imported there."""
    from pathlib import Path

    import dbt_graft.collectors.spark.collect  # noqa: F401

    ours = [
        (str(Path.cwd()), module.__file__)
        for name, module in list(sys.modules.items())
        if name.split(".")[0] == "dbt_graft"
    ]
    for _ in batches:
        pass
    folders, files = zip(*ours, strict=True)
    yield pa.RecordBatch.from_pydict({"folder": folders, "file": files})


master, *places = sys.argv[1:]
settings = {
    "spark.master": master,
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    # Work begins when both executors are there, and each gets some.
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.scheduler.minRegisteredResourcesRatio": "1",
    # None of them lives long.
    "spark.sql.codegen.wholeStage": "false",
    "spark.executor.extraJavaOptions": os.environ["SPARK_SUBMIT_OPTS"],
}
with session(settings) as spark:
    for path, store in zip(places[::2], places[1::2], strict=True):
        found = collect(SparkEngine(spark), SparkLogs(path, "events"), {})
        assert found
        assert commit(store, [found])
        assert fold_store(store, few=1, many=0, newest=1, on_spark=folding_on(spark, newest=1))
    rows = spark.range(0, 2, 1, 2).mapInArrow(imported, "folder string, file string").collect()
    print(json.dumps([list(row) for row in rows]))
