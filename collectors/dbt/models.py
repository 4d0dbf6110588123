"""The relations of a dbt project as the manifest and the catalog describe them.

Names of tables in compiled SQL stand for models. A name may have fewer parts than the relation
(`orders`, `shop.orders`) or more. It is looked for among what the model says it reads, then among
all relations: SQL may name a table without `ref`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.statements.columns.outside_names import STAGE, TABLE, is_place
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.paths import dataset_folders

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.text.names import Name

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
# Adapters that are called like the dialect; of the others those that share an engine share it.
_OWN = (
    *("athena", "bigquery", "clickhouse", "databricks", "doris", "dremio", "drill", "druid"),
    *("duckdb", "exasol", "hive", "materialize", "mysql", "oracle", "postgres", "presto"),
    *("redshift", "risingwave", "singlestore", "snowflake", "spark", "sqlite", "starrocks"),
    *("teradata", "trino"),
)
_DIALECTS = {
    **{name: name for name in _OWN},
    **dict.fromkeys(("cratedb", "greenplum", "vertica", "yellowbrick"), "postgres"),
    "databend": "snowflake",
    **dict.fromkeys(("fabric", "sqlserver", "synapse"), "tsql"),
    **dict.fromkeys(("fabricspark", "glue", "watsonx_spark"), "spark"),
    "impala": "hive",
    **dict.fromkeys(("mariadb", "mysql5", "tidb"), "mysql"),
    **dict.fromkeys(("upsolver", "watsonx_presto"), "presto"),
}


@frozen
class DbtModel:
    """A model, snapshot, seed or source.

    Attributes:
        kind: Its `resource_type`.
        dataset: None for an ephemeral model, which has no relation.
        relation: Its database, schema and identifier, folded; what is not known is left out.
        names: Package and name, or source and name: what `ref` and `source` call it.
        raw_sql: The query before compilation, with its Jinja.
        parents: Unique ids of what it reads by `ref` and `source`.
        columns: The columns of its relation in the catalog, in their order.
        documented: The columns of its YAML file, where the catalog has none.
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
    """The models, snapshots, seeds and sources of a manifest by unique id, sorted."""
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
    columns = _catalog_columns(entry)
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
        columns=columns,
        documented=tuple(
            str(column.get("name") or key) for key, column in (() if columns else described.items())
        ),
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
    columns: Sequence[Document] = [*(entry.get("columns") or {}).values()]
    indexes: list[Any] = [column.get("index") for column in columns]
    # Most are in their order.
    if {*map(type, indexes)} != {int} or indexes != sorted(indexes):
        columns = sorted(columns, key=_index)
    return tuple([str(column["name"]) for column in columns if column.get("name")])


def _index(column: Document) -> float:
    index = column.get("index")
    return index if isinstance(index, (int, float)) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# A path in SQL -> the dataset that it is of, or the relation whose files lie there.
FindFile = Callable[[str], DatasetId | None]


class RelationNames:
    """The relations of a project, to be found by their names.

    Args:
        namespace: Of tables that the project does not know.
    """

    def __init__(
        self,
        models: Mapping[str, DbtModel],
        namespace: str = "",
        find_file: FindFile = lambda _: None,
    ) -> None:
        self._models, self._namespace, self._find_file = models, namespace, find_file
        self._by_identifier = group_by_key((model.relation[-1], model) for model in models.values())
        self._by_dataset = {model.dataset: model for model in models.values() if model.dataset}

    def dataset(self, name: Name, reader: DbtModel) -> DatasetId | None:
        """The dataset of a name that is none of the project; None for an unknown place."""
        if not is_place(name):
            # One without a database is in the model's own; one without a schema is in a schema
            # that only the database knows.
            prefix = reader.relation[: max(0, len(reader.relation) - len(name))]
            full = (*prefix, *name) if len(name) > 1 else name
            return DatasetId(self._namespace, ".".join(full))
        _, kind, text = name
        if kind == TABLE:
            return parse_dataset_id(text)
        return self._stage(text, reader) if kind == STAGE else self._find_file(text)

    def _stage(self, text: str, reader: DbtModel) -> DatasetId:
        """A stage of Snowflake with the folder in it: `@db.raw.stage/orders`."""
        stage, slash, path = text.removeprefix("@").partition("/")
        parts = stage.replace('"', "").split(".")
        if stage[:1] not in ("~", "%"):  # of a user, of a table
            parts = [*reader.relation[: max(0, len(reader.relation) - len(parts))], *parts]
        folder = dataset_folders([f"/{path}"])[0] if path else slash
        return DatasetId(self._namespace, f"@{'.'.join(parts)}{folder}")

    def find(self, name: Name, reader: DbtModel) -> DbtModel | None:
        """The model, seed, snapshot or source that a query of `reader` names; None for others."""
        if is_place(name):
            dataset = self.dataset(name, reader)
            return self._by_dataset.get(dataset) if dataset else None
        parents = [model for key in reader.parents if (model := self._models.get(key))]
        for model in parents:
            if model.relation == name:
                return model
        for model in parents:
            if _fits(model.relation, name):
                return model
        homonyms = self._by_identifier.get(name[-1], [])
        if exact := [model for model in homonyms if model.relation == name]:
            return _building_model(exact)
        # A name without a schema is one in the schema of the model itself. But a view that reads
        # its own name reads a table of another schema.
        prefix = reader.relation[: -len(name)] if len(reader.relation) > len(name) else ()
        siblings = [
            model
            for model in homonyms
            if model is not reader and model.relation == (*prefix, *name)
        ]
        fitting = [model for model in homonyms if len(name) > 1 and _fits(model.relation, name)]
        candidates = siblings or (
            fitting if len({model.relation for model in fitting}) == 1 else []
        )
        return _building_model(candidates) if candidates else None


def _fits(relation: Name, name: Name) -> bool:
    """Whether the parts that both have are equal."""
    length = min(len(relation), len(name))
    return relation[-length:] == name[-length:]


def _building_model(models: Iterable[DbtModel]) -> DbtModel:
    """The one that builds the relation, where a source has the same."""
    return min(models, key=lambda model: (model.kind == "source", model.unique_id))


def dialect_of(adapter: str) -> str | None:
    """The dialect of an adapter, by its name in sqlglot; None for one that we do not know."""
    return _DIALECTS.get(adapter.strip().lower())
