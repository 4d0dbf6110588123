"""The results of reading logs -> the tables of the store.

Of few logs they are brought here, and the reading is all that Spark does. Of many they stay with
Spark, however many they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import ddl, row
from dbt_graft.collectors.spark.worker import TABLES
from dbt_graft.collectors.store import Collected
from dbt_graft.collectors.store.arrow_tables import drop_origins, record_tables, table
from dbt_graft.collectors.store.tables import ReadLog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CLAIM = ("origin", "position", "run", "events")


@dataclass(frozen=True, slots=True)
class ArrowResults:
    """Results in the memory of this process: rows of `LogResult`."""

    rows: pa.Table

    def claims(self) -> list[dict[str, Any]]:
        """Origin, position, run and events of each log; of one not read also its rejects."""
        unread = self.rows.filter(pc.equal(self.rows["position"], pa.scalar("")))
        rejects_by_origin = {row["origin"]: row["records"]["rejects"] for row in unread.to_pylist()}
        claims = self.rows.select(list(_CLAIM)).to_pylist()
        return [{**claim, "rejects": rejects_by_origin.get(claim["origin"])} for claim in claims]

    def collect_tables(
        self, missing: Sequence[str], discarded: Sequence[str], replaced: Sequence[ReadLog]
    ) -> Collected:
        """The tables of the store.

        Args:
            missing: Logs to leave out altogether.
            discarded: Logs that count as read, but whose records are left out.
            replaced: Logs in the store whose records go.
        """
        results = drop_origins(self.rows, missing)
        tables = record_tables(drop_origins(results, discarded))
        tables["rejects"] = record_tables(results)["rejects"]
        read = results.select(["origin", "position", "events"]).to_pylist()
        origins = table(ReadLog, [*(ReadLog(**origin) for origin in read), *replaced])
        return Collected(**tables, origins=origins, pending=())


@dataclass(frozen=True, slots=True)
class SparkResults:
    """Results that stay with Spark: a persistent data frame of `LogResult`."""

    frame: DataFrame

    def claims(self) -> Sequence[Mapping[str, Any]]:
        """Those of `ArrowResults`; logs without any are left out."""
        rejects = "CASE WHEN position = '' THEN records.rejects END AS rejects"
        logs = self.frame.where("run IS NOT NULL OR position = ''")
        claims = logs.selectExpr(*_CLAIM, rejects)
        return [claim.asDict(recursive=True) for claim in claims.collect()]

    def collect_tables(
        self, missing: Sequence[str], discarded: Sequence[str], replaced: Sequence[ReadLog]
    ) -> Collected:
        """As `ArrowResults.collected`, as lazy data frames."""
        results = self._drop_origins(self.frame, missing)
        counted = self._drop_origins(results, discarded)
        tables = {name: counted.selectExpr(f"inline(records.{name})") for name in TABLES}
        tables["rejects"] = results.selectExpr("inline(records.rejects)")
        origins = results.selectExpr(
            "origin", "position", "events", "0L AS noise", "'' AS settings"
        )
        if replaced:
            gone = [row(log) for log in replaced]
            origins = origins.unionByName(
                self.frame.sparkSession.createDataFrame(gone, ddl(ReadLog))
            )
        return Collected(**tables, origins=origins)

    def _drop_origins(self, frame: DataFrame, origins: Sequence[str]) -> DataFrame:
        if not origins:
            return frame
        rows = [(origin,) for origin in origins]
        these = self.frame.sparkSession.createDataFrame(rows, ["origin"])
        return frame.join(these.hint("broadcast"), "origin", "left_anti")
