"""The column edges of dbt's models, snapshots and seeds: the door of this source.

The compiled query of each model is followed with the columns of what it reads: those of the
catalog, else of the YAML file, else those that following the model upstream has found. Edges end
at relations: an ephemeral model is seen through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.dbt.branches import branches
from dbt_graft.collectors.dbt.column_cache import ColumnCache
from dbt_graft.collectors.dbt.edges import ColumnTracer
from dbt_graft.collectors.dbt.followed_query import FollowedQuery, query_digest, unite_queries
from dbt_graft.collectors.dbt.models import (
    DbtModel,
    FindFile,
    RelationNames,
    dialect_of,
    read_models,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionColumns
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.text.names import Name
    from dbt_graft.collectors.statements.workers import WorkerPool

_NOT_COMPILED = "it is not compiled (run `dbt compile` or `dbt docs generate`)"
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


@frozen
class ModelQuery:
    """A query of a model, and the columns found so far of what the model reads.

    Attributes:
        digest: See `query_digest`.
    """

    unique_id: str
    sql: str
    digest: str
    columns: Mapping[str, tuple[str, ...]]


def dbt_columns(
    manifest: Mapping[str, Any],
    catalog: Mapping[str, Any],
    datasets: Mapping[str, DatasetId],
    cache: ColumnCache | None = None,
    count: ModelCount | None = None,
    find_file: FindFile = lambda _: None,
) -> DefinitionColumns:
    """The column edges of a project's models, by unique id.

    Args:
        cache: What was followed before; it gets what is followed now.
        count: Counts the models while they are followed.
        find_file: A path in SQL -> its dataset.
    """
    models = read_models(manifest, catalog, datasets)
    queries = {key: model for key, model in models.items() if model.is_query}
    adapter = str((manifest.get("metadata") or {}).get("adapter_type") or "")
    dialect = dialect_of(adapter)
    with_sql = [model for model in queries.values() if not model.is_python]
    if with_sql and not any(model.sql for model in with_sql):
        return _no_columns(queries, f"dbt's models have no columns: {_NOT_COMPILED}", _NOT_COMPILED)
    if with_sql and dialect is None:
        reason = f"the SQL of dbt's adapter {adapter or '(unknown)'} is not supported"
        return _no_columns(queries, f"dbt's models have no columns: {reason}", reason)
    following = _Following(models, dialect or "", cache or ColumnCache(None), find_file)
    return following.all(count or ModelCount())


def _no_columns(queries: Mapping[str, DbtModel], notice: str, reason: str) -> DefinitionColumns:
    gaps = {
        key: _PYTHON if model.is_python else reason
        for key, model in queries.items()
        if model.dataset is not None
    }
    return DefinitionColumns(gaps=gaps, notices=(notice,))


class _Following:
    """The models of a project while their queries are followed, upstream first."""

    def __init__(
        self,
        models: Mapping[str, DbtModel],
        dialect: str,
        cache: ColumnCache,
        find_file: FindFile,
    ) -> None:
        self._models, self._dialect, self._cache = models, dialect, cache
        namespaces = {model.dataset.namespace for model in models.values() if model.dataset}
        self._names = RelationNames(models, min(namespaces, default=""), find_file)
        self._schemas = _Schemas(models)
        self._tracer = ColumnTracer(self._names, cache)
        self._pools = ExitStack()

    @cached_property
    def _pool(self) -> WorkerPool[ModelQuery, FollowedQuery]:
        """Processes with a parser, which a build with a warm cache does not need."""
        from dbt_graft.collectors.dbt import query_follower  # noqa: F401
        from dbt_graft.collectors.statements.workers import WorkerPool

        return self._pools.enter_context(WorkerPool(self._work, _failed_query))

    def all(self, count: ModelCount) -> DefinitionColumns:
        groups = list(_levels(self._models))
        count.of = sum(map(len, groups))
        with self._pools:
            for group in groups:
                queries = [query for key in group for query in self._queries(self._models[key])]
                cached_queries = [self._find_cached(query) for query in queries]
                new = [
                    query
                    for query, cached in zip(queries, cached_queries, strict=True)
                    if cached is None
                ]
                count.add(len(group) - len({query.unique_id for query in new}))
                followed = iter(self._pool.map(new, count.add) if new else ())
                results: dict[str, list[FollowedQuery]] = {key: [] for key in group}
                digests: dict[str, list[str]] = {key: [] for key in group}
                for query, result in zip(queries, cached_queries, strict=True):
                    if result is None:
                        result = next(followed)
                        self._cache.add(query.digest, result)
                    results[query.unique_id].append(result)
                    digests[query.unique_id] += (query.digest, result.schemas)
                for key in group:
                    self._add(self._models[key], unite_queries(results[key]), digests[key])
        return self._tracer.result()

    def _queries(self, model: DbtModel) -> list[ModelQuery]:
        """The compiled query, and the branches of an incremental model that are others."""
        if model.is_python or not model.sql:
            return []
        texts = {" ".join(sql.split()): sql for sql in branches(model, self._models)}
        if texts:
            texts.pop(" ".join(model.sql.split()), None)
        parent_columns = self._schemas.parent_columns(model)
        return [
            ModelQuery(model.unique_id, sql, query_digest(sql, self._dialect), parent_columns)
            for sql in (model.sql, *texts.values())
        ]

    def _find_cached(self, query: ModelQuery) -> FollowedQuery | None:
        return self._cache.find(query.digest, self._columns(query))

    def _add(self, model: DbtModel, query: FollowedQuery | None, digests: Sequence[str]) -> None:
        query = query or FollowedQuery(gaps=(_PYTHON if model.is_python else _NOT_COMPILED,))
        self._schemas.add(model, query)
        self._tracer.add(model, query, digests)

    def _columns(self, query: ModelQuery) -> Callable[[Name], Sequence[str]]:
        reader = self._models[query.unique_id]

        def columns(name: Name) -> Sequence[str]:
            model = self._names.find(name, reader)
            if model is None:
                return ()
            return query.columns.get(model.unique_id) or self._schemas.stated_columns(model)

        return columns

    def _work(self, query: ModelQuery) -> FollowedQuery:
        from dbt_graft.collectors.dbt.query_follower import follow_query

        return follow_query(query.sql, self._dialect, self._columns(query))


def _failed_query(query: ModelQuery, reason: str) -> FollowedQuery:
    return FollowedQuery(gaps=(reason,))


def _levels(models: Mapping[str, DbtModel]) -> Iterator[list[str]]:
    """The models and snapshots in groups: none needs the columns of another of its group.

    Columns in the catalog are known from the start. A cycle, which dbt has none of, is broken.
    """
    queries = {key: model for key, model in models.items() if model.is_query}
    waits: dict[str, int] = {}
    children: dict[str, list[str]] = defaultdict(list)
    for key, model in queries.items():
        upstream = {
            parent
            for parent in model.parents
            if parent != key and parent in queries and not queries[parent].columns
        }
        waits[key] = len(upstream)
        for parent in upstream:
            children[parent].append(key)
    ready = [key for key, count in waits.items() if not count]
    while waits:
        group = sorted(ready) or [min(waits)]
        ready = []
        for key in group:
            del waits[key]
        yield group
        for key in group:
            for child in children[key]:
                if child in waits:
                    waits[child] -= 1
                    if not waits[child]:
                        ready.append(child)


class _Schemas:
    """The columns of a project's relations as far as they are known.

    The columns of a YAML file may be some of many: `*` behind them stands for the others, as it
    does where a query selects `*` from what is not known.
    """

    def __init__(self, models: Mapping[str, DbtModel]) -> None:
        self._models = models
        self._columns: dict[str, tuple[str, ...]] = {}

    def stated_columns(self, model: DbtModel) -> tuple[str, ...]:
        """The columns that the artifacts state; `*` at the end where there may be more."""
        if model.columns or not model.documented:
            return model.columns
        return model.documented if model.is_complete else (*model.documented, ANY_COLUMN)

    def parent_columns(self, reader: DbtModel) -> dict[str, tuple[str, ...]]:
        """The columns of a model's parents that their own queries have shown."""
        return {key: self._columns[key] for key in reader.parents if key in self._columns}

    def add(self, model: DbtModel, query: FollowedQuery) -> None:
        """Note the columns of a query's result, where nothing else states them."""
        if model.columns or model.is_complete:
            return
        columns = query.inputs.columns
        names = [name for name, _ in columns if name and name != ANY_COLUMN]
        if not names:
            return
        folded = {name.casefold() for name in names}
        if len(names) < len(columns):
            names += [name for name in model.documented if name.casefold() not in folded]
            names.append(ANY_COLUMN)
        self._columns[model.unique_id] = tuple(dict.fromkeys(names))
