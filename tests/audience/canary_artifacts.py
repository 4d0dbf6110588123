"""dbt's artifacts with canaries in all strings: each kind of resource that their schemas have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.audience.canaries import AT, Canaries, SchemaWalk
from tests.dbt_artifacts import Document, schema

_TABLES = ("Model", "Seed", "Snapshot", "SourceDefinition")
# The class of a resource in dbt -> its resource type, where the schema allows any.
_TYPES = {"SemanticModel": "semantic_model", "UnitTestDefinition": "unit_test"}
# What belongs to the data that it reads and is hidden with it, without a label of its own.
BELONGINGS = frozenset(
    (
        *("SingularTest", "GenericTest", "UnitTestDefinition", "Metric", "SemanticModel"),
        *("SavedQuery", "Group", "Exposure"),
    )
)


@dataclass(frozen=True)
class ResourceKind:
    """A kind of resource in the manifest.

    Attributes:
        part: The key of the manifest that holds it: `nodes`.
        title: dbt's class: `Model`.
    """

    part: str
    title: str
    schema: Mapping[str, Any]

    @property
    def has_label(self) -> bool:
        """Whether the schema has a place for labels."""
        properties = self.schema["properties"]
        return "meta" in properties or "meta" in properties.get("config", {}).get("properties", {})


@cache
def resource_kinds() -> tuple[ResourceKind, ...]:
    """All kinds of resources that the manifest's schema has."""
    return tuple(_resource_kinds())


def _resource_kinds() -> Iterator[ResourceKind]:
    for part, described in schema("manifest")["properties"].items():
        content = described.get("additionalProperties")
        if isinstance(content, dict):
            for kind in content.get("anyOf") or [content]:
                if "unique_id" in kind.get("properties", ()):
                    yield ResourceKind(part, kind["title"], kind)


@cache
def labelled_kinds() -> frozenset[str]:
    """The kinds that have a place for labels."""
    return frozenset(kind.title for kind in resource_kinds() if kind.has_label)


@dataclass(frozen=True)
class Resources:
    """The resources of one owner of canaries: one of each kind, that read its table.

    Attributes:
        label: The classification that all of them say of themselves; empty for none.
        reads: The table that they depend on; by default their own.
    """

    canaries: Canaries
    label: str = ""
    reads: Resources | None = None

    def id_of(self, title: str) -> str:
        """The unique_id of the resource of a kind."""
        kind = next(kind for kind in resource_kinds() if kind.title == title)
        name = self.name_of(title)
        type_name = _TYPES.get(title) or kind.schema["properties"]["resource_type"]["const"]
        if title == "SourceDefinition":
            return f"source.shop.{self.schema_of(title)}.{name}"
        return f"{type_name}.shop.{name}"

    def name_of(self, title: str) -> str:
        """Its name."""
        return self.canaries.name(f"{title}.name")

    def schema_of(self, title: str) -> str:
        """The schema of a table."""
        return self.canaries.name(f"{title}.schema")

    def table_of(self, title: str) -> str:
        """The name of a table in the warehouse: `schema.table`."""
        return f"{self.schema_of(title)}.{self.name_of(title)}"

    def column_of(self, title: str) -> str:
        """The name of its column."""
        return self.canaries.name(f"{title}.columns.{{0}} key")


@dataclass
class Artifacts:
    """The documents of dbt's target folder, by name."""

    manifest: Document
    catalog: Document
    run_results: Document
    sources: Document

    def add(self, resources: Resources, titles: Iterable[str] | None = None) -> None:
        """Add a resource of each kind, or of some kinds, with its catalog entry and results."""
        for number, kind in enumerate(resource_kinds()):
            if titles is not None and kind.title not in titles:
                continue
            resource = _resource(kind, resources, in_config=bool(number % 2))
            self.manifest[kind.part][resource["unique_id"]] = resource
            self._connect(resource)
            if kind.title in _TABLES:
                part = "sources" if kind.part == "sources" else "nodes"
                self.catalog[part][resource["unique_id"]] = _entry(kind.title, resources, resource)
            self._add_result(kind.title, resources, resource["unique_id"])

    def add_variants(self, resources: Resources) -> None:
        """Add an ephemeral model, and a disabled resource of each kind."""
        kind = next(kind for kind in resource_kinds() if kind.title == "Model")
        resource = _variant(kind, resources, "ephemeral")
        resource["config"]["materialized"] = "ephemeral"
        self.manifest["nodes"][resource["unique_id"]] = resource
        self._connect(resource)
        for kind in resource_kinds():
            if kind.has_label or not resources.label:
                resource = _variant(kind, resources, "disabled")
                self.manifest["disabled"][resource["unique_id"]] = [resource]

    def add_hidden_column(self, public: Resources, hidden: Resources) -> None:
        """Add a hidden column to a public model, described as that of the hidden model is."""
        model, text = public.id_of("Model"), hidden.id_of("Model")
        name = hidden.canaries.name("hidden column")
        (facts,) = self.manifest["nodes"][text]["columns"].values()
        meta = facts["meta"] | {"classification": hidden.label}
        column = {**facts, "name": name, "meta": meta}
        self.manifest["nodes"][model]["columns"][name] = column
        (facts,) = self.catalog["nodes"][text]["columns"].values()
        self.catalog["nodes"][model]["columns"][name] = {**facts, "name": name}

    def add_rest(self, canaries: Canaries) -> None:
        """Fill what the manifest has beside resources: its metadata and selectors."""
        properties = schema("manifest")["properties"]
        for part in ("metadata", "selectors"):
            content = SchemaWalk(properties[part]).filled(properties[part], canaries, part)
            self.manifest[part] = content | self.manifest[part]

    def _connect(self, resource: Document) -> None:
        parents = resource.get("depends_on", {}).get("nodes", [])
        self.manifest["parent_map"][resource["unique_id"]] = parents
        self.manifest["child_map"].setdefault(resource["unique_id"], [])
        for parent in parents:
            self.manifest["child_map"].setdefault(parent, []).append(resource["unique_id"])

    def _add_result(self, title: str, resources: Resources, unique_id: str) -> None:
        artifact = "sources" if title == "SourceDefinition" else "run_results"
        walk = SchemaWalk(schema(artifact))
        described = walk.document["properties"]["results"]
        times = {"max_loaded_at": AT.isoformat(), "snapshotted_at": AT.isoformat()}
        own = {"unique_id": unique_id} | (times if artifact == "sources" else {})
        results = walk.filled(described, resources.canaries, f"{artifact} of {title}")
        getattr(self, artifact)["results"] += [result | own for result in results]


def _resource(kind: ResourceKind, resources: Resources, *, in_config: bool) -> Document:
    resource: Document = SchemaWalk(kind.schema).filled(kind.schema, resources.canaries, kind.title)
    reads = resources.reads or resources
    resource |= {
        "unique_id": resources.id_of(kind.title),
        "resource_type": resources.id_of(kind.title).partition(".")[0],
        "name": resources.name_of(kind.title),
        "package_name": "shop",
    }
    if "relation_name" in resource:
        resource |= _relation(kind.title, resources)
    if "columns" in resource:
        resource["columns"] = {
            name: {**column, "name": name} for name, column in resource["columns"].items()
        }
    if "depends_on" in resource:
        parents = [] if kind.title == "Macro" else [_parent(kind.title, reads)]
        macros = [] if kind.title == "Macro" else [resources.id_of("Macro")]
        resource["depends_on"] |= {"nodes": parents, "macros": macros}
    if "attached_node" in resource:
        resource["attached_node"] = reads.id_of("Model")
    if "model" in resource:
        resource["model"] = f"ref('{reads.name_of('Model')}')"
    if "group" in resource:
        resource["group"] = resources.name_of("Group")
    if "config" in resource:
        resource["config"] |= {"enabled": True}
    if kind.title == "Model":
        resource |= _code(resources) | {"version": None, "latest_version": None}
        resource["config"] |= {"materialized": "table", "group": resource["group"]}
    if kind.has_label and resources.label:
        _label(resource, resources.label, in_config=in_config)
    return resource


def _parent(title: str, reads: Resources) -> str:
    parents = {"Metric": "SemanticModel", "SavedQuery": "Metric", "Model": "SourceDefinition"}
    return reads.id_of(parents.get(title, "Model"))


def _relation(title: str, resources: Resources) -> Document:
    schema, name = resources.schema_of(title), resources.name_of(title)
    return {
        "database": None,
        "schema": schema,
        "source_name": schema,
        "alias": name,
        "identifier": name,
        "relation_name": f"{schema}.{name}",
    }


def _code(resources: Resources) -> Document:
    column, source = resources.column_of("Model"), resources.column_of("SourceDefinition")
    note = resources.canaries.text("Model.code")
    table = resources.table_of("SourceDefinition")
    code = f"select {source} as {column} from {table} /* {note} */"
    return {"raw_code": code, "compiled_code": code, "language": "sql"}


def _label(resource: Document, label: str, *, in_config: bool) -> None:
    at = resource["config"] if in_config and "meta" in resource.get("config", {}) else resource
    if "meta" not in at:
        at = resource["config"]
    at["meta"] = {**at["meta"], "classification": label}


def _variant(kind: ResourceKind, resources: Resources, word: str) -> Document:
    """A resource with canaries of its own in the strings that the others have theirs in."""
    canaries = resources.canaries
    apart = Canaries(f"{canaries.owner}, {word}", canaries.prefix, fields=canaries.fields)
    return _resource(kind, Resources(apart, resources.label, resources), in_config=False)


def _entry(title: str, resources: Resources, resource: Document) -> Document:
    walk = SchemaWalk(schema("catalog"))
    table = walk.document["properties"]["nodes"]["additionalProperties"]
    entry: Document = walk.filled(table, resources.canaries, f"catalog of {title}")
    (column,) = entry["columns"].values()
    entry["unique_id"] = resource["unique_id"]
    entry["metadata"] |= {
        "type": "table",
        "database": None,
        "schema": resources.schema_of(title),
        "name": resources.name_of(title),
    }
    entry["columns"] = {name: {**column, "name": name} for name in resource["columns"]}
    return entry


def empty_artifacts() -> Artifacts:
    """Artifacts of a project that has nothing."""
    return Artifacts(
        {
            **{part: {} for part in schema("manifest")["properties"]},
            "metadata": _metadata("manifest/v12") | {"adapter_type": "spark"},
        },
        {"metadata": _metadata("catalog/v1"), "nodes": {}, "sources": {}, "errors": None},
        {
            "metadata": _metadata("run-results/v6"),
            "args": {"which": "build"},
            "results": [],
            "elapsed_time": 1.0,
        },
        {"metadata": _metadata("sources/v3"), "results": [], "elapsed_time": 1.0},
    )


def _metadata(version: str) -> Document:
    return {
        "dbt_schema_version": f"https://schemas.getdbt.com/dbt/{version}.json",
        "dbt_version": "1.11.0",
        "generated_at": AT.isoformat(),
        "invocation_id": "11111111-1111-4111-8111-111111111111",
        "project_name": "shop",
        "env": {},
    }
