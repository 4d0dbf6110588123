"""Operations: what statements do to datasets."""

from __future__ import annotations

from enum import StrEnum


class Operation(StrEnum):
    """The verb of a statement, as SQL names it.

    Reads carry the operation of their statement: `INSERT` reads what it inserts.
    """

    SELECT = "SELECT"
    INSERT = "INSERT"
    INSERT_OVERWRITE = "INSERT OVERWRITE"
    BULK_INSERT = "BULK INSERT"
    LOAD_DATA = "LOAD DATA"
    COPY_INTO = "COPY INTO"
    UPDATE = "UPDATE"
    MERGE = "MERGE"
    CALL = "CALL"
    RESTORE = "RESTORE"
    CREATE_TABLE_AS = "CREATE TABLE AS"
    SELECT_INTO = "SELECT INTO"
    CREATE_VIEW = "CREATE VIEW"
    CACHE_TABLE = "CACHE TABLE"
    SWITCH = "SWITCH"
    EXCHANGE = "EXCHANGE"
    RENAME = "RENAME"
    TRANSFER = "TRANSFER"
    CREATE_TABLE = "CREATE TABLE"
    CREATE_TABLE_LIKE = "CREATE TABLE LIKE"
    CREATE_SYNONYM = "CREATE SYNONYM"
    CONVERT = "CONVERT"
    ALTER = "ALTER"
    DELETE = "DELETE"
    TRUNCATE = "TRUNCATE"
    DROP = "DROP"

    @property
    def brings_data(self) -> bool:
        """Whether it puts rows into its target, or defines which rows a view has."""
        return self in _BRINGS_DATA

    @property
    def reads_data(self) -> bool:
        """Whether it takes rows from its inputs, or defines a view on them."""
        return self not in _READS_NAMES

    @property
    def writes_rows(self) -> bool:
        """Whether the rows that a log counts for it are rows of its target."""
        return self in _BRINGS_DATA and self is not Operation.CREATE_VIEW

    @property
    def replaces(self) -> bool:
        """Whether it replaces the previous content of its target."""
        return self in _REPLACES

    @property
    def creates(self) -> bool:
        """Whether its target may be new."""
        return self in _CREATES

    @property
    def defines(self) -> bool:
        """Whether its target has the columns that it names, and no others."""
        return self in _DEFINES

    @property
    def renames(self) -> bool:
        """Whether it gives the dataset that it reads a new name, the target."""
        return self in _RENAMES

    @property
    def is_in_place(self) -> bool:
        """Whether it changes rows where they are: those that it reads of its target stay in it."""
        return self in _IN_PLACE

    @property
    def switches(self) -> bool:
        """Whether it moves partitions between two tables, both of which stay."""
        return self in _SWITCHES

    @property
    def removes(self) -> bool:
        """Whether it drops its target."""
        return self is Operation.DROP


_BRINGS_DATA = frozenset(
    {
        Operation.INSERT,
        Operation.INSERT_OVERWRITE,
        Operation.BULK_INSERT,
        Operation.LOAD_DATA,
        Operation.COPY_INTO,
        Operation.UPDATE,
        Operation.MERGE,
        Operation.CALL,
        Operation.RESTORE,
        Operation.CREATE_TABLE_AS,
        Operation.SELECT_INTO,
        Operation.CREATE_VIEW,
        Operation.CACHE_TABLE,
        Operation.CONVERT,
        Operation.SWITCH,
        Operation.EXCHANGE,
    }
)
_REPLACES = frozenset(
    {
        Operation.CREATE_TABLE_AS,
        Operation.SELECT_INTO,
        Operation.CREATE_VIEW,
        Operation.INSERT_OVERWRITE,
        Operation.TRUNCATE,
        Operation.DROP,
    }
)
_DEFINES = frozenset(
    {
        Operation.CREATE_TABLE,
        Operation.CREATE_TABLE_AS,
        Operation.CREATE_VIEW,
        Operation.INSERT_OVERWRITE,
        Operation.SELECT_INTO,
    }
)
_RENAMES = frozenset({Operation.RENAME, Operation.TRANSFER})
_CREATES = _RENAMES | {
    Operation.CREATE_TABLE,
    Operation.CREATE_TABLE_LIKE,
    Operation.CREATE_TABLE_AS,
    Operation.SELECT_INTO,
}
_IN_PLACE = frozenset({Operation.UPDATE, Operation.MERGE, Operation.DELETE})
_SWITCHES = frozenset({Operation.SWITCH, Operation.EXCHANGE})
_READS_NAMES = _RENAMES | {Operation.CREATE_TABLE_LIKE}
