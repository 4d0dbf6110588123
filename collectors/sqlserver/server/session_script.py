"""The CREATE EVENT SESSION script that serves lineage best, with the reason for each choice.

After Microsoft's reference, "CREATE EVENT SESSION (Transact-SQL)" and "Extended Events targets".
"""

from __future__ import annotations

import re

from dbt_graft.collectors.sqlserver.server.session_events import (
    ACTIONS,
    EVENTS,
    STATEMENT_LEVEL,
    SessionEvent,
)
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

# Of a session and of an application, both sysname.
_LONGEST_NAME = 128
_LONGEST_FILE_NAME = 260
# The server adds `_0_133700000000000000` to the name of each file.
_ADDED_TO_FILE_NAME = 24
_MOST_MEMORY = 2048
_NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|]')
# Which characters the comparator takes for wildcards beyond `%` and `_` is not documented. Each of
# them becomes `_`, any one character, so that the pattern passes all that it should whichever way.
_WILDCARD = re.compile(r"[%_\[]")
_CHEAPEST_PATTERN = 28


class OptionError(GraftError):
    """An option of the session is not valid."""

    exit_code = 2


@frozen
class SessionOptions:
    """The options of a session.

    Attributes:
        name: Of the session, and of its files.
        application: What the names of the tasks' applications begin with.
        folder: Where the server writes the files: a full path on Windows or Linux, or the URL of
            a container in Azure Storage; empty for the folder of the server's error log.
        azure: For Azure SQL Database, whose sessions belong to one database.
        file_megabytes: The size at which the server begins another file.
        files: How many it keeps before it deletes the oldest.
        memory_megabytes: For events that wait to be written.
        statements: Also capture each statement of a batch.
    """

    name: str = "py_lineage"
    application: str = "python_task::"
    folder: str = ""
    azure: bool = False
    file_megabytes: int = 256
    files: int = 20
    memory_megabytes: int = 16
    statements: bool = True


def session_script(options: SessionOptions) -> str:
    """The script that creates and starts a session; for SSMS, sqlcmd or any client.

    Raises:
        OptionError: An option cannot be: it is too long or too small, has characters that break a
            script, or the folder is none that the server can write to.
    """
    _check(options)
    name = f"[{options.name.replace(']', ']]')}]"
    scope = "DATABASE" if options.azure else "SERVER"
    events = [event for event in EVENTS if options.statements or event.name != STATEMENT_LEVEL]
    like = (
        "sqlserver.like_i_sql_unicode_string(sqlserver.client_app_name, "
        f"{_literal(_pattern(options.application))})"
    )
    return "\n".join(
        (
            *_head(options),
            f"CREATE EVENT SESSION {name} ON {scope}",
            ",\n".join(_event(event, like) for event in events),
            *_target(options),
            *_session_options(options),
            "",
            f"ALTER EVENT SESSION {name} ON {scope} STATE = START;",
            "",
        )
    )


def file_name(options: SessionOptions) -> str:
    """The name of the session's files in the script; the server adds a number to it."""
    name = f"{_NOT_IN_FILE_NAMES.sub('_', options.name)}.xel"
    folder = options.folder
    if not folder:
        return name
    separator = "/" if "/" in folder else "\\"
    return f"{folder.rstrip(separator)}{separator}{name}"


def _head(options: SessionOptions) -> list[str]:
    permission = f"ALTER ANY {'DATABASE ' if options.azure else ''}EVENT SESSION"
    head = [
        "An Extended Events session that captures what lineage needs, of the named applications.",
        f"It needs the permission {permission}, and runs until it is dropped.",
        "Its files hold statements with their values: guard them as you guard the databases.",
        "dbt-graft takes the values out before it stores anything.",
    ]
    if "://" in options.folder:
        head += [
            "The server writes to the container by a credential that is called like the",
            "container's URL, without a slash at its end:",
            f"  CREATE {'DATABASE SCOPED ' if options.azure else ''}CREDENTIAL [<URL>]"
            " WITH IDENTITY = 'MANAGED IDENTITY';",
            "or with the IDENTITY 'SHARED ACCESS SIGNATURE' and a token as its SECRET.",
        ]
    head += [
        "",
        "Each event has four actions, no more: application (the task), database, session number",
        "and sequence, by which prepared statements are followed. No user or host name: lineage",
        "needs none, and they are personal data. No sql_text: it repeats the batch with",
        "each statement, while the events below have their own text.",
        "",
        "Other applications are left out on the server by the beginning of their name. An",
        "underscore stands for any one character there; dbt-graft compares the name again.",
    ]
    if len(_pattern(options.application)) > _CHEAPEST_PATTERN:
        head.append(
            f"This beginning has {_CHEAPEST_PATTERN} characters or more: a shorter one is compared"
            " faster."
        )
    return [_comment(line, "") for line in head]


def _event(event: SessionEvent, like: str) -> str:
    actions = ", ".join(action.name for action in ACTIONS)
    why = [_comment(line, "") for line in event.why.splitlines()]
    collects = ", ".join(f"{name} = (1)" for name in event.collects)
    where = f"{event.where} AND {like}" if event.where else like
    return "\n".join(
        (
            *why,
            f"ADD EVENT sqlserver.{event.name} (",
            *([f"    SET {collects}"] if collects else []),
            f"    ACTION ({actions})",
            f"    WHERE ({where}))",
        )
    )


def _target(options: SessionOptions) -> tuple[str, ...]:
    return (
        _comment("All the files together must outlast the longest pause between two collects:", ""),
        _comment("what is deleted before it was read is lost.", ""),
        "ADD TARGET package0.event_file (",
        f"    SET filename = {_literal(file_name(options))},",
        f"        max_file_size = ({options.file_megabytes}),",
        f"        max_rollover_files = ({options.files}))",
    )


def _session_options(options: SessionOptions) -> tuple[str, ...]:
    return (
        "WITH (",
        _comment(
            "Cut into three buffers or more; an event larger than one is lost, and a statement"
        ),
        _comment("may be long."),
        f"    MAX_MEMORY = {options.memory_megabytes} MB,",
        _comment("Under pressure single events are lost (and counted), and no client has to wait."),
        "    EVENT_RETENTION_MODE = ALLOW_SINGLE_EVENT_LOSS,",
        _comment("Events are in the file after this time at the latest."),
        "    MAX_DISPATCH_LATENCY = 30 SECONDS,",
        _comment(
            "Adds attach_activity_id, which names the request of each event: a statement that is"
        ),
        _comment("seen as batch, statement and inside a procedure counts once."),
        "    TRACK_CAUSALITY = ON,",
        _comment("Runs again after the server was restarted."),
        "    STARTUP_STATE = ON);",
    )


def _comment(line: str, indent: str = "    ") -> str:
    return f"{indent}-- {line}".rstrip()


def _pattern(beginning: str) -> str:
    return _WILDCARD.sub("_", beginning) + "%"


def _literal(text: str) -> str:
    return "N'" + text.replace("'", "''") + "'"


def _check(options: SessionOptions) -> None:
    texts = {
        "the session's name": options.name,
        "the beginning of the applications' names": options.application,
        "the folder": options.folder,
    }
    for what, text in texts.items():
        # A line of its own could be sqlcmd's `GO`, and `$(…)` is its variable even in a string.
        if not text.isprintable() or "$(" in text:
            raise OptionError(
                f"{what} has line breaks, invisible characters or `$(`", remedy="leave them out"
            )
    for what, text in list(texts.items())[:2]:
        if not text.strip() or len(text) > _LONGEST_NAME:
            raise OptionError(f"{what} must have 1 to {_LONGEST_NAME} characters")
    _check_folder(options)
    if options.files < 1 or not 1 <= options.memory_megabytes <= _MOST_MEMORY:
        raise OptionError(f"a session needs 1 to {_MOST_MEMORY} MB of memory and one file or more")
    if options.file_megabytes < options.memory_megabytes:
        raise OptionError("a file must have room for the session's memory", remedy="make it larger")


def _check_folder(options: SessionOptions) -> None:
    folder = options.folder
    is_url = folder.startswith("https://")
    if options.azure and not is_url:
        raise OptionError(
            "Azure SQL Database writes to a container in Azure Storage only",
            remedy="name its URL: https://<account>.blob.core.windows.net/<container>",
        )
    if is_url and ("?" in folder or "@" in folder):
        raise OptionError(
            "the container's URL carries a token or a password",
            remedy="leave it out; the server has it in a credential (see the script's comment)",
        )
    if folder and not is_url and not re.match(r"/|\\\\|[A-Za-z]:[\\/]", folder):
        raise OptionError(
            "the folder is not a full path on the server",
            remedy=r"write D:\XE, /var/opt/mssql/xe or https://<account>.blob.core.windows.net/<c>",
        )
    if len(file_name(options)) + _ADDED_TO_FILE_NAME > _LONGEST_FILE_NAME:
        raise OptionError(f"the files' names get longer than {_LONGEST_FILE_NAME} characters")
