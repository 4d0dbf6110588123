"""Validation of artifacts: defects that break dbt's docs page, and whether dbt itself loads them.

dbt's own loader accepts dangling ids; the docs page answers them with a blank site, an empty tree
or an error in the console. Each rule below is one of these defects. A defect is identified by its
rule and its subject, so that two checks can be compared: a defect of the grafted artifacts that
dbt's do not have is ours.

dbt's loader takes seconds on a large manifest, so it runs only on request: `graft inject
--validate`, and in the tests.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from json import loads
from typing import TYPE_CHECKING, Any

from dbt_graft.injector.artifacts import Artifacts, dump
from dbt_graft.injector.manifest import PARTS, Node, all_nodes, parents
from dbt_graft.injector.report import ArtifactDefect, Grafted
from dbt_graft.lineage.errors import add_extra

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

# Rule, subject and text.
_Defect = tuple[str, str, str]
# Resource types that the page knows.
_KNOWN = frozenset(
    {"model", "source", "seed", "snapshot", "analysis", "test", "unit_test", "exposure", "metric"}
    | {"semantic_model", "saved_query", "function", "operation", "sql_operation"}
)
# Hooks, which dbt 2 writes without `config`; the page puts them into no tree.
_HOOKS = frozenset({"operation", "sql_operation"})
# Resource types that the selector box finds by name.
_SELECTABLE = frozenset({"model", "seed", "snapshot", "analysis", "test", "unit_test"})
_log = logging.getLogger(__name__)
_SHOWN = 20


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
    return [ArtifactDefect(*defect) for defect in sorted(set(defects))]


def new_defects(
    before: Iterable[ArtifactDefect], after: Iterable[ArtifactDefect], redirects: Mapping[str, str]
) -> list[ArtifactDefect]:
    """Return the defects of a second check that the first did not have.

    Args:
        redirects: Ids that changed in between, old -> new.
    """
    known_subjects = {(d.rule, redirects.get(d.subject, d.subject)) for d in before}
    return [defect for defect in after if (defect.rule, defect.subject) not in known_subjects]


def _metadata(manifest: Node) -> Iterator[_Defect]:
    if not (manifest.get("metadata") or {}).get("adapter_type"):
        yield "adapter-type", "metadata", "metadata.adapter_type is missing"
    docs = manifest.get("docs") or {}
    if not any(doc.get("name") == "__overview__" for doc in docs.values()):
        yield "overview", "docs", "there is no `__overview__` doc block: the start page fails"


def _ids(manifest: Node, everything: Mapping[str, Node]) -> Iterator[_Defect]:
    for part in PARTS:
        for key, node in (manifest.get(part) or {}).items():
            if node.get("unique_id") != key:
                yield "unique-id", key, "its unique_id differs from its key"
    for node_id in manifest.get("disabled") or ():
        if node_id in everything:
            yield "also-disabled", node_id, "it is both enabled and disabled"


def _fields(everything: Mapping[str, Node]) -> Iterator[_Defect]:
    for node_id, node in everything.items():
        if (kind := node.get("resource_type")) not in _KNOWN:
            yield "resource-type", node_id, f"unknown resource type {kind!r}: the page drops it"
        if not isinstance(node.get("config"), dict) and kind not in _HOOKS:
            yield "config", node_id, "`config` is missing: all sidebar trees are empty"
        if not node.get("original_file_path"):
            yield "file-path", node_id, "`original_file_path` is missing: trees are empty"
        if not node.get("fqn"):
            yield "fqn", node_id, "`fqn` is missing: it cannot be selected"
        if any(not isinstance(tag, str) for tag in node.get("tags") or ()):
            yield "tag", node_id, "a tag is not a string"


def _groups(manifest: Node, everything: Mapping[str, Node]) -> Iterator[_Defect]:
    groups = manifest.get("groups") or {}
    for node_id, node in everything.items():
        group = node.get("group")
        if group and f"group.{node.get('package_name')}.{group}" not in groups:
            yield "group", node_id, f"there is no group {group!r} in the node's package"


def _tests(everything: Mapping[str, Node]) -> Iterator[_Defect]:
    for node_id, node in everything.items():
        metadata = node.get("test_metadata")
        upstream = parents(node)
        if node.get("resource_type") != "test" or not metadata or not upstream:
            continue
        target = upstream[-1 if metadata.get("name") == "relationships" else 0]
        if target not in everything:
            yield "test-target", node_id, f"it tests {target}, which does not exist: blank site"


def _dangling(manifest: Node, everything: Mapping[str, Node]) -> Iterator[_Defect]:
    for part in ("parent_map", "child_map"):
        for key, values in (manifest.get(part) or {}).items():
            for node_id in (key, *(values or ())):
                if node_id not in everything:
                    yield "dangling", node_id, f"`{part}` names it, but it does not exist"
    for node_id, node in everything.items():
        for parent in parents(node):
            if parent not in everything:
                yield "dangling", parent, f"{node_id} depends on it, but it does not exist"


def _edges(manifest: Node, everything: Mapping[str, Node]) -> Iterator[_Defect]:
    """`depends_on`, `parent_map` and `child_map` must hold the same edges."""
    upstream = manifest.get("parent_map") or {}
    downstream = manifest.get("child_map") or {}
    for node_id, node in everything.items():
        if node_id not in upstream:
            yield "parent-map", node_id, "`parent_map` has no entry for it: its edges are lost"
            continue
        for parent in set(parents(node)) - set(upstream[node_id] or ()):
            yield "parent-map", node_id, f"`parent_map` lacks its parent {parent}"
        for parent in upstream[node_id] or ():
            if parent not in parents(node):
                yield "parent-map", node_id, f"`parent_map` has {parent}, `depends_on` does not"
            if node_id not in (downstream.get(parent) or ()):
                yield "child-map", node_id, f"`child_map` of {parent} lacks it"


def _cycle(manifest: Node, everything: Mapping[str, Node]) -> Iterator[_Defect]:
    graph: dict[str, set[str]] = defaultdict(set)
    for node_id, node in everything.items():
        graph[node_id].update(parents(node), (manifest.get("parent_map") or {}).get(node_id) or ())
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        path = " -> ".join(reversed(error.args[1]))
        yield "cycle", "graph", f"`+name+` selectors never end on {path}"


def _names(everything: Mapping[str, Node]) -> Iterator[_Defect]:
    counts = Counter(
        str(node.get("name"))
        for node in everything.values()
        if node.get("resource_type") in _SELECTABLE and not node.get("version")
    )
    for name, count in counts.items():
        if count > 1:
            yield "name", name, f"{count} nodes have this name: selectors find all of them"


def _catalog(catalog: Node | None, everything: Mapping[str, Node]) -> Iterator[_Defect]:
    for part in ("nodes", "sources"):
        entries = (catalog or {}).get(part)
        if not isinstance(entries, dict):
            yield "catalog", part, f"`{part}` is missing: blank site"
            continue
        for node_id, entry in entries.items():
            if not (entry.get("metadata") or {}).get("type"):
                yield "catalog-type", node_id, "`metadata.type` is null: its details fail"
            if node_id not in everything:
                yield "catalog-node", node_id, "it is in the catalog but not in the manifest"


def faults(artifacts: Artifacts, grafted: Grafted) -> tuple[list[str], list[str]]:
    """Return the faults of a graft, and what could not be checked, as messages.

    Where dbt-core is not installed, only our own rules are checked.
    """
    before = check(artifacts.manifest, artifacts.catalog)
    after = check(grafted.manifest, grafted.catalog)
    ours = new_defects(before, after, grafted.redirects)
    messages = [f"new defect: {d.subject}: {d.text}" for d in ours]
    if not has_loader():
        missing = f"dbt-core is not installed; {add_extra('dbt')}"
        return messages[:_SHOWN], [f"dbt's own loader did not read them: {missing}"]
    refused, unchecked = _loads(artifacts, grafted)
    return [*messages, *refused, *_schema(artifacts, grafted)][:_SHOWN], unchecked


def has_loader() -> bool:
    """Whether dbt-core is installed; dbt 2 has no loader in Python."""
    try:
        import dbt.artifacts.schemas.manifest  # noqa: F401
    except ImportError:
        return False
    return True


def _loads(artifacts: Artifacts, grafted: Grafted) -> tuple[list[str], list[str]]:
    """Errors of dbt's own loader, and documents of dbt's own that it does not load either.

    Macros are left out: a graft does not change them, and dbt does not load all that it writes.
    """
    from dbt.artifacts.schemas.catalog import CatalogArtifact
    from dbt.artifacts.schemas.manifest import WritableManifest
    from dbt.flags import get_flags

    # dbt 1.12 asks for it before it loads a manifest of another version.
    vars(get_flags()).setdefault("state_modified_compare_more_unrendered_values", False)
    refused, unchecked = [], []
    for name, kind, ours, original in (
        ("manifest", WritableManifest, grafted.manifest, artifacts.manifest),
        ("catalog", CatalogArtifact, grafted.catalog, artifacts.catalog),
    ):
        if not (error := _refusal(kind, ours)):
            continue
        if of_dbt := _refusal(kind, original):
            unchecked.append(f"dbt's loader reads not even dbt's own {name}: {of_dbt[:300]}")
        else:
            refused.append(f"dbt does not load the {name}: {error[:300]}")
    return refused, unchecked


def _refusal(kind: Any, document: dict[str, Any]) -> str:
    # The loader modifies its argument.
    content = loads(dump({**document, "macros": {}} if "macros" in document else document))
    try:
        kind.upgrade_schema_version(content)
    # dbt raises whatever its parts raise.
    except Exception as error:
        _log.debug("dbt refuses an artifact", exc_info=True)
        return str(error).strip() or type(error).__name__
    return ""


def _schema(artifacts: Artifacts, grafted: Grafted) -> Iterator[str]:
    """Added or changed nodes that do not match the JSON schema of the installed dbt.

    Only v12 is checked; a node that did not match before the graft is skipped.
    """
    if not str(artifacts.manifest["metadata"].get("dbt_schema_version")).endswith("/v12.json"):
        return
    for part, validator in _validators().items():
        before = artifacts.manifest.get(part) or {}
        for key, node in (grafted.manifest.get(part) or {}).items():
            old = before.get(key)
            if node is old or validator.is_valid(loads(dump(node))):
                continue
            if old is None or validator.is_valid(loads(dump(old))):
                yield f"{key} does not match the JSON schema of the manifest"


@cache
def _validators() -> dict[str, Draft202012Validator]:
    """Those of dbt's nodes, by part of the manifest: dbt takes seconds to say their schema."""
    from dbt.artifacts.schemas.manifest import WritableManifest
    from jsonschema import Draft202012Validator

    schema = WritableManifest.json_schema()["properties"]
    parts = {part: schema.get(part) or {} for part in (*PARTS, "groups")}  # 1.9 has no functions
    return {
        part: Draft202012Validator(described.get("additionalProperties") or {})
        for part, described in parts.items()
    }
