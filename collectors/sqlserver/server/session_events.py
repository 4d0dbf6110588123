"""The events and actions that lineage needs of a session, and what is lost without each.

The names are those of `sys.dm_xe_objects` and `sys.dm_xe_object_columns` since SQL Server 2012.
Completed events only: they have the outcome, and a starting event would repeat the text.
"""

from __future__ import annotations

from dbt_graft.analysis.finding import Severity
from dbt_graft.collectors.name_tables import words
from dbt_graft.lineage.frozen import frozen


@frozen
class SessionEvent:
    """An event of the package `sqlserver`.

    Attributes:
        why: What only this event shows, in lines of a comment.
        without: The loss where a session does not capture it.
        collects: The fields that it has only when asked, or by some versions' default.
        where: A condition on its own fields; they are compared first as that costs least.
    """

    name: str
    why: str
    without: str
    severity: Severity
    collects: tuple[str, ...] = ()
    where: str = ""


@frozen
class SessionAction:
    """A value that a session adds to each event.

    Attributes:
        name: With its package.
    """

    name: str
    without: str
    severity: Severity


STATEMENT_LEVEL = "sql_statement_completed"

EVENTS = (
    SessionEvent(
        "sql_batch_completed",
        "What a task sends as text, and (`result`) whether it failed.",
        "what tasks send without parameters is not seen",
        Severity.ERROR,
        collects=("collect_batch_text",),
    ),
    SessionEvent(
        "rpc_completed",
        "Statements with parameters and calls of procedures: most of what drivers and pandas send.",
        "statements with parameters and calls of procedures are not seen",
        Severity.ERROR,
        collects=("collect_statement",),
    ),
    SessionEvent(
        "sp_statement_completed",
        "Statements inside procedures, triggers and dynamic SQL; the object's name is off by\n"
        "default and shows which procedure did the work.",
        "what procedures and dynamic SQL do inside is not seen, only inferred from their text",
        Severity.WARNING,
        collects=("collect_object_name", "collect_statement"),
    ),
    SessionEvent(
        STATEMENT_LEVEL,
        "Each statement of a batch. It costs an event a statement, and only it shows which branch\n"
        "of an IF ran and the database behind a USE.",
        "which branch of an IF ran inside a batch stays unknown",
        Severity.NOTE,
        collects=("collect_statement",),
    ),
    SessionEvent(
        "error_reported",
        "Which statement of a batch failed. Up to severity 10 they are messages, not errors.",
        "which statement of a batch failed stays unknown",
        Severity.WARNING,
        where="severity > (10)",
    ),
    SessionEvent(
        "begin_tran_completed",
        "Drivers open, commit and roll back transactions by requests that have no SQL text: only\n"
        "these three show that work was rolled back.",
        "work that was rolled back counts as done",
        Severity.WARNING,
    ),
    SessionEvent(
        "commit_tran_completed",
        "",
        "work that was rolled back counts as done",
        Severity.WARNING,
    ),
    SessionEvent(
        "rollback_tran_completed",
        "",
        "work that was rolled back counts as done",
        Severity.WARNING,
    ),
    SessionEvent(
        "login",
        "The database that a connection begins in, and (`options_text`) whether its double quotes\n"
        "hold names or values.",
        "a text in double quotes may be a name or a value",
        Severity.NOTE,
        collects=("collect_options_text",),
    ),
    SessionEvent(
        "logout",
        "Ends the prepared statements of a connection, whose session number is used again.",
        "where a connection ends is guessed from pauses",
        Severity.NOTE,
    ),
)

ACTIONS = (
    SessionAction(
        "sqlserver.client_app_name", "no event can be assigned to a task", Severity.ERROR
    ),
    SessionAction(
        "sqlserver.database_name",
        "a name without its database may be in any database",
        Severity.ERROR,
    ),
    SessionAction(
        "sqlserver.session_id",
        "connections cannot be distinguished: no prepared statement or temporary table is resolved",
        Severity.ERROR,
    ),
    SessionAction(
        "package0.event_sequence",
        "events of one moment have no order, so a prepared statement may be taken for another",
        Severity.WARNING,
    ),
)

# Names of people and machines: no lineage needs them.
PERSONAL = words("""
    client_hostname nt_username server_principal_name server_principal_sid session_nt_username
    session_server_principal_name username""")
# The input buffer, again with every statement of it; the events have their own text.
NEEDLESS = frozenset({"sql_text"})
