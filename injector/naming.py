"""Names for the nodes we add: made from a dataset's own name, and never one that is taken.

A node is called `<schema>_<table>`: short, the same every build, and hardly ever the name of a
dbt model. Where it is taken, the name grows by the database, then by the namespace, and last by
a digest. Letters, digits and underscores only: dbt's selectors read dots, blanks and commas.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from dbt_graft.lineage.dataset import DatasetId

# The docs page builds its trees from JavaScript objects, which have these keys from the start.
_OF_EVERY_OBJECT = frozenset(
    {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"}
    | {"toLocaleString", "toString", "valueOf"}
)


class Names:
    """The names of a manifest's nodes; compared without case, as people read them.

    Attributes:
        conflicts: Names that were taken, and what the node is called instead.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {name.casefold() for name in taken}
        self.conflicts: list[tuple[str, str]] = []

    def claim(self, dataset: DatasetId, parts: Sequence[str] = ()) -> str:
        """A free name for a dataset's node, taken from then on.

        Args:
            parts: What to try first; without it schema and table.
        """
        wanted = [parts or dataset.parts[-2:], dataset.parts, (dataset.namespace, *dataset.parts)]
        return self._first_free([plain("_".join(parts)) for parts in wanted], str(dataset.key))

    def claim_task(self, task: str) -> str:
        """A free name for a task's exposure, taken from then on."""
        return self._first_free([plain(task)], task)

    def _first_free(self, wanted: list[str], identity: str) -> str:
        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
        last = (f"{wanted[-1]}_{digest[:length]}".lstrip("_") for length in range(8, 65))
        names = [name for name in wanted if name.strip("_")]
        name = next(name for name in (*names, *last) if name.casefold() not in self._taken)
        if names and name != names[0]:
            self.conflicts.append((names[0], name))
        self._taken.add(name.casefold())
        return name


def plain(text: str) -> str:
    """Text with everything but letters, digits and underscores made an underscore."""
    found = re.sub(r"\W+", "_", text).strip("_")
    return f"{found}_" if found in _OF_EVERY_OBJECT else found
