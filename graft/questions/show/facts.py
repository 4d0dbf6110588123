"""Facts of an answer from its values for programs."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dbt_graft.analysis.answer import Cell
from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.lineage.describe import Consumer

BEGINNING = datetime.min.replace(tzinfo=UTC)
_READERS = 8
_LENGTH = 200  # of a description


def plain_facts(values: Mapping[str, Any]) -> dict[str, Cell]:
    """The values that are there, each in a line under its name."""
    return {
        name.replace("_", " "): value if isinstance(value, int) else plain(value)
        for name, value in values.items()
        if value not in (None, "", [], ())
    }


def readers_json(consumers: Iterable[Consumer]) -> list[dict[str, str]]:
    """Dashboards and the like as JSON values."""
    keys = ("node_id", "name", "kind", "url")
    return [{key: getattr(consumer, key) for key in keys} for consumer in consumers]


def readers_text(consumers: Sequence[Consumer]) -> str:
    """`1 dashboard, 1 task: Revenue, export_report`; empty without any."""
    kinds = sorted(Counter(consumer.kind for consumer in consumers).items())
    names = join_names([consumer.name for consumer in consumers], _READERS)
    return f"{', '.join(count(number, kind) for kind, number in kinds)}: {names}" if kinds else ""


def plain(value: Any, length: int = _LENGTH) -> str:
    """A value in a line, cut; empty for none."""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
    return textwrap.shorten(text, length, placeholder=" …")
