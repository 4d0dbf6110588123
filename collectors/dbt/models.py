"""The relations of a dbt project as the manifest and the catalog describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.dataset import DatasetId

Document = Mapping[str, Any]

_BUILT = ("model", "snapshot", "seed")
_EPHEMERAL_CTE = "__dbt__cte__"
_SNAPSHOT_COLUMNS = (
    "dbt_scd_id",
    "dbt_updated_at",
    "dbt_valid_from",
    "dbt_valid_to",
    "dbt_is_deleted",
    "dbt_change_type",
)


@dataclass(frozen=True, slots=True)
class DbtModel:
    """A model, snapshot, seed or source.

    Attributes:
        kind: Its `resource_type`.
        dataset: None for an ephemeral model, which has no relation.
        relation: Its database, schema and identifier, folded; what is not known is left out.
        relation_name: As SQL writes it.
        names: Package and name, or source and name: what `ref` and `source` call it.
        sql: The compiled query, or empty.
        raw_sql: The query before compilation, with its Jinja.
        parents: Unique ids of what it reads by `ref` and `source`.
        columns: The columns of its relation in the catalog, in their order.
        documented: The columns of its YAML file.
        is_complete: Whether those are all it has: its contract is enforced.
        added: Columns that dbt adds to a snapshot, folded.
        is_python: Whether it is no SQL.
    """

    unique_id: str
    kind: str
    dataset: DatasetId | None
    relation: Name
    relation_name: str = ""
    names: tuple[str, ...] = ()
    sql: str = ""
    raw_sql: str = ""
    parents: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    documented: tuple[str, ...] = ()
    is_complete: bool = False
    added: frozenset[str] = frozenset()
    is_python: bool = False

    @property
    def is_query(self) -> bool:
        """Whether a query defines it: it is a model or a snapshot."""
        return self.kind in ("model", "snapshot")


def read_models(
    manifest: Document, catalog: Document, datasets: Mapping[str, DatasetId]
) -> dict[str, DbtModel]:
    """The models, snapshots, seeds and sources of a manifest by unique id, sorted.

    Args:
        datasets: Unique id -> the dataset of its relation.
    """
    entries = {**catalog.get("sources", {}), **catalog.get("nodes", {})}
    models = {}
    for part in ("nodes", "sources"):
        for unique_id, node in (manifest.get(part) or {}).items():
            kind = str(node.get("resource_type"))
            if kind in _BUILT or (part == "sources" and kind == "source"):
                entry = entries.get(unique_id) or {}
                models[unique_id] = _model(unique_id, node, entry, datasets.get(unique_id))
    return {unique_id: models[unique_id] for unique_id in sorted(models)}


def _model(unique_id: str, node: Document, entry: Document, dataset: DatasetId | None) -> DbtModel:
    described: Mapping[str, Document] = node.get("columns") or {}
    config = node.get("config") or {}
    kind = str(node.get("resource_type"))
    relation = _relation(node, is_ephemeral=config.get("materialized") == "ephemeral")
    package = node.get("source_name") if kind == "source" else node.get("package_name")
    return DbtModel(
        unique_id=unique_id,
        kind=kind,
        dataset=dataset,
        relation=tuple(part.casefold() for part in relation),
        relation_name=_text(node.get("relation_name")) or ".".join(relation),
        names=(str(package), str(node.get("name"))),
        sql=_text(node.get("compiled_code")) or _text(node.get("compiled_sql")),
        raw_sql=_text(node.get("raw_code")) or _text(node.get("raw_sql")),
        parents=tuple((node.get("depends_on") or {}).get("nodes") or ()),
        columns=_catalog_columns(entry),
        documented=tuple(str(column.get("name") or key) for key, column in described.items()),
        is_complete=(config.get("contract") or {}).get("enforced") is True,
        added=_added_columns(config) if kind == "snapshot" else frozenset(),
        is_python=node.get("language") == "python",
    )


def _added_columns(config: Document) -> frozenset[str]:
    """The columns of a snapshot that its query does not have; their names can be configured."""
    configured = config.get("snapshot_meta_column_names")
    names: Document = configured if isinstance(configured, Mapping) else {}
    return frozenset(str(names.get(name) or name).casefold() for name in _SNAPSHOT_COLUMNS)


def _relation(node: Document, *, is_ephemeral: bool) -> Name:
    if is_ephemeral:
        return (f"{_EPHEMERAL_CTE}{node.get('alias') or node.get('name')}",)
    identifier = node.get("identifier") or node.get("alias") or node.get("name")
    parts = (node.get("database"), node.get("schema"), identifier)
    return tuple(str(part).strip('"`[]') for part in parts if part)


def _catalog_columns(entry: Document) -> tuple[str, ...]:
    """The names of an entry's columns in the catalog, in the order of the relation."""
    columns: Sequence[Document] = sorted((entry.get("columns") or {}).values(), key=_index)
    return tuple(str(column["name"]) for column in columns if column.get("name"))


def _index(column: Document) -> float:
    index = column.get("index")
    return index if isinstance(index, (int, float)) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
