"""The column edges of dbt's models, snapshots and seeds: the door of this source.

The compiled query of each model is followed with the columns of what it reads: those of the
catalog, else of the YAML file, else those that following the model upstream has found. Edges end
at relations: an ephemeral model is seen through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_graft.collectors.dbt.column_cache import ColumnCache
from dbt_graft.collectors.dbt.dialects import dialect_of
from dbt_graft.collectors.dbt.edges import ColumnTracer
from dbt_graft.collectors.dbt.followed_query import FollowedQuery, follow_query, query_digest
from dbt_graft.collectors.dbt.models import DbtModel, read_models
from dbt_graft.collectors.dbt.order import levels
from dbt_graft.collectors.dbt.relation_names import RelationNames
from dbt_graft.collectors.dbt.schemas import Schemas
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.workers import WorkerPool
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionColumns

_NOT_COMPILED = "it is not compiled: run `dbt compile` or `dbt docs generate`"
_PYTHON = "a Python model: columns come from Spark's log"


class ModelCount:
    """The progress of following models; `of` is 0 before they are read."""

    def __init__(self) -> None:
        self.of = self._done = 0

    def add(self, models: int) -> None:
        """Count models that were followed."""
        self._done += models

    @property
    def part(self) -> float | None:
        """The part that was followed, from 0 to 1."""
        return self._done / self.of if self.of else None

    def __str__(self) -> str:
        return f"columns of {self._done:,} of {self.of:,} dbt models" if self.of else ""


@dataclass(frozen=True, slots=True)
class ModelQuery:
    """A model whose query is to be followed, and the columns found so far of what it reads."""

    unique_id: str
    found: Mapping[str, tuple[str, ...]]


def dbt_columns(
    manifest: Mapping[str, Any],
    catalog: Mapping[str, Any],
    datasets: Mapping[str, DatasetId],
    cache: ColumnCache | None = None,
    count: ModelCount | None = None,
) -> DefinitionColumns:
    """The column edges of a project's models, by unique id.

    Args:
        datasets: Unique id -> the dataset of its relation.
        cache: What was followed before; it gets what is followed now.
        count: Counts the models while they are followed.
    """
    models = read_models(manifest, catalog, datasets)
    queries = {key: one for key, one in models.items() if one.is_query}
    adapter = str((manifest.get("metadata") or {}).get("adapter_type") or "")
    dialect = dialect_of(adapter)
    if queries and not any(one.sql for one in queries.values()):
        return _nothing(queries, f"dbt's models have no columns: {_NOT_COMPILED}", _NOT_COMPILED)
    if dialect is None:
        reason = f"the SQL of dbt's adapter {adapter or '(unknown)'} is not supported"
        return _nothing(queries, f"dbt's models have no columns: {reason}", reason)
    following = _Following(models, dialect, cache or ColumnCache(None))
    return following.all(count or ModelCount())


def _nothing(queries: Mapping[str, DbtModel], notice: str, reason: str) -> DefinitionColumns:
    gaps = {key: _PYTHON if one.is_python else reason for key, one in queries.items()}
    return DefinitionColumns(gaps=gaps, notices=(notice,))


class _Following:
    """The models of a project while their queries are followed, upstream first."""

    def __init__(self, models: Mapping[str, DbtModel], dialect: str, cache: ColumnCache) -> None:
        self._models, self._dialect, self._cache = models, dialect, cache
        self._names = RelationNames(models)
        self._schemas = Schemas(models)
        namespaces = {one.dataset.namespace for one in models.values() if one.dataset}
        self._tracer = ColumnTracer(self._names, min(namespaces, default=""))

    def all(self, count: ModelCount) -> DefinitionColumns:
        groups = list(levels(self._models))
        count.of = sum(map(len, groups))
        with WorkerPool(self._work, _failed) as pool:
            for group in groups:
                new: list[ModelQuery] = []
                for key in group:
                    self._add_known(key, new)
                count.add(len(group) - len(new))
                for query, found in zip(new, pool.map(new, count.add), strict=True):
                    model = self._models[query.unique_id]
                    self._cache.add(query_digest(model.sql, self._dialect), found)
                    self._add(model, found)
        return self._tracer.result()

    def _add_known(self, key: str, new: list[ModelQuery]) -> None:
        """Add what needs no parsing; note what does."""
        model = self._models[key]
        if model.is_python or not model.sql:
            reason = _PYTHON if model.is_python else _NOT_COMPILED
            self._add(model, FollowedQuery(gaps=(reason,)))
            return
        found = self._schemas.found(model)
        columns = self._columns(model, found)
        known = self._cache.find(query_digest(model.sql, self._dialect), columns)
        if known:
            self._add(model, known)
        else:
            new.append(ModelQuery(key, found))

    def _add(self, model: DbtModel, query: FollowedQuery) -> None:
        self._schemas.add(model, query)
        self._tracer.add(model, query)

    def _columns(
        self, reader: DbtModel, found: Mapping[str, tuple[str, ...]]
    ) -> Callable[[Name], Sequence[str]]:
        """The columns of the tables that a model's query names."""

        def columns(name: Name) -> Sequence[str]:
            model = self._names.find(name, reader)
            if model is None:
                return ()
            return found.get(model.unique_id) or self._schemas.stated(model)

        return columns

    def _work(self, query: ModelQuery) -> FollowedQuery:
        model = self._models[query.unique_id]
        return follow_query(model.sql, self._dialect, self._columns(model, query.found))


def _failed(query: ModelQuery, reason: str) -> FollowedQuery:
    return FollowedQuery(gaps=(reason,))
