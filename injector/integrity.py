"""Defects in a manifest and a catalog that break dbt's docs page.

dbt's own loader accepts dangling ids; the docs page answers them with a blank site, an empty tree
or an error in the console. Each rule below is one of these defects. A defect is identified by its
rule and its subject, so that two checks can be compared: a defect of the grafted artifacts that
dbt's do not have is ours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from dbt_graft.injector.manifest import PARTS, Node, all_nodes, parents
from dbt_graft.injector.report import ArtifactDefect

# Resource types that the page knows.
_KNOWN = frozenset(
    {"model", "source", "seed", "snapshot", "analysis", "test", "unit_test", "exposure", "metric"}
    | {"semantic_model", "saved_query", "function", "operation", "sql_operation"}
)
# Resource types that the selector box finds by name.
_SELECTABLE = frozenset({"model", "seed", "snapshot", "analysis", "test", "unit_test"})


def check(manifest: Node, catalog: Node | None) -> list[ArtifactDefect]:
    """Return all defects, sorted by rule and subject."""
    everything = all_nodes(manifest)
    defects = [
        *_metadata(manifest),
        *_ids(manifest, everything),
        *_fields(everything),
        *_groups(manifest, everything),
        *_tests(everything),
        *_dangling(manifest, everything),
        *_edges(manifest, everything),
        *_cycle(manifest, everything),
        *_names(everything),
        *_catalog(catalog, everything),
    ]
    return sorted(set(defects), key=lambda d: (d.rule, d.subject, d.text))


def new_defects(
    before: Iterable[ArtifactDefect], after: Iterable[ArtifactDefect], redirects: Mapping[str, str]
) -> list[ArtifactDefect]:
    """Return the defects of a second check that the first did not have.

    Args:
        redirects: Ids that changed in between, old -> new.
    """
    known_subjects = {(d.rule, redirects.get(d.subject, d.subject)) for d in before}
    return [defect for defect in after if (defect.rule, defect.subject) not in known_subjects]


def _metadata(manifest: Node) -> Iterator[ArtifactDefect]:
    if not (manifest.get("metadata") or {}).get("adapter_type"):
        yield ArtifactDefect("adapter-type", "metadata", "metadata.adapter_type is missing")
    docs = manifest.get("docs") or {}
    if not any(doc.get("name") == "__overview__" for doc in docs.values()):
        yield ArtifactDefect(
            "overview", "docs", "there is no `__overview__` doc block: the start page fails"
        )


def _ids(manifest: Node, everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    for part in PARTS:
        for key, node in (manifest.get(part) or {}).items():
            if node.get("unique_id") != key:
                yield ArtifactDefect("unique-id", key, "its unique_id differs from its key")
    for node_id in manifest.get("disabled") or ():
        if node_id in everything:
            yield ArtifactDefect("also-disabled", node_id, "it is both enabled and disabled")


def _fields(everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    for node_id, node in everything.items():
        if (kind := node.get("resource_type")) not in _KNOWN:
            yield ArtifactDefect(
                "resource-type", node_id, f"unknown resource type {kind!r}: the page drops it"
            )
        if not isinstance(node.get("config"), dict):
            yield ArtifactDefect(
                "config", node_id, "`config` is missing: all sidebar trees are empty"
            )
        if not node.get("original_file_path"):
            yield ArtifactDefect(
                "file-path", node_id, "`original_file_path` is missing: trees are empty"
            )
        if not node.get("fqn"):
            yield ArtifactDefect("fqn", node_id, "`fqn` is missing: it cannot be selected")
        if any(not isinstance(tag, str) for tag in node.get("tags") or ()):
            yield ArtifactDefect("tag", node_id, "a tag is not a string")


def _groups(manifest: Node, everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    groups = manifest.get("groups") or {}
    for node_id, node in everything.items():
        group = node.get("group")
        if group and f"group.{node.get('package_name')}.{group}" not in groups:
            yield ArtifactDefect(
                "group", node_id, f"there is no group {group!r} in the node's package"
            )


def _tests(everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    for node_id, node in everything.items():
        metadata = node.get("test_metadata")
        upstream = parents(node)
        if node.get("resource_type") != "test" or not metadata or not upstream:
            continue
        target = upstream[-1 if metadata.get("name") == "relationships" else 0]
        if target not in everything:
            yield ArtifactDefect(
                "test-target", node_id, f"it tests {target}, which does not exist: blank site"
            )


def _dangling(manifest: Node, everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    for part in ("parent_map", "child_map"):
        for key, values in (manifest.get(part) or {}).items():
            for node_id in (key, *(values or ())):
                if node_id not in everything:
                    yield ArtifactDefect(
                        "dangling", node_id, f"`{part}` names it, but it does not exist"
                    )
    for node_id, node in everything.items():
        for parent in parents(node):
            if parent not in everything:
                yield ArtifactDefect(
                    "dangling", parent, f"{node_id} depends on it, but it does not exist"
                )


def _edges(manifest: Node, everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    """`depends_on`, `parent_map` and `child_map` must hold the same edges."""
    upstream = manifest.get("parent_map") or {}
    downstream = manifest.get("child_map") or {}
    for node_id, node in everything.items():
        if node_id not in upstream:
            yield ArtifactDefect(
                "parent-map", node_id, "`parent_map` has no entry for it: its edges are lost"
            )
            continue
        for parent in set(parents(node)) - set(upstream[node_id] or ()):
            yield ArtifactDefect("parent-map", node_id, f"`parent_map` lacks its parent {parent}")
        for parent in upstream[node_id] or ():
            if parent not in parents(node):
                yield ArtifactDefect(
                    "parent-map", node_id, f"`parent_map` has {parent}, `depends_on` does not"
                )
            if node_id not in (downstream.get(parent) or ()):
                yield ArtifactDefect("child-map", node_id, f"`child_map` of {parent} lacks it")


def _cycle(manifest: Node, everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    graph: dict[str, set[str]] = defaultdict(set)
    for node_id, node in everything.items():
        graph[node_id].update(parents(node), (manifest.get("parent_map") or {}).get(node_id) or ())
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        path = " -> ".join(reversed(error.args[1]))
        yield ArtifactDefect("cycle", "graph", f"`+name+` selectors never end on {path}")


def _names(everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    counts = Counter(
        str(node.get("name"))
        for node in everything.values()
        if node.get("resource_type") in _SELECTABLE and not node.get("version")
    )
    for name, count in counts.items():
        if count > 1:
            yield ArtifactDefect(
                "name", name, f"{count} nodes have this name: selectors find all of them"
            )


def _catalog(catalog: Node | None, everything: Mapping[str, Node]) -> Iterator[ArtifactDefect]:
    for part in ("nodes", "sources"):
        entries = (catalog or {}).get(part)
        if not isinstance(entries, dict):
            yield ArtifactDefect("catalog", part, f"`{part}` is missing: blank site")
            continue
        for node_id, entry in entries.items():
            if not (entry.get("metadata") or {}).get("type"):
                yield ArtifactDefect(
                    "catalog-type", node_id, "`metadata.type` is null: its details fail"
                )
            if node_id not in everything:
                yield ArtifactDefect(
                    "catalog-node", node_id, "it is in the catalog but not in the manifest"
                )
