"""Words behind a source in FROM: those that end the clause, and those that are no alias."""

from __future__ import annotations

from dbt_graft.collectors.statements.text.tokens import keywords

# The words that end a FROM clause.
ENDS_FROM = keywords(
    """WHERE GROUP ORDER HAVING SET UNION EXCEPT INTERSECT OPTION WINDOW LIMIT QUALIFY WHEN VALUES
    FOR SORT CLUSTER DISTRIBUTE LATERAL MINUS |>"""
)
# The words that can follow a table without being its alias.
NO_ALIAS = ENDS_FROM | keywords(
    """ON JOIN INNER LEFT RIGHT FULL CROSS OUTER NATURAL SEMI ANTI APPLY USING WITH PIVOT UNPIVOT
    TABLESAMPLE AS FROM INTO SELECT INSERT UPDATE DELETE MERGE OUTPUT VERSION TIMESTAMP DEFAULT
    EXEC EXECUTE"""
)
