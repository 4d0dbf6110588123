"""Past times on the command line: `--as-of`, and where what is made of a past state is written."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import click

from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.progress import Progress
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


class PastTime(click.ParamType):  # type: ignore[type-arg]
    """A time up to now: `2026-10-01`, `2026-10-01T06:00`, `30d`, `12h ago`, `yesterday`, `now`.

    A date is the end of that day. Times are in UTC unless they name another zone.

    Args:
        first: A date is its first moment, and the time may be to come: from it on something counts.
    """

    name = "time"

    def __init__(self, *, first: bool = False) -> None:
        self.first = first

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Moment:
        """The time of a text."""
        if isinstance(value, Moment):
            return value
        now = datetime.now(UTC)
        try:
            parsed = moment(str(value), now, first=self.first)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no time: write 2026-10-01, 2026-10-01T06:00, 30d or now", param, ctx
            )
        if not self.first and parsed.at > now and parsed.at.date() > now.date():
            self.fail(f"{value!r} is in the future", param, ctx)
        return parsed


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


as_of_option = click.option(
    "--as-of",
    "past",
    type=PastTime(),
    metavar="TIME",
    help="The lineage as it stood then: 2026-10-01 (the end of that day, UTC), 2026-10-01T06:00, "
    "30d.",
)


def takes_as_of(output: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--as-of` to a step, with `--out` and `--target-dir` that belong to it.

    The step gets a configuration whose outputs are folders of their own, and the time.

    Args:
        output: The key of `graft.yml` whose folder `--out` replaces.
    """

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--as-of",
            "past",
            type=PastTime(),
            metavar="TIME",
            help="The lineage as it stood then: 2026-10-01 (the end of that day, UTC), "
            "2026-10-01T06:00, 30d. Written to folders of its own.",
        )
        @click.option(
            "--out",
            type=click.Path(path_type=Path),
            metavar="FOLDER",
            help=f"With --as-of: the folder to write.  [default: `{output}` with the date]",
        )
        @click.option(
            "--target-dir",
            type=click.Path(path_type=Path, exists=True, file_okay=False),
            metavar="FOLDER",
            help="With --as-of: dbt's artifacts of that time, if you kept them.",
        )
        @functools.wraps(command)
        def run(
            config: Config,
            progress: Progress,
            *,
            past: Moment | None,
            out: Path | None,
            target_dir: Path | None,
            **options: Any,
        ) -> Any:
            if past is None:
                if out or target_dir:
                    raise click.UsageError("--out and --target-dir need --as-of")
                return command(config, progress, past=None, **options)
            config = past_config(config, past, output, out, target_dir)
            return command(config, progress, past=past, **options)

        return run

    return with_options


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
