"""What breaks dbt's docs page, looked for in a manifest and a catalog.

dbt's own loader accepts dangling ids and its error texts do not help; the page answers with a
blank site, an empty tree or an error in the console. Each rule below is one of these defects.
A finding is told by its rule and its subject, so that two checks can be compared: what the
grafted artifacts show and dbt's did not is our fault.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from dbt_graft.injector.relations import PARTS, Node, all_nodes, parents
from dbt_graft.injector.report import Finding

# Resource types that the page shows or at least knows.
_KNOWN = frozenset(
    {"model", "source", "seed", "snapshot", "analysis", "test", "unit_test", "exposure", "metric"}
    | {"semantic_model", "saved_query", "function", "operation", "sql_operation"}
)
# What the selector box finds by name.
_SELECTABLE = frozenset({"model", "seed", "snapshot", "analysis", "test", "unit_test"})


def check(manifest: Node, catalog: Node | None) -> list[Finding]:
    """All defects, sorted by rule and subject."""
    everything = all_nodes(manifest)
    found = [
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
    return sorted(set(found), key=lambda f: (f.rule, f.subject, f.text))


def new_findings(
    before: Iterable[Finding], after: Iterable[Finding], redirects: Mapping[str, str]
) -> list[Finding]:
    """The findings of a second check that the first did not have.

    Args:
        redirects: Ids that changed in between.
    """
    known = {(f.rule, redirects.get(f.subject, f.subject)) for f in before}
    return [finding for finding in after if (finding.rule, finding.subject) not in known]


def _metadata(manifest: Node) -> Iterator[Finding]:
    if not (manifest.get("metadata") or {}).get("adapter_type"):
        yield Finding("adapter-type", "metadata", "metadata.adapter_type is missing")
    docs = manifest.get("docs") or {}
    if not any(doc.get("name") == "__overview__" for doc in docs.values()):
        yield Finding("overview", "docs", "without an overview the page's first view fails")


def _ids(manifest: Node, everything: Mapping[str, Node]) -> Iterator[Finding]:
    for part in PARTS:
        for key, node in (manifest.get(part) or {}).items():
            if node.get("unique_id") != key:
                yield Finding("unique-id", key, "the node's unique_id is not its key")
    for node_id in manifest.get("disabled") or ():
        if node_id in everything:
            yield Finding("also-disabled", node_id, "the id is enabled and disabled at once")


def _fields(everything: Mapping[str, Node]) -> Iterator[Finding]:
    for node_id, node in everything.items():
        if (kind := node.get("resource_type")) not in _KNOWN:
            yield Finding("resource-type", node_id, f"the page drops resource type {kind!r}")
        if not isinstance(node.get("config"), dict):
            yield Finding("config", node_id, "without `config` all sidebar trees are empty")
        if not node.get("original_file_path"):
            yield Finding("file-path", node_id, "without `original_file_path` trees are empty")
        if not node.get("fqn"):
            yield Finding("fqn", node_id, "without `fqn` the node cannot be selected")
        if any(not isinstance(tag, str) for tag in node.get("tags") or ()):
            yield Finding("tag", node_id, "a tag is not a string")


def _groups(manifest: Node, everything: Mapping[str, Node]) -> Iterator[Finding]:
    groups = manifest.get("groups") or {}
    for node_id, node in everything.items():
        group = node.get("group")
        if group and f"group.{node.get('package_name')}.{group}" not in groups:
            yield Finding("group", node_id, f"there is no group {group!r} in the node's package")


def _tests(everything: Mapping[str, Node]) -> Iterator[Finding]:
    for node_id, node in everything.items():
        metadata = node.get("test_metadata")
        upstream = parents(node)
        if node.get("resource_type") != "test" or not metadata or not upstream:
            continue
        target = upstream[-1 if metadata.get("name") == "relationships" else 0]
        if target not in everything:
            yield Finding("test-target", node_id, f"it tests {target}, which is gone: blank site")


def _dangling(manifest: Node, everything: Mapping[str, Node]) -> Iterator[Finding]:
    for part in ("parent_map", "child_map"):
        for key, values in (manifest.get(part) or {}).items():
            for node_id in (key, *(values or ())):
                if node_id not in everything:
                    yield Finding("dangling", node_id, f"{part} names it and it is gone")
    for node_id, node in everything.items():
        for parent in parents(node):
            if parent not in everything:
                yield Finding("dangling", parent, f"{node_id} depends on it and it is gone")


def _edges(manifest: Node, everything: Mapping[str, Node]) -> Iterator[Finding]:
    """`depends_on`, `parent_map` and `child_map` tell the same."""
    upstream = manifest.get("parent_map") or {}
    downstream = manifest.get("child_map") or {}
    for node_id, node in everything.items():
        if node_id not in upstream:
            yield Finding("parent-map", node_id, "it has no `parent_map` entry: edges are lost")
            continue
        for parent in set(parents(node)) - set(upstream[node_id] or ()):
            yield Finding("parent-map", node_id, f"`parent_map` misses {parent}")
        for parent in upstream[node_id] or ():
            if parent not in parents(node):
                yield Finding("parent-map", node_id, f"only `parent_map` names {parent}")
            if node_id not in (downstream.get(parent) or ()):
                yield Finding("child-map", node_id, f"`child_map` of {parent} misses it")


def _cycle(manifest: Node, everything: Mapping[str, Node]) -> Iterator[Finding]:
    graph: dict[str, set[str]] = defaultdict(set)
    for node_id, node in everything.items():
        graph[node_id].update(parents(node), (manifest.get("parent_map") or {}).get(node_id) or ())
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        path = " -> ".join(reversed(error.args[1]))
        yield Finding("cycle", "graph", f"`+name+` overflows the stack on {path}")


def _names(everything: Mapping[str, Node]) -> Iterator[Finding]:
    named = Counter(
        str(node.get("name"))
        for node in everything.values()
        if node.get("resource_type") in _SELECTABLE and not node.get("version")
    )
    for name, count in named.items():
        if count > 1:
            yield Finding("name", name, f"{count} nodes have this name: the selector finds all")


def _catalog(catalog: Node | None, everything: Mapping[str, Node]) -> Iterator[Finding]:
    for part in ("nodes", "sources"):
        entries = (catalog or {}).get(part)
        if not isinstance(entries, dict):
            yield Finding("catalog", part, f"the catalog has no `{part}`: blank site")
            continue
        for node_id, entry in entries.items():
            if not (entry.get("metadata") or {}).get("type"):
                yield Finding("catalog-type", node_id, "a type that is null breaks its details")
            if node_id not in everything:
                yield Finding("catalog-node", node_id, "the catalog has it, the manifest does not")
