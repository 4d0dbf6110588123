"""A text that kills or hangs the parser on an executor is one failed shape; all others count."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from dbt_graft.collectors.schema import ddl
from dbt_graft.collectors.sqlserver.resolution.resolve import ResolvedText, SentText, resolve_texts
from dbt_graft.collectors.statements import parse as statements
from dbt_graft.collectors.statements.parse import ColumnLookup, ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_deadly_text_is_one_failed_shape(spark: SparkSession) -> None:
    def fragile(text: str, dialect: Dialect, columns: ColumnLookup) -> Sequence[ParsedShape]:
        if "deadly" in text:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "endless" in text:
            time.sleep(600)
        return statements.parse(text, dialect, columns)

    names = [f"t{number}" for number in range(40)] + ["deadly", "endless", "deadly_too"]
    texts = spark.createDataFrame(
        [(f"SELECT a FROM {name}", "Shop") for name in names], ddl(SentText)
    ).repartition(2)
    run = resolve_texts("mssql://sql01:1433", parse=fragile, seconds=1.0)
    parsed = {
        row.text: row.statements for row in texts.mapInArrow(run, ddl(ResolvedText)).collect()
    }

    assert {text.split()[-1] for text in parsed} == set(names)
    reasons = {text.split()[-1]: found[0].reason for text, found in parsed.items()}
    assert {name: reason for name, reason in reasons.items() if reason} == {
        "deadly": "crashed the parser (SIGSEGV)",
        "deadly_too": "crashed the parser (SIGSEGV)",
        "endless": "took longer than 1 s",
    }
    for text, (shape,) in parsed.items():
        name = text.split()[-1]
        assert shape.shape_id
        assert shape.outcome == ("failed" if reasons[name] else "parsed")
        read = [] if reasons[name] else [f"Shop.dbo.{name}"]
        assert [access.name for access in shape.accesses] == read
