"""Names of places outside of the database, in the place of a table's name.

They have three parts, the first of them empty: see `outside_rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.text.names import Name

# In place of a function, where the text is no path.
TABLE, STAGE = "table", "stage"


def is_place(name: Name) -> bool:
    """Whether a name stands for something outside of the database."""
    return len(name) == 3 and not name[0]
