"""The artifacts that the docs page needs: of some nodes, and without what it does not read.

The rules follow the code of dbt's page (dbt-core 1.11): its controllers, templates, search, trees
and graph selectors. A null or empty value stays where the page distinguishes it from a missing
one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dbt_graft.injector.artifacts import Document
from dbt_graft.injector.manifest import PARTS

_EDGES = frozenset(("metadata", "groups", "docs", "parent_map"))
_KINDS = frozenset(("nodes", "sources", "macros", "exposures", "metrics", "unit_tests"))
_PARTS = _EDGES | _KINDS | {"saved_queries", "semantic_models", "functions"}
PAGE_FIELDS = frozenset(
    ("unique_id", "resource_type", "name", "package_name", "description", "depends_on")
)
_CODE = frozenset(("raw_code", "compiled_code", "language", "tags", "test_metadata"))
# A generic test is in no tree and not in the graph; it has a page and is listed at its column.
TEST_FIELDS = PAGE_FIELDS | _CODE | {"column_name"}
_RELATION = frozenset(("database", "schema", "alias", "identifier", "columns", "loader"))
_SOURCE = frozenset(("source_name", "source_description", "label", "version"))
_TREE = frozenset(("original_file_path", "fqn", "config", "docs", "meta", "group", "access"))
# A model, seed, snapshot, analysis, singular test or source.
NODE_FIELDS = PAGE_FIELDS | _CODE | _RELATION | _SOURCE | _TREE
MACRO_FIELDS = PAGE_FIELDS | {"original_file_path", "docs", "arguments", "macro_sql"}
# The default of the page.
_SHOWN = {"show": True, "node_color": None}
DOC_FIELDS = frozenset(("name", "package_name", "block_contents"))
COLUMN_FIELDS = frozenset(("name", "description", "meta", "constraints"))
ENTRY_FIELDS = frozenset(("metadata", "stats"))
METADATA_FIELDS = frozenset(("type", "owner"))
TYPE_FIELDS = frozenset(("type", "index"))
# Tests of which the page shows only the name and, for two of them, one argument.
_KNOWN_TESTS = frozenset(("not_null", "unique", "relationships", "accepted_values"))
_ARGUMENTS = frozenset(("column_name", "arg", "field", "values"))


def slim(manifest: Document, catalog: Document) -> tuple[Document, Document]:
    """Return copies of manifest and catalog without everything that the docs page does not read.

    The page looks the same with them. They are not dbt artifacts any more: dbt does not load them.
    What only repeats a key is left out too; `page.js` puts it back.
    """
    hidden = hidden_packages(manifest)
    macros = {
        key: _select_fields(macro, MACRO_FIELDS)
        for key, macro in (manifest.get("macros") or {}).items()
        if macro.get("package_name") not in hidden
    }
    nodes = {key: _node(node, macros) for key, node in manifest["nodes"].items()}
    slimmed = {
        **{key: part for key, part in manifest.items() if key in _PARTS},
        "nodes": _without_ids(nodes),
        "sources": _without_ids(
            {key: _node(node, macros) for key, node in manifest["sources"].items()}
        ),
        "macros": macros,
        # The only doc blocks that the page shows are overviews.
        "docs": {
            key: _select_fields(doc, DOC_FIELDS)
            for key, doc in (manifest.get("docs") or {}).items()
            if str(doc.get("name")).startswith("__")
        },
        "parent_map": {
            key: parents
            for key, parents in (manifest.get("parent_map") or {}).items()
            if parents and "test_metadata" not in nodes.get(key, {})
        },
    }
    original_nodes = {**manifest["nodes"], **manifest["sources"]}
    return slimmed, {
        part: {key: _entry(entry, original_nodes.get(key)) for key, entry in catalog[part].items()}
        for part in ("nodes", "sources")
    }


def hidden_packages(manifest: Mapping[str, Any]) -> frozenset[str]:
    """Packages of dbt itself, whose macros the page does not list."""
    return frozenset(("dbt", f"dbt_{manifest['metadata'].get('adapter_type')}"))


def _select_fields(document: Mapping[str, Any] | None, keys: Collection[str]) -> Document:
    return {key: value for key, value in (document or {}).items() if key in keys}


def _node(node: Mapping[str, Any], macros: Mapping[str, Any]) -> Document:
    if node.get("resource_type") == "test" and "test_metadata" in node:
        return _generic_test(node, macros)
    slimmed = _select_fields(node, NODE_FIELDS)
    if "config" in slimmed:
        slimmed["config"] = _config(slimmed["config"])
    if isinstance(slimmed.get("meta"), dict) and "graft" in slimmed["meta"]:
        slimmed["meta"] = {key: value for key, value in slimmed["meta"].items() if key != "graft"}
    if slimmed.get("columns"):
        slimmed["columns"] = {
            key: _column(key, column) for key, column in slimmed["columns"].items()
        }
    if slimmed.get("docs") == _SHOWN:
        del slimmed["docs"]
    return _drop_hidden_macros(slimmed, macros)


def _generic_test(node: Mapping[str, Any], macros: Mapping[str, Any]) -> Document:
    metadata = node["test_metadata"]
    name = metadata.get("name") if isinstance(metadata, dict) else None
    read = TEST_FIELDS | {"refs"} if name == "relationships" else TEST_FIELDS
    slimmed = _select_fields(node, read)
    for key in ("description", "tags"):
        if not slimmed.get(key):
            slimmed.pop(key, None)
    if name in _KNOWN_TESTS:
        arguments = _ARGUMENTS - {"column_name"} if slimmed.get("column_name") else _ARGUMENTS
        slimmed["test_metadata"] = {
            **{key: value for key, value in metadata.items() if value is not None},
            "kwargs": _select_fields(metadata.get("kwargs") or {}, arguments),
        }
    return _drop_hidden_macros(slimmed, macros)


def _drop_hidden_macros(node: Document, macros: Mapping[str, Any]) -> Document:
    """The node without references to macros that the page does not list."""
    depends_on = node.get("depends_on")
    if isinstance(depends_on, dict) and depends_on.get("macros"):
        listed = [macro for macro in depends_on["macros"] if macro in macros]
        return {**node, "depends_on": {**depends_on, "macros": listed}}
    return node


def _config(config: Any) -> Any:
    """The values that the selector `config.<key>:<value>` can match, and the contract."""
    if not isinstance(config, dict):
        return config
    return {
        key: value
        for key, value in config.items()
        if key == "contract" or not (value is None or value == [] or isinstance(value, dict))
    }


def _column(name: str, column: Any) -> Any:
    if not isinstance(column, dict):
        return column
    repeated = {"name": name, "meta": {}}
    is_usual = all(column.get(key) == value for key, value in repeated.items())
    return {
        key: value
        for key, value in column.items()
        if key in COLUMN_FIELDS and value not in ("", []) and not (is_usual and key in repeated)
    }


def _without_ids(nodes: Mapping[str, Document]) -> dict[str, Document]:
    return {
        key: {name: value for name, value in node.items() if (name, value) != ("unique_id", key)}
        for key, node in nodes.items()
    }


def _entry(entry: Mapping[str, Any], node: Mapping[str, Any] | None) -> Document:
    """A catalog entry; on the page the keys of the node override it."""
    documented = {name.lower() for name in (node or {}).get("columns") or {}}
    read = ENTRY_FIELDS if node else ENTRY_FIELDS | {"unique_id"}
    slimmed = _select_fields(entry, read)
    if isinstance(slimmed.get("metadata"), dict):
        slimmed["metadata"] = _select_fields(slimmed["metadata"], METADATA_FIELDS)
    if isinstance(slimmed.get("stats"), dict):
        slimmed["stats"] = {
            key: stat for key, stat in slimmed["stats"].items() if stat.get("include")
        }
    slimmed["columns"] = {
        name: _select_fields(
            column, TYPE_FIELDS if name.lower() in documented else TYPE_FIELDS | {"name"}
        )
        for name, column in (entry.get("columns") or {}).items()
    }
    return slimmed


def excerpt(manifest: Document, catalog: Document, nodes: Collection[str]) -> tuple[Document, ...]:
    """Return copies of manifest and catalog with these nodes alone, and what they refer to.

    Edges to other nodes are left out; of macros those stay that the nodes use.
    """
    partial_manifest: Document = dict(manifest)
    for part in PARTS:
        if part in manifest:
            members = _select_fields(manifest[part], nodes)
            partial_manifest[part] = {
                key: _keep_links(node, nodes) for key, node in members.items()
            }
    for edges in ("parent_map", "child_map"):
        partial_manifest[edges] = {
            key: [end for end in ends if end in nodes]
            for key, ends in _select_fields(manifest.get(edges), nodes).items()
        }
    members = {
        key: node for part in PARTS for key, node in (partial_manifest.get(part) or {}).items()
    }
    partial_manifest["macros"] = _select_fields(
        manifest.get("macros"), _macros(manifest, members.values())
    )
    used_groups = {str((node.get("config") or {}).get("group")) for node in members.values()}
    groups = manifest.get("groups") or {}
    partial_manifest["groups"] = {
        key: group for key, group in groups.items() if group.get("name") in used_groups
    }
    partial_manifest["disabled"] = {}
    return partial_manifest, {
        **catalog,
        "nodes": _select_fields(catalog.get("nodes"), nodes),
        "sources": _select_fields(catalog.get("sources"), nodes),
    }


def _keep_links(node: Mapping[str, Any], nodes: Collection[str]) -> Mapping[str, Any]:
    """The node without dependencies on others than these."""
    depends_on = node.get("depends_on")
    if not isinstance(depends_on, dict) or not depends_on.get("nodes"):
        return node
    ends = [end for end in depends_on["nodes"] if end in nodes]
    return {**node, "depends_on": {**depends_on, "nodes": ends}}


def _macros(manifest: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]]) -> set[str]:
    """The macros that nodes use, and those that these use."""
    macros = manifest.get("macros") or {}
    reached: set[str] = set()
    waiting = list(nodes)
    while waiting:
        depends_on = waiting.pop().get("depends_on")
        used_macros = depends_on.get("macros") or () if isinstance(depends_on, dict) else ()
        new = {macro_id for macro_id in used_macros if macro_id in macros} - reached
        reached |= new
        waiting += [macros[macro_id] for macro_id in new]
    return reached
