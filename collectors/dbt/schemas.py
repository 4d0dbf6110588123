"""The columns of relations: what the catalog, a YAML file or the model's own query says."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_graft.collectors.dbt.followed_query import FollowedQuery
from dbt_graft.collectors.dbt.models import DbtModel
from dbt_graft.lineage.records import ANY_COLUMN


class Schemas:
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
        names = [name for name, _ in query.columns if name and name != ANY_COLUMN]
        if not names or model.columns or model.is_complete:
            return
        folded = {name.casefold() for name in names}
        if len(names) < len(query.columns):
            names += [name for name in model.documented if name.casefold() not in folded]
            names.append(ANY_COLUMN)
        self._columns[model.unique_id] = tuple(dict.fromkeys(names))
