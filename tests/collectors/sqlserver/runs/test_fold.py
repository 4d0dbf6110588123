"""Events of a part of a log -> segments: what counts once, what a handle means, what is undone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from dbt_graft.collectors.files import log_files
from dbt_graft.collectors.sqlserver.event import EventFilter, ExtendedEvent, Mapped, Value
from dbt_graft.collectors.sqlserver.files.xel.read import read_xel, xel_splits
from dbt_graft.collectors.sqlserver.runs.captured import CONNECTIONS, event_filter, task_events
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.sqlserver.runs.folding import Fold
from dbt_graft.collectors.sqlserver.runs.segment import Segment, SegmentKind
from dbt_graft.collectors.statements import time_limit
from dbt_graft.collectors.statements.text.double_quotes import QUOTES_ARE_NAMES, QUOTES_ARE_VALUES
from tests.cases import for_each

TASK = r"python_task::(?P<task>[^:]+)(::(?P<run>.+))?"
SECOND = 10_000_000
START = 1_790_000_000 * SECOND
NAMES = {
    "batch": ("sql_batch_completed", "batch_text"),
    "batch begins": ("sql_batch_starting", "batch_text"),
    "rpc": ("rpc_completed", "statement"),
    "statement": ("sql_statement_completed", "statement"),
    "inside": ("sp_statement_completed", "statement"),
    "inside begins": ("sp_statement_starting", "statement"),
    "error": ("error_reported", "message"),
    "rollback": ("rollback_tran_completed", ""),
    "commit": ("commit_tran_completed", ""),
    "begin": ("begin_tran_completed", ""),
    "login": ("login", "options_text"),
    "logout": ("logout", ""),
}
PREPEXEC = "declare @p1 int set @p1={} exec sp_prepexec @p1 output,N'@P1 int',N'{}',7 select @p1"
PREPARE = "declare @p1 int set @p1={} exec sp_prepare @p1 output,N'@P1 int',N'{}',1 select @p1"
A, B = "DELETE FROM a", "DELETE FROM b"
PREPARE_A, PREPARE_B = (("rpc", PREPARE.format(3, text)) for text in (A, B))
RUN_3 = ("rpc", "exec sp_execute 3")


def event(kind: str, text: str = "", at: int = 0, **more: Value) -> ExtendedEvent:
    name, field = NAMES[kind]
    actions: dict[str, Value] = {
        "client_app_name": more.pop("application", "python_task::load"),
        "session_id": more.pop("session", 51),
        "event_sequence": at,
        "database_name": more.pop("database", "Shop"),
    }
    if "activity" in more:
        actions["attach_activity_id"] = more.pop("activity")
    data: dict[str, Value] = {"duration": 10, **more}
    if field:
        data[field] = text
    return ExtendedEvent(name, START + at * SECOND, data, actions)


def folded(
    *windows: list[ExtendedEvent], parameters: Mapping[str, tuple[str, ...]] | None = None
) -> list[Segment]:
    fold = Fold([], idle_seconds=3600, parameters=parameters)
    segments: list[Segment] = []
    for events in windows:
        fold.add(filter(None, map(task_events(TaskClients(TASK)), events)))
        segments += fold.segments()
    return segments


def events(*sent: str | tuple[str, str]) -> list[ExtendedEvent]:
    """One event a second; `batch` for a text alone."""
    pairs = [one if isinstance(one, tuple) else ("batch", one) for one in sent]
    return [event(kind, text, at) for at, (kind, text) in enumerate(pairs)]


def texts(segments: list[Segment]) -> Counter[str]:
    """The count of each text, marked where it is known: `!` failed, `~` undone, `?` only began."""
    marks = {True: "", False: "!", None: "?"}
    found: Counter[str] = Counter()
    for segment in segments:
        key = segment.key
        if key.kind == SegmentKind.STATEMENT:
            found[marks[key.ok] + "~" * bool(key.undone) + str(key.text).strip("; ")] += (
                segment.counts.times
            )
    return found


def test_equal_statements_are_one_segment_with_their_counts() -> None:
    sent = [
        event("batch", f"INSERT INTO t VALUES ({n})", at=n, row_count=n, duration=n * 1000)
        for n in (5, 3, 8)
    ]
    (segment,) = folded(sent)
    assert segment.key.text == "INSERT INTO t VALUES (?)"
    assert (segment.counts.times, segment.counts.rows) == (3, 16)
    assert (segment.counts.first_sequence, segment.counts.last_sequence) == (3, 8)
    assert segment.counts.last_ended - segment.counts.first_ended == 5_000_000


@for_each(
    "sent, expected",
    [
        # handles
        ([("rpc", PREPEXEC.format(3, A))], {A: 1}),
        ([PREPARE_A], {}),
        ([PREPARE_A, *[("rpc", "exec sp_execute 3,8")] * 4], {A: 4}),
        (
            [PREPARE_A, RUN_3, PREPARE_B, RUN_3],
            {A: 1, B: 1},
        ),
        ([("rpc", PREPARE.format(3, "SELECT 1")), RUN_3], {}),
        ([PREPARE_A, ("rpc", "exec sp_reset_connection"), RUN_3], {}),
        # transactions
        ([A, "ROLLBACK"], {"~" + A: 1}),
        ([A, ("rollback", "")], {"~" + A: 1}),
        ([A, ("commit", ""), B, ("rollback", "")], {A: 1, "~" + B: 1}),
        ([A, "BEGIN TRAN", B, "ROLLBACK TRAN"], {A: 1, "~" + B: 1}),
        (["BEGIN TRAN", A, "COMMIT", "ROLLBACK"], {A: 1}),
        (["BEGIN TRAN", "BEGIN TRAN", A, "COMMIT", "ROLLBACK"], {"~" + A: 1}),
        ([A, "IF @@TRANCOUNT > 0 ROLLBACK TRAN"], {A: 1}),
        ([("begin", ""), A, "IF @@TRANCOUNT > 0 ROLLBACK TRAN"], {"~" + A: 1}),
        (["BEGIN TRAN x", A, B, "ROLLBACK TRAN savepoint", "COMMIT"], {A: 1, B: 1}),
        (["BEGIN TRAN x", A, B, "ROLLBACK TRAN x"], {"~" + A: 1, "~" + B: 1}),
        ([A, f"BEGIN TRAN; {B}; ROLLBACK"], {A: 1, f"~BEGIN TRAN; {B}; ROLLBACK": 1}),
        ([f"{A}; COMMIT", "ROLLBACK"], {f"{A}; COMMIT": 1}),
        (["SET IMPLICIT_TRANSACTIONS ON"], {}),
        (
            [
                *("SET IMPLICIT_TRANSACTIONS ON", A, "IF @@TRANCOUNT > 0 COMMIT TRAN", B),
                "IF @@TRANCOUNT > 0 ROLLBACK TRAN",
            ],
            {A: 1, "~" + B: 1},
        ),
        (["BEGIN TRAN", A, "SAVE TRAN s", B, "ROLLBACK TRAN s", "COMMIT"], {A: 1, "~" + B: 1}),
        (["BEGIN TRAN", A, ("logout", "")], {"~" + A: 1}),
        ([("statement", "BEGIN TRAN"), ("statement", A), ("statement", "ROLLBACK")], {"~" + A: 1}),
        # what fails, what only begins, what is noise
        ([("batch begins", A)], {"?" + A: 1}),
        ([("batch begins", A), A], {A: 1}),
        ([("inside begins", B), "EXEC load"], {"?" + B: 1, "EXEC load": 1}),
        ([("inside begins", B), ("inside", B), "EXEC load"], {B: 1, "EXEC load": 1}),
        ([("error", ""), ("statement", A), ("statement", B)], {"!" + A: 1, B: 1}),
        (["SELECT 1", A], {A: 1}),
    ],
)
def test_texts(sent: list[str | tuple[str, str]], expected: dict[str, int]) -> None:
    assert texts(folded(events(*sent))) == expected


def test_what_a_window_cannot_decide_is_handed_on() -> None:
    first = events(PREPARE_A, "DELETE FROM b")
    second = [event("rpc", "exec sp_execute 3", 10), event("rollback", at=11)]
    segments = folded(first, second)
    kinds = [(s.key.kind, s.key.handle, s.key.undone) for s in segments]
    assert kinds == [
        (SegmentKind.PREPARED, 3, None),
        (SegmentKind.STATEMENT, None, None),
        (SegmentKind.ROLLED_BACK, None, None),
        (SegmentKind.STATEMENT, None, True),
    ]
    assert segments[3].key.text == "DELETE FROM a"


def test_a_handle_of_another_part_stays_a_handle() -> None:
    (segment,) = folded(events(RUN_3, RUN_3))
    assert (segment.key.kind, segment.key.handle, segment.counts.times) == (
        SegmentKind.EXECUTED,
        3,
        2,
    )


def test_a_handle_from_before_a_reset_is_lost() -> None:
    sent = events(("rpc", "exec sp_reset_connection"), RUN_3)
    assert [s.key.kind for s in folded(sent)] == [
        SegmentKind.COMMITTED,
        SegmentKind.RESET,
        SegmentKind.UNRESOLVED_HANDLE,
    ]


def test_one_request_is_known_by_all_that_was_seen_of_it() -> None:
    def request(at: int, inner: str) -> list[ExtendedEvent]:
        guid = f"{at:08}-0000-0000-0000-000000000000"
        return [
            event("statement", inner, at, activity=f"{guid}-1"),
            event("batch", f"{A}; {B}", at + 1, activity=f"{guid}-2"),
        ]

    segments = folded([*request(0, A), *request(10, A), *request(20, B)])
    assert {(s.key.text, s.counts.times) for s in segments} == {
        (A, 2),
        (B, 1),
        (f"{A}; {B}", 2),
        (f"{A}; {B}", 1),
    }
    assert len({s.key.request for s in segments}) == 2


def test_statements_inside_procedures_name_them() -> None:
    inside = event(
        "inside", "DELETE FROM a", object_name="load_a", object_type=Mapped(8272, "PROC")
    )
    adhoc = event("inside", "DELETE FROM b", object_name="x", object_type=Mapped(20801, "ADHOC"))
    assert [s.key.procedure for s in folded([inside, adhoc])] == ["load_a", ""]


def test_a_text_with_a_use_in_it_began_in_the_database_before() -> None:
    sent = [
        event("batch", A, 0, database="Shop"),
        event("batch", "DELETE FROM b; USE Stock; DELETE FROM c", 1, database="Stock"),
        event("batch", "DELETE FROM d", 2, database="Stock"),
    ]
    assert [s.key.database for s in folded(sent)] == ["Shop", "Shop", "Stock"]
    # Of the first one no event shows where it began.
    assert [s.key.database for s in folded(sent[1:])] == ["??", "Stock"]


@for_each("value", [-1, 1 << 62, 1 << 70, "9" * 30, "many", None])
def test_a_number_that_makes_no_sense_is_none(value: Value) -> None:
    (segment,) = folded([event("batch", A, row_count=value, duration=value)])
    assert segment.counts.rows is None
    assert segment.counts.started == segment.counts.first_ended


def test_two_connections_are_two_segments() -> None:
    segments = folded(events(A, *[("logout", "")] * 3, A, A))
    assert [s.counts.times for s in segments if s.key.kind == SegmentKind.STATEMENT] == [1, 2]
    assert [s.key.kind for s in segments].count(SegmentKind.ENDED) == 1


def test_every_handle_of_a_real_file_is_resolved(root: Path) -> None:
    """`TestXel_0.xel` of Microsoft's sqltoolsservice."""
    (log,) = log_files(str(sample(root)), "TestXel_0.xel")
    clients = TaskClients("(?P<task>.+)")
    fold = Fold([], idle_seconds=3600)
    for part in xel_splits(log):
        for chunk in read_xel(part, EventFilter()):
            fold.add(filter(None, map(task_events(clients), chunk.events)))
    kinds = Counter(segment.key.kind for segment in fold.segments())
    assert kinds[SegmentKind.EXECUTED] == kinds[SegmentKind.UNRESOLVED_HANDLE] == 0
    assert kinds[SegmentKind.STATEMENT] == 6


def sample(root: Path) -> Path:
    path = root.parent / "shared" / "samples" / "xel" / "TestXel_0.xel"
    if not path.exists():
        pytest.skip("the public samples are not beside this tree")
    return path


QUOTED = 'SELECT "a" INTO n FROM t'
AS_NAME, AS_VALUE, UNSURE = (QUOTED.replace('"a"', shown) for shown in ("[a]", "?", '"?"'))
OPTIONS = "-- network protocol: TCP/IP\r\nset quoted_identifier {}\r\nset arithabort off\r\n"
ON, OFF = (("login", OPTIONS.format(to)) for to in ("on", "off"))
SETS_OFF = "SET QUOTED_IDENTIFIER OFF"
RESET = ("rpc", "exec sp_reset_connection")
EXECUTESQL = ("rpc", f"exec sp_executesql N'{QUOTED}'")


@for_each(
    "sent, expected",
    [
        ([], [UNSURE]),
        ([("login", "")], [UNSURE]),
        ([ON], [AS_NAME]),
        ([OFF], [AS_VALUE]),
        ([ON, OFF], [AS_VALUE]),
        # a connection ends
        ([ON, ("logout", "")], [UNSURE]),
        ([ON, ("login", "")], [UNSURE]),
        ([ON, RESET], [UNSURE]),
        ([OFF, ("logout", ""), RESET, ON], [AS_NAME]),
        # a batch changes it
        ([ON, SETS_OFF], [SETS_OFF, AS_VALUE]),
        ([ON, ("batch begins", SETS_OFF)], [UNSURE]),
        ([ON, ("batch begins", SETS_OFF), SETS_OFF], [SETS_OFF, AS_VALUE]),
        ([ON, QUOTED, ("batch begins", f"{A}; {QUOTED}"), f"{A}; {QUOTED}"],
         [AS_NAME, f"{A}; {AS_NAME}", AS_NAME]),
        ([ON, ("statement", SETS_OFF)], [SETS_OFF, UNSURE]),
        ([ON, f"EXEC ('{SETS_OFF}')"], [SETS_OFF, AS_NAME]),
        ([ON, ("rpc", f"exec sp_executesql N'{SETS_OFF}'")], [SETS_OFF, AS_NAME]),
        ([ON, ("inside", SETS_OFF), "EXEC p"], [SETS_OFF, "EXEC p", AS_NAME]),
        ([ON, ("batch", None)], [UNSURE]),
        ([ON, f"{SETS_OFF}; {QUOTED}"], [f"{SETS_OFF}; {AS_VALUE}", AS_VALUE]),
        ([ON, ("statement", QUOTED), f"IF 1 = 0 {SETS_OFF}; {QUOTED}"],
         [UNSURE, f"IF ? = ? {SETS_OFF}; {AS_VALUE}", AS_VALUE]),
        # the same statement, as its batch and as events of its own
        ([ON, ("statement", QUOTED)], [AS_NAME, AS_NAME]),
        ([ON, ("inside", QUOTED), EXECUTESQL], [AS_NAME, AS_NAME, AS_NAME]),
        ([ON, f"EXEC ('{QUOTED}')"], [AS_NAME, AS_NAME]),
        ([ON, ("rpc", PREPARE.format(3, QUOTED)), ("inside", QUOTED), RUN_3], [AS_NAME] * 3),
        # of a module, which has the setting that it was created with
        ([ON, ("inside", QUOTED), "EXEC p"], [UNSURE, "EXEC p", AS_NAME]),
        ([ON, ("inside begins", QUOTED), "EXEC p"], ["?" + UNSURE, "EXEC p", AS_NAME]),
    ],
)  # fmt: skip
def test_double_quotes_are_read_by_the_setting_of_their_session(
    sent: list[str | tuple[str, str]], expected: list[str]
) -> None:
    one_by_one = [
        event(kind, text, at, **({"result": Mapped(0, "OK")} if kind == "batch" else {}))
        for at, (kind, text) in enumerate(
            one if isinstance(one, tuple) else ("batch", one) for one in [*sent, QUOTED]
        )
    ]
    assert texts(folded(one_by_one)) == Counter(expected)


@pytest.mark.parametrize("result", [Mapped(1, "Error"), Mapped(2, "Abort"), None])
def test_the_setting_of_a_batch_that_failed_is_not_sure(result: Value) -> None:
    sent = [event(*ON), event("batch", SETS_OFF, 1, result=result), event("batch", QUOTED, 2)]
    assert UNSURE in texts(folded(sent))


def test_a_setting_is_of_one_session() -> None:
    sent = [event(*OFF, session=52), event(*ON), event("batch", QUOTED, 2)]
    assert texts(folded(sent)) == {AS_NAME: 1}


def test_a_setting_is_of_no_session_where_sessions_have_no_numbers() -> None:
    sent = [event(*ON, session=None), event("batch", QUOTED, 2, session=None)]
    assert texts(folded(sent)) == {UNSURE: 1}


def test_a_connection_that_was_recovered_may_have_another_setting() -> None:
    sent = [event(*ON, is_recovered=True), event("batch", QUOTED, 2)]
    assert texts(folded(sent)) == {UNSURE: 1}


def test_an_open_connection_has_its_own_session_number_and_application() -> None:
    own: dict[str, Value] = {"session_id": 51, "client_app_name": "python_task::load"}
    others: dict[str, Value] = {"session_id": 60, "client_app_name": "SQLServerCEIP"}
    opened = ExtendedEvent("existing_connection", START, {**own, "options_text": ON[1]}, {**others})
    assert texts(folded([opened, event("batch", QUOTED, 1)])) == {AS_NAME: 1}


@for_each(
    "damaged, expected",
    [((), [AS_NAME] * 3), ((0,), [UNSURE] * 3), ((1,), [AS_NAME, UNSURE, UNSURE])],
)
def test_where_events_were_lost_no_setting_is_known(
    damaged: tuple[int, ...], expected: list[str]
) -> None:
    fold = Fold([], idle_seconds=3600)
    found = []
    for at, kinds in enumerate([[ON, ("batch", QUOTED)], [("batch", QUOTED)], [("batch", QUOTED)]]):
        window = [event(*sent, at=at) for sent in kinds]
        fold.add(filter(None, map(task_events(TaskClients(TASK)), window)), has_gaps=at in damaged)
        found += texts(list(fold.segments()))
    assert found == expected


def test_the_settings_of_a_real_file_are_read(root: Path) -> None:
    (log,) = log_files(str(sample(root)), "TestXel_0.xel")
    clients = TaskClients("(?P<task>.+)")
    wanted = event_filter(clients)
    read = [event for part in xel_splits(log) for chunk in read_xel(part, wanted)
            for event in map(task_events(clients), chunk.events) if event]  # fmt: skip
    settings = Counter((event.name, event.note) for event in read if event.name in CONNECTIONS)
    assert settings == {
        ("existing_connection", QUOTES_ARE_NAMES): 113,
        ("existing_connection", QUOTES_ARE_VALUES): 7,
        ("login", QUOTES_ARE_NAMES): 4,
        ("logout", ""): 4,
    }
    opened = {event.session for event in read if event.name == "existing_connection"}
    assert len(opened) == 120


def test_other_applications_are_left_out() -> None:
    assert folded([event("batch", A, application="Management Studio")]) == []


def test_the_session_of_another_task_is_another_connection() -> None:
    sent = [
        event("rpc", PREPARE.format(3, A), 0),
        event("rpc", "exec sp_execute 3", 1, application="python_task::other"),
    ]
    assert SegmentKind.STATEMENT not in [s.key.kind for s in folded(sent)]


def test_a_text_that_cannot_be_read_is_counted_and_the_others_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time_limit, "SECONDS", 0.1)
    fold = Fold([re.compile(r"^(a|aa)*b")], idle_seconds=3600)
    texts = ["INSERT t SELECT a FROM b", "a" * 200, "DELETE FROM c", "a" * 200]
    events = [event("batch", text, at) for at, text in enumerate(texts)]
    fold.add(filter(None, map(task_events(TaskClients(TASK)), events)))
    segments = [segment.key.text for segment in fold.segments()]
    assert segments == ["INSERT t SELECT a FROM b", "DELETE FROM c"]
    assert fold.unread == {"took longer than 0.1 s": 2}
