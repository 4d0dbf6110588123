"""The logs in a lineage store by the names that people give: sources, servers, paths, patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from dbt_graft.collectors.source import is_below
from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.errors import GraftError

_WILDCARD = re.compile(r"[*?\[]")
_SHOWN = 8
# The label of `collectors.dbt.source.target_source`.
TARGET = "dbt:target"
# Of logs that no source in graft.yml has.
OTHERS = ""


def group_by_source(config: Config, origins: Iterable[str]) -> dict[str, list[str]]:
    """Source of `graft.yml` -> its logs; those that no source has, under an empty name."""
    logs_by_source: dict[str, list[str]] = {entry.label: [] for entry in config.collect}
    for origin in origins:
        labels = (*logs_by_source, TARGET)
        source = next((name for name in labels if name and is_below(origin, name)), OTHERS)
        logs_by_source.setdefault(source, []).append(origin)
    return logs_by_source


def match_origins(config: Config, origins: Sequence[str], name: str) -> list[str]:
    """The logs that a name means.

    Args:
        name: A source, server or namespace of `graft.yml`; a log, or a path above logs; or a
            pattern of logs, in which `*` stands for any text.

    Raises:
        GraftError: It means none of them.
    """
    listed = _source_labels(config)
    labels = {*_labels(config, listed, name)}
    if not labels and _WILDCARD.search(name):
        matches = [origin for origin in origins if fnmatchcase(origin, name)]
    else:
        labels.add(name)
        matches = [
            origin for origin in origins if any(is_below(origin, prefix) for prefix in labels)
        ]
    if not matches:
        known_sources = ", ".join(listed[:_SHOWN])
        raise GraftError(
            f"nothing in the store came from {name!r}",
            place="graft store forget",
            remedy="name a source of graft.yml"
            + (f" ({known_sources})" if known_sources else "")
            + ", a log, or a pattern such as 'logs/2025-*'; `graft store info --json` lists the "
            "logs",
        )
    return matches


def _source_labels(config: Config) -> list[str]:
    """The prefixes of the sources of `collect`, and of dbt's target folder."""
    return [*(entry.label for entry in config.collect), TARGET]


def _labels(config: Config, listed: Iterable[str], name: str) -> Iterator[str]:
    """The prefixes of the sources of a server or namespace."""
    yield from (label for label in listed if label.rstrip("/") == name.rstrip("/"))
    for entry in config.collect:
        if entry.sqlserver and entry.sqlserver.server == name:
            yield entry.label
        if entry.spark and entry.spark.namespace == name:
            yield entry.label
