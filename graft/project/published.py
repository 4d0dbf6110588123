"""The lineage of the last build, as it lies in the site or beside the artifacts.

A build that would publish nothing where there was something, and a change that loses lineage, are
noticed by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.rule import LINEAGE_LOST, matches_any
from dbt_graft.exporters.task_metadata import Entity
from dbt_graft.graft.project.config import Config
from dbt_graft.injector.unwanted import REMEDY
from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Records

FILE = "task_metadata.json"
TaskMetadata = Mapping[str, Mapping[str, list[Entity]]]
_SIDES = {"input": "reads", "output": "writes"}


def last_tasks(config: Config) -> TaskMetadata:
    """The tasks of the last build; none where there was no build."""
    for folder in (config.path(config.site.out), config.path(config.artifacts)):
        try:
            metadata: Any = orjson.loads((Path(folder) / FILE).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(metadata, dict):
            return metadata
    return {}


def check_not_empty(store: str, records: Records, published: TaskMetadata) -> None:
    """Refuse to publish a store without lineage where the last build had some.

    Raises:
        GraftError: The store is missing or empty, and was not.
    """
    if published and not records.accesses:
        raise GraftError(
            "the lineage store is missing or empty, but the last build had "
            f"{count(len(published), 'task')}; nothing was published",
            place=store,
            remedy="restore it, correct `store` in graft.yml, or run `graft collect`; "
            "--allow-empty publishes without lineage",
        )


def lost_lineage(
    published: TaskMetadata, now: TaskMetadata, accept: Collection[str] = ()
) -> Iterator[Finding]:
    """The reads and writes of the last build that tasks no longer do.

    The file has names without namespaces, in the form that its readers know: a table that moved to
    another server is the same here, one that is left on fewer servers is not. Names of databases
    compare without case.

    Args:
        accept: Patterns of tasks and datasets whose loss is accepted.
    """
    names_accepted = [*accept, *filter(_is_specific, map(_without_namespace, accept))]
    for task, before in sorted(published.items()):
        if matches_any([task], accept):
            continue
        if task not in now:
            yield LINEAGE_LOST.finding(task, "the task is gone", REMEDY)
            continue
        for side, does in _SIDES.items():
            here = Counter(_key(_name(entity)) for entity in now[task].get(side, ()))
            for name in sorted(map(_name, before.get(side, ()))):
                here[_key(name)] -= 1
                if here[_key(name)] < 0 and not matches_any([name], names_accepted):
                    yield LINEAGE_LOST.finding(task, f"{does} {name} no more", REMEDY)


def _name(entity: Entity) -> str:
    parts = (entity.get(f"_{part}_name") for part in ("database", "schema", "entity"))
    return ".".join(part for part in parts if part)


def _key(name: str) -> str:
    return name if "/" in name else name.casefold()


def _without_namespace(pattern: str) -> str:
    try:
        return parse_dataset_id(pattern).name
    except ValueError:
        return ""


def _is_specific(pattern: str) -> bool:
    """Whether it names more than any dataset."""
    return bool(pattern.strip("*/."))
