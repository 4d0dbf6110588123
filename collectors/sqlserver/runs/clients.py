"""The clients of a server by their names: tasks, and others, whose events are counted."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

# Of clients that have none.
UNNAMED = "(no name)"
_OTHER = "(other names)"
# Each run may have a name of its own.
_NAMES = 10_000
# Names of other clients that are counted one by one.
_COUNTED = 1_000
# Numbers and what follows `::` differ from run to run.
_RUN = re.compile(r"(?<=::).+|\d[\d_:.-]*")


class TaskClients:
    """Finds the task of a client by its name, and counts the events of clients that are none.

    Attributes:
        others: Name -> events of clients that are not tasks; numbers and what follows `::` are
            a `*`.
    """

    def __init__(self, pattern: str) -> None:
        """Begin to count."""
        self.others: Counter[str] = Counter()
        self._pattern = re.compile(pattern)
        self.owner = lru_cache(_NAMES)(self._owner)
        self._other_name = lru_cache(_NAMES)(self._name_of_other)

    def is_task(self, name: str) -> bool:
        """Whether an event is a task's, by its client's name; else it is counted."""
        other = self._other_name(name)
        if not other:
            return True
        if other not in self.others and len(self.others) >= _COUNTED:
            other = _OTHER
        self.others[other] += 1
        return False

    def _owner(self, name: str) -> tuple[str, str] | None:
        """The task and the run; None where it is no task."""
        match = self._pattern.search(name)
        groups = match.groupdict(default="") if match else {}
        return (groups["task"], groups.get("run", "")) if groups.get("task") else None

    def _name_of_other(self, name: str) -> str:
        return "" if self._owner(name) else _RUN.sub("*", name) or UNNAMED
