"""Ids of DAGs, tasks and groups that Airflow accepts: `[A-Za-z0-9_-]`, up to 250 characters.

Airflow takes letters of any alphabet; its logs' paths, metrics and URLs are safe with ASCII alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from anyascii import anyascii

_LONGEST = 180  # with the name of a group before it, less than Airflow's 250
GROUP_LENGTH = 60
# Top keys of a file that dag-factory takes for no DAG.
_RESERVED = frozenset({"default", "task_groups"})


def identifier(name: str, longest: int = _LONGEST) -> str:
    """A name as an id, in Latin letters; one that is too long ends in its digest."""
    clean = re.sub(r"[^A-Za-z0-9_-]+", "_", anyascii(name)).strip("_") or f"x_{_digest(name)}"
    if len(clean) > longest:
        clean = f"{clean[: longest - 9]}_{_digest(name)}"
    return f"{clean}_dag" if clean in _RESERVED else clean


def unique_identifiers(
    names: Iterable[str], taken: Iterable[str] = (), longest: int = _LONGEST
) -> dict[str, str]:
    """Name -> id, no two alike, not even without case.

    A name that is an id comes first; of the others each one that finds its id taken gets a digest.
    """
    used_ids = {name.casefold() for name in taken}
    ids: dict[str, str] = {}
    for name in sorted(names, key=lambda text: (identifier(text, longest) != text, text)):
        candidate = identifier(name, longest)
        if candidate.casefold() in used_ids:
            candidate = with_digest(name, longest)
        used_ids.add(candidate.casefold())
        ids[name] = candidate
    return ids


def with_digest(name: str, longest: int = _LONGEST) -> str:
    """The id of a name whose own is taken."""
    return f"{identifier(name, longest - 9)}_{_digest(name)}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
