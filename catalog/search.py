"""Search: the names and texts that it finds, of the catalog and of dbt docs where it has more.

They are in a name index and a full-text index; the browser knows what search can be limited to.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog import formatting
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.full_text import NoPagefindError, SearchText, facet_token, write_full_text
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label_pages import owners, tags
from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.name_index import IndexedName, NameKind, words, write_name_index
from dbt_graft.catalog.page import MAX_ALIASES
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import DocsNode
from dbt_graft.lineage.urls import column_anchor, columns_path, dag_path, dataset_path, task_path

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# Descriptions of a column that many datasets have.
_MAX_TEXTS = 20
_MARKS = re.compile(r"[*`#>|]+|^[ \t]*[-+][ \t]", re.MULTILINE)


def write_search(
    site: Path, index: Index, nodes: Sequence[DocsNode] = (), previous: Path | None = None
) -> str:
    """Write both indexes; return why there is no full-text index, empty where there is one.

    Args:
        nodes: What only dbt docs has a page of.
        previous: The site of the build before.
    """
    facets = _write_names(site, index, nodes)
    try:
        parts, problem = write_full_text(site, search_texts(index, nodes), previous), ""
    except NoPagefindError as error:
        parts, problem = 0, str(error)
    content = b"graft.texts.about(%s)\n" % orjson.dumps({"texts": parts, **facets})
    (site / "search" / "about.js").write_bytes(content)
    return problem


def _write_names(site: Path, index: Index, nodes: Sequence[DocsNode]) -> dict[str, object]:
    """Write the name index; return what search can be limited to."""
    entries = list(name_entries(index, nodes))
    write_name_index(site, entries)
    platforms = {platform for entry in entries for platform in entry.platforms}
    owners = {owner for entry in entries if entry.kind is NameKind.OWNER for owner in entry.owners}
    return {
        "platforms": _facet("platform", platforms),
        "owners": _facet("owner", owners),
        "kinds": sorted({int(entry.kind) for entry in entries}),
    }


def _facet(name: str, values: set[str]) -> list[tuple[str, str]]:
    """The values to choose from, each with the word that finds it in the full text."""
    return [(printable(value), facet_token(name, value)) for value in sorted(values)]


def name_entries(index: Index, nodes: Iterable[DocsNode] = ()) -> Iterator[IndexedName]:
    """The name of everything that has a page or a place on one, each once."""
    for dataset in index.datasets:
        yield _dataset_entry(index, dataset)
        yield from _other_entries(index, dataset)
    yield from _columns(index)
    for name in index.task_names():
        yield _task_entry(index, name)
    for dag in index.dags:
        yield IndexedName(NameKind.TASK, dag, dag_path(dag), note="DAG")
    for label in tags(index):
        note = count(label.uses, "page")
        yield IndexedName(NameKind.TAG, label.name, label.path, note=note)
    for label in owners(index):
        note = count(label.uses, "page")
        yield IndexedName(NameKind.OWNER, label.name, label.path, owners=(label.name,), note=note)
    if index.dbt_docs:
        for node in nodes:
            kind = NameKind.TEST if node.is_generic_test else NameKind.DBT
            yield _docs_entry(index.dbt_docs, node, kind)


def search_texts(index: Index, nodes: Iterable[DocsNode] = ()) -> Iterator[SearchText]:
    """The pages that have more words than their names."""
    shared = _shared_columns(index)
    for dataset, description in sorted(index.descriptions.items()):
        columns = (
            f"{name}: {text}"
            for name, text in description.columns.items()
            if text.strip() and name.casefold() not in shared
        )
        if text := _plain_text("\n".join((description.text, *columns))):
            yield SearchText(_dataset_entry(index, dataset), text)
    yield from _column_texts(index, shared)
    for name in index.task_names():
        task, consumer = index.tasks.get(name), index.consumers.get(name)
        written = (task.info.description if task else "") or (consumer.text if consumer else "")
        if text := _plain_text(written):
            yield SearchText(_task_entry(index, name), text)
    if index.dbt_docs:
        for node in nodes:
            if text := _plain_text(node.text):
                yield SearchText(_docs_entry(index.dbt_docs, node, NameKind.DBT), text)


def _dataset_entry(index: Index, dataset: DatasetId) -> IndexedName:
    role = index.role(dataset)
    kind = formatting.ROLE[role] if role else formatting.KIND[index.datasets[dataset].kind]
    # What is above `raw.orders` is searched too.
    name = ("/" if dataset.is_path else ".").join(dataset.parts) or dataset.name
    platforms = (formatting.platform(dataset),)
    path = dataset_path(dataset)
    return IndexedName(NameKind.DATASET, name, path, platforms, _owners(index, dataset), kind)


def _other_entries(index: Index, dataset: DatasetId) -> Iterator[IndexedName]:
    """The entries of those other names of a dataset that its page shows, where they differ."""
    own = _dataset_entry(index, dataset)
    names = index.lineage.names
    others = (
        *index.datasets[dataset].symlinks,
        *names.aliases.get(dataset, ())[:MAX_ALIASES],
        *names.former.get(dataset, ()),
    )
    for other in dict.fromkeys(others):
        if words(str(other)) != words(str(dataset)):
            note = f"other name of {own.name}"
            yield IndexedName(NameKind.OTHER, str(other), own.path, own.platforms, own.owners, note)


def _task_entry(index: Index, name: str) -> IndexedName:
    """The entry of a task or a consumer, with the platforms of what it reads and writes."""
    task, consumer = index.tasks.get(name), index.consumers.get(name)
    datasets: Sequence[DatasetId] = [
        *(usage.dataset for usage in (task.usages if task else ())),
        *(consumer.reads if consumer else ()),
    ]
    platforms = tuple(sorted({formatting.platform(dataset) for dataset in datasets}))
    owner = index.task_owner(name)
    kind = consumer.kind if consumer and not task else "task"
    return IndexedName(
        NameKind.TASK, name, task_path(name), platforms, (owner,) if owner else (), kind
    )


def _docs_entry(dbt_docs: DbtDocs, node: DocsNode, kind: NameKind) -> IndexedName:
    path = dbt_docs.address(node.node_id)
    return IndexedName(kind, node.name, path, note=f"dbt {node.kind.replace('_', ' ')}")


def _owners(index: Index, dataset: DatasetId) -> tuple[str, ...]:
    description = index.descriptions.get(dataset)
    return (description.owner,) if description and description.owner else ()


def _shared_columns(index: Index) -> set[str]:
    """The folded names of columns that several datasets have."""
    counts = Counter(key for dataset in index.datasets for key in index.columns(dataset))
    return {key for key, count in counts.items() if count > 1}


def _column_texts(index: Index, shared: set[str]) -> Iterator[SearchText]:
    """The descriptions of shared columns, each once: models pass them on from one to the next."""
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for _, description in sorted(index.descriptions.items()):
        for name, text in description.columns.items():
            key = name.casefold()
            if key in shared and text.strip() and len(texts[key]) < _MAX_TEXTS:
                texts[key].setdefault(text)
    if texts:
        for entry in _columns(index):
            if descriptions := texts.get(entry.name.casefold()):
                yield SearchText(entry, _plain_text("\n".join(descriptions)))


@dataclass(slots=True)
class _NamedAlike:
    """The datasets with a column of one name, of which the first leads to it."""

    first: DatasetId
    name: str
    datasets: int = 0


def _columns(index: Index) -> Iterator[IndexedName]:
    """The columns, those of one name as one."""
    columns_by_key: dict[str, _NamedAlike] = {}
    platforms: dict[str, set[str]] = defaultdict(set)
    owners: dict[str, set[str]] = defaultdict(set)
    for dataset in index.datasets:
        platform, owned = formatting.platform(dataset), _owners(index, dataset)
        for key, column in index.columns(dataset).items():
            alike = columns_by_key.get(key)
            if alike is None:
                alike = columns_by_key[key] = _NamedAlike(dataset, column.name)
            alike.datasets += 1
            platforms[key].add(platform)
            owners[key].update(owned)
    for key, alike in sorted(columns_by_key.items()):
        shared = alike.datasets > 1
        page = columns_path(key) if shared else dataset_path(alike.first)
        yield IndexedName(
            NameKind.COLUMN,
            alike.name,
            f"{page}#{column_anchor(key)}",
            tuple(sorted(platforms[key])),
            tuple(sorted(owners[key])),
            f"in {alike.datasets:,} datasets" if shared else f"in {alike.first.short}",
        )


def _plain_text(markdown: str) -> str:
    """Markdown without its marks, near enough to find words and to show some around them."""
    return " ".join(_MARKS.sub(" ", _LINK.sub(r"\1", markdown)).split())
