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
        alike = self._by_identifier.get(name[-1], [])
        exact = [one for one in alike if one.relation == name]
        parent = [one for one in parents if _fits(one.relation, name)]
        of_parents = [one for one in parent if one.relation == name] or parent
        if of_parents:
            return of_parents[0]
        if exact:
            return _builder(exact)
        # A name without a schema is one in the schema of the model itself. But a view that reads
        # its own name reads a table of another schema.
        place = reader.relation[: -len(name)] if len(reader.relation) > len(name) else ()
        near = [one for one in alike if one is not reader and one.relation == (*place, *name)]
        fitting = [one for one in alike if len(name) > 1 and _fits(one.relation, name)]
        found = near or (fitting if len({one.relation for one in fitting}) == 1 else [])
        return _builder(found) if found else None


def _fits(relation: Name, name: Name) -> bool:
    """Whether the parts that both have are equal."""
    both = min(len(relation), len(name))
    return relation[-both:] == name[-both:]


def _builder(found: Iterable[DbtModel]) -> DbtModel:
    """The one that builds the relation, where a source has the same."""
    return min(found, key=lambda one: (one.kind == "source", one.unique_id))
