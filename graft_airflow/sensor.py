"""A sensor that waits for a dataset by its lineage, not by a clock.

LineageSensor(task_id="orders_are_there", dataset="spark/raw.orders", mode="reschedule")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from graft_airflow.document import read_document
from graft_airflow.errors import LineageFileError, one_line
from graft_airflow.last_writes import LastWrite, UnclearDatasetError, last_write
from graft_airflow.settings import settings
from graft_airflow.valid_dates import missing_from, wanted_range

try:
    from airflow.sdk import BaseSensorOperator
except ImportError:  # Airflow 2
    from airflow.sensors.base import BaseSensorOperator


class LineageSensor(BaseSensorOperator):  # type: ignore[misc]
    """Waits until a dataset was written, with success, since the data interval's start.

    The time of the write is that in the file of `graft export airflow-lineage`: it must be written
    again while the sensor waits.

    Args:
        dataset: `<namespace>/<name>` as in graft's pages; the end of it, `raw.orders`, if only one
            dataset has that.
        since: The write must not be before this time, in ISO 8601; by default the start of the data
            interval, or where a run has none its logical date, or the time from which it may run.
        lookback: How long before that a write counts too. A cron schedule of Airflow 3 has an
            interval of no length, which starts when the run does.
        dates: Wait for these dates of its data instead, until all are completed and none is tainted
            on record: `"{{ ds }}"`, `2026-10-03..2026-10-05`, `2026-10`.
        allow_unsure: Dates that may be partial, as no log shows what they need, count too.
        graft_file: The path or URL of the file; by default that of section `[graft]`.
    """

    template_fields: Sequence[str] = ("dataset", "since", "dates", "graft_file")

    def __init__(
        self,
        *,
        dataset: str,
        since: str | datetime | None = None,
        lookback: timedelta = timedelta(0),
        dates: str = "",
        allow_unsure: bool = False,
        graft_file: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.dataset = dataset
        self.since = since
        self.lookback = lookback
        self.dates = dates
        self.allow_unsure = allow_unsure
        self.graft_file = graft_file

    def poke(self, context: Any) -> bool:
        """Whether the dataset was written; a file that cannot be read now may be later.

        Raises:
            ValueError: `since` is no time, `dates` are none, or several datasets have this name.
        """
        wanted = wanted_range(self.dates) if self.dates else None
        after = None if wanted else _parse_since(self.since, context) - self.lookback
        try:
            write = self._last_write()
        except LineageFileError as error:
            self.log.warning("graft_airflow: %s", error)
            return False
        except UnclearDatasetError as error:
            raise ValueError(str(error)) from error
        shown = one_line(self.dataset)
        if write is None:
            self.log.info("%s is not in the collected lineage", shown)
            return False
        if wanted:
            return self._is_valid(write, wanted, shown)
        if write.written_at is None or after is None:
            self.log.info("%s: no write of it is known", shown)
            return False
        done = write.written_at >= after
        self.log.info(
            "%s was last written at %s, %s %s; the lineage is as of %s",
            *(shown, write.written_at.isoformat(), "since" if done else "before"),
            *(after.isoformat(), write.as_of or "an unknown time"),
        )
        return done

    def _is_valid(self, write: LastWrite, wanted: tuple[datetime, datetime], shown: str) -> bool:
        if write.valid is None:
            self.log.info("%s: no log shows dates of its data", shown)
            return False
        dates = one_line(self.dates)
        first = missing_from(*wanted, write.valid)
        if first is None:
            self.log.info("%s of %s is completed and not tainted", shown, dates)
            return True
        if missing_from(*wanted, write.valid, write.unsure) is None:
            self.log.info(
                "%s of %s is there, but may be partial from %s on: no log shows which dates of its"
                " inputs it needs, or how its run ended; declare `reads`, or set allow_unsure=True",
                *(shown, dates, first.isoformat()),
            )
            return self.allow_unsure
        self.log.info(
            "%s of %s is not completed, or tainted, from %s on; the lineage is as of %s",
            *(shown, dates, first.isoformat(), write.as_of or "an unknown time"),
        )
        return False

    def _last_write(self) -> LastWrite | None:
        where = settings()
        if self.graft_file:
            where = replace(where, lineage=self.graft_file)
        # Two pokes are minutes apart: a file from a URL is asked for again.
        where = replace(where, ttl=min(where.ttl, max(float(self.poke_interval) / 2, 1)))
        return last_write(read_document(where), self.dataset)


def _parse_since(since: str | datetime | None, context: Any) -> datetime:
    if isinstance(since, datetime):
        moment: datetime | None = since
    elif since:
        text = since.strip()
        try:
            moment = datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in "zZ" else text)
        except ValueError:
            raise ValueError(f"`since` is no time in ISO 8601: {one_line(text)}") from None
    else:
        run = context.get("dag_run")
        moments = (
            context.get("data_interval_start"),
            context.get("logical_date"),
            getattr(run, "run_after", None),
        )
        moment = next((candidate for candidate in moments if candidate), None)
    if moment is None:
        raise ValueError("the run has no data interval: name a time as `since`")
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
