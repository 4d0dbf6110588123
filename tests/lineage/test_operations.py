"""Operations and their effects on the target, as one table."""

from __future__ import annotations

from dbt_graft.lineage.operations import Operation
from tests.cases import for_each

# b: brings data · w: its rows are counted · r: replaces · c: creates · n: renames · s: switches ·
# x: removes
EFFECTS = {
    "SELECT": "",
    "INSERT": "b w",
    "INSERT OVERWRITE": "b w r",
    "BULK INSERT": "b w",
    "LOAD DATA": "b w",
    "COPY INTO": "b w",
    "UPDATE": "b w",
    "MERGE": "b w",
    "CALL": "b w",
    "RESTORE": "b w",
    "CREATE TABLE AS": "b w r c",
    "SELECT INTO": "b w r c",
    "CREATE VIEW": "b r",
    "CACHE TABLE": "b w",
    "CONVERT": "b w",
    "SWITCH": "b w s",
    "EXCHANGE": "b w s",
    "RENAME": "c n",
    "TRANSFER": "c n",
    "CREATE TABLE": "c",
    "CREATE TABLE LIKE": "c",
    "CREATE SYNONYM": "",
    "ALTER": "",
    "DELETE": "",
    "TRUNCATE": "r",
    "DROP": "r x",
}


@for_each("operation", Operation)
def test_what_an_operation_does_to_its_target(operation: Operation) -> None:
    answers = {
        "b": operation.brings_data,
        "w": operation.writes_rows,
        "r": operation.replaces,
        "c": operation.creates,
        "n": operation.renames,
        "s": operation.switches,
        "x": operation.removes,
    }
    assert " ".join(letter for letter, holds in answers.items() if holds) == EFFECTS[operation]


def test_what_only_defines_a_table_brings_it_no_data() -> None:
    defines = {one for one in Operation if one.creates and not one.brings_data and not one.renames}
    assert defines == {Operation.CREATE_TABLE, Operation.CREATE_TABLE_LIKE}
