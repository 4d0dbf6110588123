"""Rules in which the dialects differ: where a name is an alias, and names that are no columns."""

from __future__ import annotations

# SELECT can name its aliases further right: `SELECT a + 1 AS b, b * 2 AS c`.
LATERAL_ALIASES = frozenset(
    ["spark", "databricks", "snowflake", "redshift", "duckdb", "clickhouse", "teradata"]
)
WHERE_ALIASES = frozenset(["snowflake", "duckdb", "clickhouse", "teradata"])
NO_GROUP_ALIASES = frozenset(["tsql", "trino", "athena", "oracle"])
# In GROUP BY, an alias goes before a column of a source.
GROUP_ALIASES_FIRST = frozenset({"bigquery"})
# ORDER BY a + 1 is of a source's column; ORDER BY a alone takes the alias first everywhere.
SOURCES_FIRST_IN_ORDERS = frozenset(["duckdb", "postgres", "redshift", "tsql"])
# In all clauses, and further left too.
ALIASES_FIRST = frozenset({"clickhouse"})

# UNPIVOT's column of values stands before that of names.
VALUES_BEFORE_NAMES = frozenset({"bigquery", "tsql"})
# The columns of VALUES without names.
_COLUMN_1, _COL_1, _COL_0 = ("column", 1), ("col", 1), ("col", 0)
VALUES_NAMES = {
    "postgres": _COLUMN_1,
    "redshift": _COLUMN_1,
    "snowflake": _COLUMN_1,
    "spark": _COL_1,
    "databricks": _COL_1,
    "duckdb": _COL_0,
    "trino": ("_col", 0),
    "athena": ("_col", 0),
}

# Names without brackets that are functions, or columns that the engine adds to each table.
_EVERYWHERE = "current_date current_time current_timestamp current_user session_user"
_PSEUDO_COLUMNS = {
    "bigquery": "_partitiontime _partitiondate _table_suffix _file_name",
    "clickhouse": "_table _database _part _part_index _partition_id _path _file _row_exists",
    "databricks": "_metadata user",
    "duckdb": "rowid",
    "oracle": """rownum rowid level user uid sysdate systimestamp localtimestamp sessiontimezone
        dbtimezone ora_rowscn connect_by_isleaf connect_by_iscycle""",
    "mysql": "localtime localtimestamp utc_date utc_time utc_timestamp",
    "postgres": """localtime localtimestamp ctid xmin xmax cmin cmax tableoid user
        current_catalog current_schema current_role""",
    "redshift": "level user sysdate",
    "snowflake": """level localtime localtimestamp sysdate metadata$filename
        metadata$file_row_number metadata$action metadata$isupdate metadata$row_id
        metadata$file_last_modified metadata$start_scan_time""",
    "spark": "_metadata user",
    "teradata": "date time user",
    "tsql": "user system_user",
    "trino": "$path $file_size $file_modified_time $partition $bucket",
    "athena": "$path $file_size $file_modified_time $partition $bucket",
}
_NO_COLUMNS = {
    dialect: frozenset(f"{_EVERYWHERE} {names}".split())
    for dialect, names in _PSEUDO_COLUMNS.items()
}
_OTHERS = frozenset(_EVERYWHERE.split())
# Dialects in which USER is a function only where no column is called so.
USER_IS_NAME = frozenset({"spark", "databricks"})
SEQUENCE_VALUES = frozenset({"nextval", "currval"})


def no_columns(dialect: str) -> frozenset[str]:
    """The names, folded, that are no columns of a table unless its schema has them."""
    return _NO_COLUMNS.get(dialect, _OTHERS)
