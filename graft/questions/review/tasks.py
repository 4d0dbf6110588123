"""Tasks in a review: what they ran since the base, and before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from dbt_graft.analysis.render.phrases import join_names, time_text
from dbt_graft.analysis.review.node import QueryOutline
from dbt_graft.analysis.review.task_runs import runs_beyond, runs_since
from dbt_graft.analysis.review.task_version import task_versions
from dbt_graft.analysis.review.tasks import TaskSurroundings, run_reviews
from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.declared import task_infos
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.questions.review.names import ReviewNames, writers_of
from dbt_graft.graft.questions.review.tasks_reviewed import TasksReviewed
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Shape


def base_moment(old: Artifacts) -> Moment | None:
    """The time at which the base was built, by its manifest."""
    generated_at = (old.manifest.get("metadata") or {}).get("generated_at")
    try:
        at = datetime.fromisoformat(str(generated_at))
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return Moment(at.astimezone(UTC), f"{time_text(at)} UTC")


def compare_runs(
    config: Config,
    names: ReviewNames,
    since: Moment | None,
    base_store: str | None,
    described: Callable[[], DescribedLineage] | None,
) -> TasksReviewed:
    """The tasks whose runs since the base do other things than before.

    Args:
        since: When the base was built; None where nobody knows.
        base_store: The store of the base build; None where it is the same store.
        described: Gives the lineage of now; None without a store.

    Raises:
        GraftError: A store cannot be read.
    """
    if base_store is not None and collected_at(base_store) is None:
        raise GraftError(
            "there is no lineage store", place=base_store, remedy="name that of the base build"
        )
    if described is None:
        return TasksReviewed()
    records = names.records(config.path(config.store))
    if base_store is not None:
        comparison, when = runs_beyond(records, names.records(base_store)), "the base's store"
    elif since is None:
        problem = "the base's manifest has no time: tasks' statements are not compared"
        return TasksReviewed(notices=(f"{problem}; name one with --since",))
    else:
        comparison, when = runs_since(records, since.at), since.text
    if comparison.is_empty:
        text = f"no task has run since {when}: their statements are not compared"
        return TasksReviewed(notices=(text,) if records.runs else ())
    infos = task_infos(config)
    since_then = names.lineage(comparison.since, infos)
    before, *last = (
        names.lineage(earlier, infos) for earlier in (comparison.before, *comparison.last)
    )
    around = TaskSurroundings(
        writers_of(described().lineage), {names.rename(dataset) for dataset in comparison.known}
    )
    nodes = run_reviews(before, last, since_then, around, comparison.changed, _shape_outline)
    return TasksReviewed(
        nodes, tuple(_mixed_notices(sorted(comparison.mixed))), task_versions(since_then)
    )


@lru_cache(maxsize=10_000)
def _shape_outline(shape: Shape) -> QueryOutline | None:
    """The outline of a statement of the store; None where its SQL has no tree."""
    # With the parser: mostly no task has run since.
    from dbt_graft.collectors.statements.outline.statement import statement_outline
    from dbt_graft.collectors.statements.text.dialect import Dialect

    try:
        return statement_outline(shape.text, Dialect(shape.dialect))
    except ValueError:
        return None


def _mixed_notices(tasks: Sequence[str]) -> Iterator[str]:
    if tasks:
        yield (
            f"columns of {join_names(tasks)} are not compared: events of both versions are in one "
            "file, which does not say whose they are"
        )
