"""What all tests share: one Spark session for the whole run, and the paths of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbt_graft.collectors.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one Spark session of the test run, on two cores."""
    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.master": "local[2]",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    with session(settings) as spark:
        yield spark


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the source tree."""
    return ROOT
