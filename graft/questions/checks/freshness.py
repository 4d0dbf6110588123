"""The check `freshness`: whether sources are collected up to now."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.checks.freshness import SourceFreshness, freshness_answer
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, NothingToCheckError
from dbt_graft.lineage.errors import GraftError


def check_freshness(checked: CheckedProject) -> Answer:
    """Up to when each source is collected, and how far it is behind.

    Raises:
        NothingToCheckError: It is about a past time, of which no log is listed; or nobody asked:
            logs may be far away.
        GraftError: The store cannot be read, or there is no source of such a name.
    """
    options = checked.options
    if options.past:
        raise NothingToCheckError("it is about now, not about the past")
    if options.max_age is None and "freshness" not in options.only:
        raise NothingToCheckError("it looks for logs, which may be far", remedy="give a --max-age")
    # Importing all sources takes longer than the other checks, and mostly nobody asks.
    from dbt_graft.graft.questions.source_freshness import source_freshness

    sources, collected_at = source_freshness(checked.config)
    return freshness_answer(
        _choose_sources(sources, options.sources), collected_at, checked.now, options.max_age
    )


def _choose_sources(
    sources: Sequence[SourceFreshness], names: Sequence[str]
) -> Sequence[SourceFreshness]:
    known_names = sorted(source.name for source in sources)
    for name in names:
        if name not in known_names:
            raise GraftError(
                f"there is no source {name!r}",
                place="graft.yml: `collect`",
                remedy=f"name one of {', '.join(known_names)}"
                if known_names
                else "add it to graft.yml",
            )
    return [source for source in sources if source.name in names] if names else sources
