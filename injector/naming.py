"""Names of added nodes: made from the name of the dataset, and unique in the manifest.

A node is named `<schema>_<table>`: short, the same every build, and rarely the name of a dbt
model. If it is taken, the database is put in front, then the namespace, and finally a digest is
appended. Only letters, digits and underscores: dots, blanks and commas are syntax in dbt's
selectors.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import chain

from dbt_graft.lineage.dataset import DatasetId

# The docs page builds its trees from JavaScript objects, which have these keys from the start.
_OF_EVERY_OBJECT = frozenset(
    {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"}
    | {"toLocaleString", "toString", "valueOf"}
)


class NodeNames:
    """The names of a manifest's nodes, compared without case.

    Attributes:
        conflicts: Names that were taken, each with the name chosen instead.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {name.casefold() for name in taken}
        self.conflicts: list[tuple[str, str]] = []

    def claim(self, dataset: DatasetId, parts: Sequence[str] = ()) -> str:
        """Return a free name for the node of a dataset and take it.

        Args:
            parts: The parts of the first choice; by default schema and table.
        """
        wanted = [parts or dataset.parts[-2:], dataset.parts, (dataset.namespace, *dataset.parts)]
        return self._first_free([plain("_".join(parts)) for parts in wanted], str(dataset.key))

    def claim_task(self, task: str) -> str:
        """Return a free name for the exposure of a task and take it."""
        return self._first_free([plain(task)], task)

    def _first_free(self, wanted: list[str], identity: str) -> str:
        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
        last = (f"{wanted[-1]}_{digest[:length]}".lstrip("_") for length in range(8, 65))
        names = [name for name in wanted if name.strip("_")]
        name = next(name for name in chain(names, last) if name.casefold() not in self._taken)
        if names and name != names[0]:
            self.conflicts.append((names[0], name))
        self._taken.add(name.casefold())
        return name


def plain(text: str) -> str:
    """Replace everything but letters, digits and underscores by underscores."""
    name = re.sub(r"\W+", "_", text).strip("_")
    return f"{name}_" if name in _OF_EVERY_OBJECT else name
