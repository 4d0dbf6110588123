"""Past times as people write them, and the configuration and records of a past state."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.building.as_of import as_of, oldest
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Records

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"([0-9]{1,6})\s*([mhdw])(?:\s*ago)?")
_DAYS = {"today": 0, "yesterday": 1}
_SHORT = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of the command line, and how it is shown."""

    at: datetime
    text: str

    @property
    def slug(self) -> str:
        """The time in the name of a folder: `2026-10-01`, `2026-10-01T0600`."""
        last = self.at + timedelta(microseconds=1)
        if last.time() == time.min:
            return f"{self.at:%Y-%m-%d}"
        return f"{self.at:%Y-%m-%dT%H%M}"


def moment(text: str, now: datetime, *, first: bool = False) -> Moment:
    """The time that a text names; of a day its end, or its first moment.

    Raises:
        ValueError, OverflowError: It names none.
    """
    word = text.strip().lower()
    if word == "now":
        return Moment(now, "now")
    if match := _SPAN.fullmatch(word):
        at = now - timedelta(**{_UNITS[match[2]]: int(match[1])})
        return Moment(at, f"{at:{_SHORT}} UTC")
    if word in _DAYS:
        word = (now - timedelta(days=_DAYS[word])).date().isoformat()
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", word):
        at = datetime.fromisoformat(word).replace(tzinfo=UTC)
        end = at + timedelta(days=1) - timedelta(microseconds=1)
        return Moment(at if first else end, f"{at.day} {at:%b %Y}")
    at = datetime.fromisoformat(text.strip())
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return Moment(at, f"{at:{_SHORT}} UTC")


def past_config(
    config: Config, past: Moment, output: str, out: Path | None, target_dir: Path | None
) -> Config:
    """The configuration for a past state: outputs beside the usual ones, and no URL.

    The site of a past state is published elsewhere than the usual one, or nowhere.
    """
    artifacts, site = config.artifacts, config.site.out
    folders = {
        key: f"{name.rstrip('/')}-as-of-{past.slug}"
        for key, name in (("artifacts", artifacts), ("site.out", site))
    }
    if out:
        folders[output] = str(out.absolute())
    section = config.site.model_copy(
        update={"out": folders["site.out"], "url": "", "audiences": {}}
    )
    dbt = config.dbt
    if target_dir:
        dbt = dbt.model_copy(update={"target_dir": str(target_dir.absolute())})
    return config.model_copy(
        update={"artifacts": folders["artifacts"], "site": section, "dbt": dbt}
    )


def past_records(store_folder: str, records: Records, past: Moment | None) -> Records:
    """The records of a store as of a time.

    Args:
        store_folder: The store, for the error.
        past: None for all of them.

    Raises:
        GraftError: It has none as old.
    """
    if past is None:
        return records
    dated = as_of(records, past.at)
    if records.accesses and not dated.accesses:
        first = oldest(records)
        begins = f"it begins {first.astimezone(UTC):{_SHORT}} UTC" if first else "it has no times"
        raise GraftError(
            f"the lineage store has nothing as of {past.text}",
            place=store_folder,
            remedy=f"{begins}: name a later time",
        )
    return dated


def past_notice(past: Moment, models_of: object) -> str:
    """The line on each page of a site of the past.

    Args:
        models_of: When dbt's artifacts were made, as they have it.
    """
    try:
        built = datetime.fromisoformat(str(models_of)).astimezone(UTC)
        of = f"of the build of {built.day} {built:%b %Y}"
    except ValueError:
        of = "of dbt's last build"
    return f"Lineage as of {past.text}. dbt's models are those {of}."
