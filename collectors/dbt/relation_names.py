"""The models that the names of tables in compiled SQL stand for.

A name may have fewer parts than the relation (`orders`, `shop.orders`) or more. It is looked for
among what the model says it reads, then among all relations: SQL may name a table without `ref`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from dbt_graft.collectors.dbt.models import DbtModel
from dbt_graft.collectors.statements.text.names import Name


class RelationNames:
    """The relations of a project, to be found by their names."""

    def __init__(self, models: Mapping[str, DbtModel]) -> None:
        self._models = models
        self._by_identifier: dict[str, list[DbtModel]] = defaultdict(list)
        for model in models.values():
            self._by_identifier[model.relation[-1]].append(model)

    def find(self, name: Name, reader: DbtModel) -> DbtModel | None:
        """The model, seed, snapshot or source that a query of `reader` names; None for others."""
        parents = (self._models[key] for key in reader.parents if key in self._models)
        homonyms = self._by_identifier.get(name[-1], [])
        exact = [model for model in homonyms if model.relation == name]
        parent = [model for model in parents if _fits(model.relation, name)]
        of_parents = [model for model in parent if model.relation == name] or parent
        if of_parents:
            return of_parents[0]
        if exact:
            return _building_model(exact)
        # A name without a schema is one in the schema of the model itself. But a view that reads
        # its own name reads a table of another schema.
        prefix = reader.relation[: -len(name)] if len(reader.relation) > len(name) else ()
        siblings = [
            model
            for model in homonyms
            if model is not reader and model.relation == (*prefix, *name)
        ]
        fitting = [model for model in homonyms if len(name) > 1 and _fits(model.relation, name)]
        candidates = siblings or (
            fitting if len({model.relation for model in fitting}) == 1 else []
        )
        return _building_model(candidates) if candidates else None


def _fits(relation: Name, name: Name) -> bool:
    """Whether the parts that both have are equal."""
    length = min(len(relation), len(name))
    return relation[-length:] == name[-length:]


def _building_model(models: Iterable[DbtModel]) -> DbtModel:
    """The one that builds the relation, where a source has the same."""
    return min(models, key=lambda model: (model.kind == "source", model.unique_id))
