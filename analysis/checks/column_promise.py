"""The promises for a column, by a data contract or by tests."""

from __future__ import annotations

from dbt_graft.lineage.frozen import frozen


@frozen
class ColumnPromise:
    """The promises of a column.

    Attributes:
        type: As the contract has it, folded.
        required: Whether it is never null.
        constraints: Others: `unique`, `primary_key`, `check` with the digest of its condition.
        values: Digests of the values that it may have; empty where nothing limits them.
        classification: The highest label, as it is written.
        unit: Of its values: `EUR`.
    """

    type: str = ""
    required: bool = False
    constraints: frozenset[tuple[str, str]] = frozenset()
    values: frozenset[str] = frozenset()
    classification: str = ""
    unit: str = ""
