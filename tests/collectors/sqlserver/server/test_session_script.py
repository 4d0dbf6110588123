from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dbt_graft.collectors.sqlserver.server.session_script import (
    SessionOptions,
    file_name,
    session_script,
)
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

TOKEN = re.compile(
    r"(?P<comment>--[^\n]*)|N'(?P<string>(?:[^']|'')*)'|\[(?P<name>(?:[^\]]|\]\])*)\]"
    r"|(?P<word>\w+)|(?P<sign>[(),.;=>])|(?P<space>\s+)"
)
AZURE = "https://shop.blob.core.windows.net/xe"


def tokens(text: str) -> list[str]:
    """The tokens of a script: words and signs as they are, strings as N'…', names as […]."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, f"no token at {text[at : at + 40]!r}"
        at = match.end()
        if match.lastgroup == "string":
            found.append("N'" + match["string"].replace("''", "'") + "'")
        elif match.lastgroup == "name":
            found.append("[" + match["name"].replace("]]", "]") + "]")
        elif match.lastgroup in ("word", "sign"):
            found.append(match.group())
    return found


def events(options: SessionOptions) -> dict[str, str]:
    """Event -> what stands in its parentheses, as one line of tokens."""
    words = " ".join(tokens(session_script(options)))
    parts = re.split(r"ADD (?:EVENT|TARGET) (?:sqlserver|package0) \. ", words)[1:-1]
    return dict(part.split(" ", 1) for part in parts)


def test_brackets_close_where_they_should() -> None:
    depth = 0
    for token in tokens(session_script(SessionOptions())):
        depth += {"(": 1, ")": -1}.get(token, 0)
        assert depth >= 0
        assert token != ";" or depth == 0
    assert depth == 0


def test_the_script_is_two_statements_without_a_batch_separator() -> None:
    found = " ".join(tokens(session_script(SessionOptions())))
    assert re.fullmatch(
        r"CREATE EVENT SESSION \[py_lineage\] ON SERVER ADD EVENT [^;]* ; "
        r"ALTER EVENT SESSION \[py_lineage\] ON SERVER STATE = START ;",
        found,
    )
    assert "GO" not in found.split()


def test_events_are_separated_by_commas_and_the_target_is_not() -> None:
    words = " ".join(tokens(session_script(SessionOptions())))
    assert words.count(", ADD EVENT") == words.count("ADD EVENT") - 1
    assert ", ADD TARGET" not in words


def test_what_lineage_needs_is_captured() -> None:
    assert list(events(SessionOptions())) == [
        "sql_batch_completed",
        "rpc_completed",
        "sp_statement_completed",
        "sql_statement_completed",
        "error_reported",
        "begin_tran_completed",
        "commit_tran_completed",
        "rollback_tran_completed",
        "login",
        "logout",
    ]


def test_the_statement_level_can_be_left_out() -> None:
    without = events(SessionOptions(statements=False))
    assert set(events(SessionOptions())) - set(without) == {"sql_statement_completed"}


@for_each("event", events(SessionOptions()))
def test_every_event_has_four_actions_and_the_applications_only(event: str) -> None:
    body = events(SessionOptions())[event]
    assert (
        "ACTION ( sqlserver . client_app_name , sqlserver . database_name , "
        "sqlserver . session_id , package0 . event_sequence )" in body
    )
    assert (
        "sqlserver . like_i_sql_unicode_string ( sqlserver . client_app_name , "
        "N'python_task::%' ) )" in body
    )


@pytest.mark.parametrize(
    ("event", "piece"),
    [
        ("sql_batch_completed", "SET collect_batch_text = ( 1 )"),
        ("rpc_completed", "SET collect_statement = ( 1 )"),
        ("sp_statement_completed", "SET collect_object_name = ( 1 ) , collect_statement = ( 1 )"),
        ("login", "SET collect_options_text = ( 1 )"),
        ("error_reported", "WHERE ( severity > ( 10 ) AND sqlserver . like_i"),
    ],
)
def test_an_event_is_asked_for_what_is_off_by_default(event: str, piece: str) -> None:
    assert piece in events(SessionOptions())[event]


@pytest.mark.parametrize("personal", ["username", "hostname", "principal", "sql_text"])
def test_no_personal_data_and_no_input_buffer_is_captured(personal: str) -> None:
    assert not [token for token in tokens(session_script(SessionOptions())) if personal in token]


@for_each(
    "piece",
    [
        "TRACK_CAUSALITY = ON",
        "STARTUP_STATE = ON",
        "MAX_MEMORY = 16 MB",
        "EVENT_RETENTION_MODE = ALLOW_SINGLE_EVENT_LOSS",
        "MAX_DISPATCH_LATENCY = 30 SECONDS",
        "max_file_size = ( 256 ) , max_rollover_files = ( 20 ) )",
    ],
)
def test_the_session_loses_no_captured_event(piece: str) -> None:
    assert piece in " ".join(tokens(session_script(SessionOptions())))


def test_sizes_are_what_was_asked_for() -> None:
    words = " ".join(
        tokens(session_script(SessionOptions(file_megabytes=64, files=3, memory_megabytes=32)))
    )
    assert "max_file_size = ( 64 ) , max_rollover_files = ( 3 )" in words
    assert "MAX_MEMORY = 32 MB" in words


def test_azure_sql_database_has_sessions_of_a_database() -> None:
    text = session_script(SessionOptions(folder=AZURE, azure=True))
    assert text.count("ON DATABASE") == 2
    assert "ON SERVER" not in text
    assert "DATABASE SCOPED CREDENTIAL" in text


@for_each(
    "folder, expected",
    [
        ("", "py_lineage.xel"),
        (r"D:\XE", r"D:\XE\py_lineage.xel"),
        ("D:\\", r"D:\py_lineage.xel"),
        ("D:/XE/", "D:/XE/py_lineage.xel"),
        (r"\\store\xe", r"\\store\xe\py_lineage.xel"),
        ("/var/opt/mssql/xe", "/var/opt/mssql/xe/py_lineage.xel"),
        (AZURE + "/", AZURE + "/py_lineage.xel"),
    ],
)
def test_the_files_lie_where_they_should(folder: str, expected: str) -> None:
    options = SessionOptions(folder=folder)
    assert file_name(options) == expected
    assert f"N'{expected}'" in tokens(session_script(options))


HOSTILE = (
    "'",
    "''",
    "]",
    "]]",
    "x'; DROP DATABASE Shop; --",
    "x] ON SERVER; DROP DATABASE Shop; --",
    "*/ DROP DATABASE Shop /*",
    "x'), ADD EVENT sqlserver.login (ACTION (sqlserver.username",
    "GO",
    "größe 😀",
)


@for_each("hostile", HOSTILE)
def test_no_name_breaks_out_of_the_script(hostile: str) -> None:
    plain = tokens(session_script(SessionOptions("a", "b", "/c")))
    options = SessionOptions(hostile, hostile, f"/c/{hostile}")
    values = {
        f"[{hostile}]": "[a]",
        f"N'{hostile}%'": "N'b%'",
        f"N'{file_name(options)}'": "N'/c/a.xel'",
    }
    assert [values.get(token, token) for token in tokens(session_script(options))] == plain


@pytest.mark.parametrize(
    ("beginning", "pattern"),
    [("task::", "task::%"), ("a_b", "a_b%"), ("50% ", "50_ %"), ("[a-z]", "_a-z]%"), ("^-", "^-%")],
)
def test_a_wildcard_in_a_beginning_stands_for_one_character(beginning: str, pattern: str) -> None:
    assert f"N'{pattern}'" in tokens(session_script(SessionOptions(application=beginning)))


def test_a_long_beginning_is_marked_as_slower() -> None:
    assert "compared faster" in session_script(SessionOptions(application="a" * 28))
    assert "compared faster" not in session_script(SessionOptions(application="a" * 27))


@pytest.mark.parametrize("field", ["name", "application", "folder"])
@for_each("text", ["a\nGO\nb", "a\rb", "a\u2028b", "a\x00", "$(a)", "\ud800"])
def test_what_no_quotes_can_hold_is_refused(field: str, text: str) -> None:
    with pytest.raises(GraftError, match="line breaks"):
        session_script(replace(SessionOptions(), **{field: text}))


@for_each(
    "options, problem",
    [
        (SessionOptions(name=""), "1 to 128 characters"),
        (SessionOptions(name="a" * 129), "1 to 128 characters"),
        (SessionOptions(application=" "), "1 to 128 characters"),
        (SessionOptions(azure=True), "container in Azure Storage only"),
        (SessionOptions(azure=True, folder=r"D:\XE"), "container in Azure Storage only"),
        (SessionOptions(folder=AZURE + "?sv=2024&sig=secret"), "carries a token"),
        (SessionOptions(folder="https://user:secret@shop/xe"), "carries a token"),
        (SessionOptions(folder="XE"), "not a full path"),
        (SessionOptions(folder="http://user:secret@shop/xe"), "not a full path"),
        (SessionOptions(folder="/" + "a" * 250), "longer than 260"),
        (SessionOptions(files=0), "one file or more"),
        (SessionOptions(memory_megabytes=0), "1 to 2048 MB"),
        (SessionOptions(memory_megabytes=4096, file_megabytes=9000), "1 to 2048 MB"),
        (SessionOptions(file_megabytes=8), "room for the session's memory"),
    ],
)
def test_an_invalid_option_is_an_error(options: SessionOptions, problem: str) -> None:
    with pytest.raises(GraftError) as error:
        session_script(options)
    assert problem in str(error.value)
    assert "secret" not in str(error.value)
