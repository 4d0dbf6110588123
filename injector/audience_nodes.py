"""The part of a dbt manifest that an audience may see: nodes of data, all that is theirs, values.

A node of data is visible where its dataset is. Everything else has a label of its own or belongs to
nodes: a test, a metric or an ephemeral model is hidden where anything that it reads is, an exposure
or a group where nothing of its own is left, a doc block where it describes hidden data alone. Where
unlabelled data is hidden, so is unlabelled code: macros, analyses, ephemeral models, doc blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dbt_graft.analysis.audience.described import AudienceView
from dbt_graft.analysis.audience.hidden import Audience, HiddenData
from dbt_graft.analysis.audience.words import LEFT_OUT, Mentions
from dbt_graft.injector.manifest import Node, parents
from dbt_graft.injector.sensitivity import labels
from dbt_graft.lineage.dataset import DatasetId

# The parts of a manifest whose members have names.
DATA = ("nodes", "sources")
# Parts that are all definition: where one names what is hidden, nothing of it can be shown.
DEFINITIONS = ("metrics", "semantic_models", "saved_queries", "unit_tests", "functions")
PARTS = (*DATA, *DEFINITIONS, "exposures", "macros", "docs", "groups")
# What belongs to the nodes that it reads, and is as visible as they are.
_BELONGING = frozenset(("test", "unit_test", "metric", "semantic_model", "saved_query"))
_OF_DBT = "dbt"  # the package whose doc blocks are dbt's own
NodeIds = Mapping[str, DatasetId]
# What dbt and its docs page find nodes by.
_IDS = frozenset(
    (
        *("unique_id", "name", "path", "original_file_path", "fqn", "alias", "schema", "database"),
        *("identifier", "resource_type", "package_name", "relation_name"),
        *("depends_on", "refs", "sources", "patch_path", "root_path", "attached_node", "loader"),
        *("source_name", "group", "materialized", "language"),
    )
)
# Where keys are names of people's own, and how deep.
_OPEN = {
    "meta": 99,
    **dict.fromkeys(("columns", "config", "unrendered_config", "grants", "stats", "env"), 1),
}
# Arguments of tests that are no code: a column, a relation and its column, values.
_NO_CODE = frozenset(("column_name", "model", "to", "field", "values", "quote"))
_CODE = frozenset(("raw_code", "compiled_code", "macro_sql", "raw_sql", "compiled_sql"))


def named_nodes(manifest: Node) -> dict[str, Node]:
    """All members of a manifest that have names, by id; also those that are disabled."""
    members = {
        key: node
        for part in PARTS
        for key, node in (manifest.get(part) or {}).items()
        if isinstance(node, Mapping)
    }
    for key, nodes in (manifest.get("disabled") or {}).items():
        members.setdefault(key, next((node for node in nodes if isinstance(node, Mapping)), {}))
    return members


def node_labels(manifest: Node, datasets: Collection[str]) -> Iterator[tuple[str, str]]:
    """unique_id and label of everything that is labelled in a manifest, but nodes of data.

    Args:
        datasets: The ids of nodes of data.
    """
    for key, node in named_nodes(manifest).items():
        if key not in datasets:
            for label in labels([node]):
                yield key, label


def hidden_nodes(
    manifest: Node, datasets: NodeIds, hidden: HiddenData, audience: Audience
) -> frozenset[str]:
    """The ids of all nodes that an audience may not see.

    Args:
        datasets: unique_id -> the dataset of each node of data.
    """
    members = named_nodes(manifest)
    levels = {
        key: audience.highest_of(label for label in labels([node]))
        for key, node in members.items()
        if key not in datasets
    }
    gone = set(manifest.get("disabled") or {})
    gone |= {key for key, dataset in datasets.items() if dataset in hidden.datasets}
    gone |= {key for key, level in levels.items() if level is not None and level > audience.sees}
    if not audience.shows_unlabelled:
        gone |= {
            key
            for key, level in levels.items()
            if level is None and _is_hidden_without_label(members[key])
        }
    gone |= set(_nodes_behind(members, gone, datasets))
    gone |= set(_exposures_without_inputs(manifest.get("exposures") or {}, gone, audience))
    gone |= set(_docs_of_hidden(members, gone, datasets, hidden))
    return frozenset(gone | set(_empty_groups(members, gone)))


def nodes_naming_hidden(
    manifest: Node, datasets: NodeIds, view: AudienceView, gone: Collection[str]
) -> frozenset[str]:
    """Tests of hidden columns, and nodes that are all definition and name what is hidden.

    Args:
        gone: Nodes that are hidden anyway.
    """
    naming, members = set(), named_nodes(manifest)
    for key, node in manifest["nodes"].items():
        if key not in gone and node.get("resource_type") == "test":
            nearest = nearest_datasets(node, datasets, members)
            if _is_test_of_hidden(node, nearest, view):
                naming.add(key)
    for part in DEFINITIONS:
        for key, node in (manifest.get(part) or {}).items():
            nearest = nearest_datasets(node, datasets, members)
            mentions = view.words.mentions(nearest)
            if key not in gone and (
                view.hidden.has_unknown(nearest) or any(map(mentions, texts(node)))
            ):
                naming.add(key)
    naming |= set(_nodes_behind(members, naming, datasets))
    gone = {*gone, *naming}
    return frozenset(naming | set(_empty_groups(members, gone)))


def undated_nodes(sources: Node, datasets: NodeIds, view: AudienceView) -> frozenset[str]:
    """The ids of sources whose newest row is a value of a hidden column; of models that they are.

    Args:
        sources: Those of dbt, also those that are models now.
    """
    undated = set()
    for key, node in sources.items():
        dataset = datasets.get(key)
        if dataset is None:
            continue
        mentions = view.words.mentions([dataset])
        if any(
            mentions(text) or view.hidden.hides(dataset, text.strip('"`[]'))
            for text in _loaded_at(node)
        ):
            undated.add(dataset)
    return frozenset(key for key, dataset in datasets.items() if dataset in undated)


def _loaded_at(source: Node) -> Iterator[str]:
    """The column or the query of the newest row of a source."""
    for values in (source, source.get("config")):
        for key in ("loaded_at_field", "loaded_at_query"):
            if isinstance(values, Mapping) and values.get(key):
                yield str(values[key])


def nearest_datasets(
    node: Any, datasets: NodeIds, members: Mapping[str, Node]
) -> tuple[DatasetId, ...]:
    """The datasets that a node is of: its own, that of its test, its inputs'.

    A metric has those of its semantic models.

    Args:
        members: All nodes, by id.
    """
    nearest: dict[DatasetId, None] = {}
    seen, waiting = set(), [node]
    while waiting:
        current = waiting.pop(0)
        if not isinstance(current, Mapping):
            continue
        depends = current.get("depends_on")
        ids = [current.get("unique_id"), current.get("attached_node")]
        ids += (depends.get("nodes") or []) if isinstance(depends, Mapping) else []
        for key in ids:
            if isinstance(key, str) and key not in seen:
                seen.add(key)
                if key in datasets:
                    nearest[datasets[key]] = None
                else:
                    waiting.append(members.get(key))
    return tuple(nearest)


def _is_hidden_without_label(node: Node) -> bool:
    kind = node.get("resource_type")
    if kind == "doc" or "block_contents" in node:
        return node.get("package_name") != _OF_DBT
    if kind in ("exposure", "group"):
        return False
    return not (kind in _BELONGING and parents(node))


def _nodes_behind(
    members: Mapping[str, Node], gone: Collection[str], datasets: NodeIds
) -> Iterator[str]:
    """The nodes that read hidden ones, as far as they are neither data nor exposures."""
    readers: dict[str, list[str]] = defaultdict(list)
    for key, node in members.items():
        if key not in datasets and node.get("resource_type") != "exposure":
            depends = node.get("depends_on")
            inputs = (depends.get("nodes") or []) if isinstance(depends, Mapping) else []
            attached = node.get("attached_node")
            for parent in (*inputs, *([attached] if isinstance(attached, str) else [])):
                readers[parent].append(key)
    seen, waiting = set(gone), list(gone)
    while waiting:
        for reader in readers.get(waiting.pop(), ()):
            if reader not in seen:
                seen.add(reader)
                waiting.append(reader)
                yield reader


def _exposures_without_inputs(
    exposures: Mapping[str, Node], gone: Collection[str], audience: Audience
) -> Iterator[str]:
    """Exposures of which no input is visible."""
    for key, node in exposures.items():
        inputs = set(parents(node))
        if inputs <= set(gone) if inputs else not audience.shows_unlabelled:
            yield key


def _empty_groups(members: Mapping[str, Node], gone: Collection[str]) -> Iterator[str]:
    """Groups without a visible member."""
    groups = {key for key, node in members.items() if node.get("resource_type") == "group"}
    used_groups = set()
    for key, node in members.items():
        if key not in gone:
            config = node.get("config")
            name = node.get("group") or (
                config.get("group") if isinstance(config, Mapping) else None
            )
            used_groups.add(f"group.{node.get('package_name')}.{name}")
    yield from groups - used_groups


def _docs_of_hidden(
    members: Mapping[str, Node], gone: Collection[str], datasets: NodeIds, hidden: HiddenData
) -> Iterator[str]:
    """Doc blocks that describe something hidden and nothing visible."""
    texts_of: dict[bool, set[str]] = {True: set(), False: set()}
    for key, node in members.items():
        texts_of[key in gone].add(str(node.get("description") or "").strip())
        columns, dataset = node.get("columns"), datasets.get(key)
        for name, column in columns.items() if isinstance(columns, Mapping) else ():
            if isinstance(column, Mapping):
                is_hidden = key in gone or (dataset is not None and hidden.hides(dataset, name))
                texts_of[is_hidden].add(str(column.get("description") or "").strip())
    described = texts_of[True] - texts_of[False] - {""}
    for key, node in members.items():
        if "block_contents" in node and str(node["block_contents"]).strip() in described:
            yield key


def _is_test_of_hidden(test: Node, nearest: tuple[DatasetId, ...], view: AudienceView) -> bool:
    """Whether a test is of a hidden column, or its name, arguments or SQL name what is hidden.

    What may be code is hidden where nobody knows all hidden columns.
    """
    column = str(test.get("column_name") or "")
    mentions = view.words.mentions(nearest)
    arguments = (test.get("test_metadata") or {}).get("kwargs") or {}
    code = [str((test.get("config") or {}).get("where") or "")]
    if not test.get("test_metadata"):  # else dbt wrote the SQL, of the arguments
        code += [str(test.get(key) or "") for key in sorted(_CODE)]
    field = str(arguments.get("field") or "")
    return (
        mentions(f"{test.get('name')} {column} {test.get('unique_id')}")
        or any(view.hidden.hides(dataset, column) for dataset in nearest[:1] if column)
        or any(view.hidden.hides(dataset, field) for dataset in nearest[1:] if field)
        or any(map(mentions, (*texts(arguments), *code)))
        or ((any(code) or not arguments.keys() <= _NO_CODE) and view.hidden.has_unknown(nearest))
    )


def without_hidden(
    value: Any, view: AudienceView, mentions: Mentions, in_code: Mentions, is_open: int = 0
) -> Any:
    """A value of JSON in which text that names what is hidden is empty, and such keys are gone.

    Args:
        in_code: The question to code instead of `mentions`.
        is_open: So many levels from here have keys of people's own.
    """
    if isinstance(value, str):
        return "" if mentions(value) else value
    if isinstance(value, list):
        return [
            without_hidden(child, view, mentions, in_code, is_open)
            for child in value
            if not (isinstance(child, str) and mentions(child))
        ]
    if not isinstance(value, Mapping):
        return value
    visible: dict[str, Any] = {}
    for key, child in value.items():
        if is_open and mentions(str(key)):
            continue
        if key in _IDS and not is_open:
            visible[key] = _rename_ids(child, view)
        elif key in _CODE:
            is_hidden = isinstance(child, str) and in_code(child)
            visible[key] = f"-- {LEFT_OUT}" if is_hidden else child
        elif key == "checksum":  # Of the code: whoever guesses it could check the guess.
            visible[key] = {"name": "none", "checksum": ""} if isinstance(child, Mapping) else None
        else:
            visible[key] = without_hidden(
                child, view, mentions, in_code, _OPEN.get(key, max(is_open - 1, 0))
            )
    return visible


def _rename_ids(value: Any, view: AudienceView) -> Any:
    """Ids, with other names for what is hidden."""
    if isinstance(value, str):
        return view.names(value)
    if isinstance(value, list):
        return [_rename_ids(child, view) for child in value]
    if isinstance(value, Mapping):
        return {key: _rename_ids(child, view) for key, child in value.items()}
    return value


def texts(value: Any) -> Iterator[str]:
    """All strings in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for child in value:
            yield from texts(child)
    elif isinstance(value, Mapping):
        for key, child in value.items():
            yield str(key)
            yield from texts(child)
