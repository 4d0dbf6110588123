"""The last write of a dataset that succeeded, by the file of collected lineage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from graft_airflow.document import LineageDocument, text_of

_SHOWN = 5


class UnclearDatasetError(Exception):
    """Several datasets have a name."""


@dataclass(frozen=True)
class LastWrite:
    """The last write of a dataset.

    Attributes:
        dataset: `<namespace>/<name>`.
        written_at: None if no write of it is known.
        as_of: When the lineage was collected, in ISO 8601.
        valid: The ranges of its dates that may be used, as the file has them; None where no log
            shows dates of its data.
        unsure: The ranges of those that may be partial.
    """

    dataset: str
    written_at: datetime | None
    as_of: str
    valid: Any = None
    unsure: Any = None


def last_write(document: LineageDocument, name: str) -> LastWrite | None:
    """The last write of a dataset; None if it is not in the file.

    Args:
        name: `<namespace>/<name>` in any case, or the end of it after a `.` or `/`.

    Raises:
        UnclearDatasetError: Several have the name.
    """
    entries = document.datasets()
    wanted = name.strip().casefold()
    matches = [key for key in (name.strip(),) if key in entries]
    matches = matches or [key for key in entries if key.casefold() == wanted]
    ends = (f".{wanted}", f"/{wanted}")
    matches = matches or [key for key in entries if wanted and key.casefold().endswith(ends)]
    if not matches:
        return None
    if len(matches) > 1:
        shown = ", ".join(sorted(matches)[:_SHOWN])
        raise UnclearDatasetError(f"{len(matches)} datasets have this name; write one of: {shown}")
    entry = entries[matches[0]]
    text = text_of(entry.get("written_at")) if isinstance(entry, dict) else ""
    valid, unsure = (
        entry.get(name) if isinstance(entry, dict) else None for name in ("valid", "unsure")
    )
    return LastWrite(matches[0], moment_of(text), document.as_of, valid, unsure)


def moment_of(text: str) -> datetime | None:
    """A time in ISO 8601, aware; None if it is none."""
    try:
        # Python 3.9 and 3.10 do not know `Z`.
        moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
