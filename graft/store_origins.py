"""The logs in a lineage store by the names that people give: sources, servers, paths, patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from dbt_graft.collectors.source import LogSource, is_below
from dbt_graft.graft.config import Config
from dbt_graft.graft.sources import label, sources
from dbt_graft.lineage.errors import GraftError

_WILDCARD = re.compile(r"[*?\[]")
_SHOWN = 8
# Of logs that no source in graft.yml has.
OTHERS = ""


def by_source(config: Config, origins: Iterable[str]) -> dict[str, list[str]]:
    """Source of `graft.yml` -> its logs; those that no source has, under an empty name."""
    found: dict[str, list[str]] = {source.label: [] for source in sources(config)}
    for origin in origins:
        own = next((one for one in found if is_below(origin, one)), OTHERS)
        found.setdefault(own, []).append(origin)
    return found


def matching(config: Config, origins: Sequence[str], name: str) -> list[str]:
    """The logs that a name means.

    Args:
        name: A source, server or namespace of `graft.yml`; a log, or a path above logs; or a
            pattern of logs, in which `*` stands for any text.

    Raises:
        GraftError: It means none of them.
    """
    listed = list(sources(config))
    labels = {*_labels(config, listed, name)}
    if not labels and _WILDCARD.search(name):
        found = [one for one in origins if fnmatchcase(one, name)]
    else:
        labels.add(name)
        found = [one for one in origins if any(is_below(one, prefix) for prefix in labels)]
    if not found:
        known = ", ".join([one.label for one in listed][:_SHOWN])
        raise GraftError(
            f"nothing in the store came from {name!r}",
            place="graft store forget",
            remedy="name a source of graft.yml"
            + (f" ({known})" if known else "")
            + ", a log, or a pattern such as 'logs/2025-*'; `graft store info --json` lists the "
            "logs",
        )
    return found


def _labels(config: Config, listed: Iterable[LogSource], name: str) -> Iterator[str]:
    """The prefixes of the sources of a server or namespace."""
    yield from (one.label for one in listed if one.label.rstrip("/") == name.rstrip("/"))
    for entry in config.collect:
        if entry.sqlserver and entry.sqlserver.server == name:
            yield label(entry)
        if entry.spark and entry.spark.namespace == name:
            yield label(entry)
