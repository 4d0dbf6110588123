"""The XML of one event says the same in every form that servers and tools write it in."""

from dbt_graft.collectors.sqlserver.event import EventFilter, ExtendedEvent, LogDamage, Mapped
from dbt_graft.collectors.sqlserver.files.xml_events import (
    is_dismissed,
    is_wanted,
    parse_event,
    ticks,
)
from tests.cases import for_each

# 2026-11-20 02:30:01 UTC.
SECOND = 1_795_141_801 * 10_000_000


def one(
    inner: str = "", time: str = "2026-11-20T02:30:01.244Z", name: str = "sql_batch_completed"
) -> str:
    return f'<event name="{name}" package="sqlserver" timestamp="{time}">{inner}</event>'


def value_of(inner: str) -> object:
    found = parse_event(one(f'<data name="x">{inner}</data>'))
    assert isinstance(found, ExtendedEvent)
    return found.data.get("x", "absent")


@for_each(
    "inner, expected",
    [
        ("<value>12</value>", "12"),
        ("<value/>", ""),
        ("<value></value>", ""),
        ("", "absent"),
        ("<value><![CDATA[a < b && c]]></value>", "a < b && c"),
        ("<value>a &lt; b &amp;&amp; c</value>", "a < b && c"),
        ("<value><![CDATA[a ]]]]><![CDATA[> b]]></value>", "a ]]> b"),
        ("<value><![CDATA[ä 漢 😀]]></value>", "ä 漢 😀"),
        ("<value>a\r\nb&#13;\nc</value>", "a\nb\r\nc"),
        ("<value>0</value><text>OK</text>", Mapped(0, "OK")),
        ("<value>0</value><text><![CDATA[OK]]></text>", Mapped(0, "OK")),
        ("<value>0x00000002</value><text>USER</text>", Mapped(2, "USER")),
        ("<value>-1</value><text/>", Mapped(-1, "")),
        ("<value/><text>OK</text>", "OK"),
        ('<type name="int64" package="package0"/><value>7</value>', "7"),
        ('<type name="result" package="x"/><value>2</value><text>Abort</text>', Mapped(2, "Abort")),
        ("<value><deadlock><victim>p1</victim></deadlock></value>", "p1"),
        ("<value><![CDATA[x\x01y]]></value>", "x y"),
        ("<value>x&#1;y&#x1F;z&#xD800;</value>", "x y z "),
        ("<value>x\x00\ufffey</value>", "x  y"),
        ("<value>x\ud800y</value>", "x y"),
    ],
)
def test_a_value_is_what_the_server_meant(inner: str, expected: object) -> None:
    assert value_of(inner) == expected


def test_fields_and_actions_of_one_name_stay_apart_and_the_first_of_two_counts() -> None:
    found = parse_event(
        one(
            '<data name="database_name"><value>a</value></data>'
            '<action name="database_name" package="sqlserver"><value>b</value></action>'
            '<action name="database_name" package="sqlserver"><value>c</value></action>'
            '<other name="database_name"><value>d</value></other>'
        )
    )
    expected = {"database_name": "a"}, {"database_name": "b"}
    assert isinstance(found, ExtendedEvent)
    assert (found.data, found.actions) == expected
    assert (found.name, found.package) == ("sql_batch_completed", "sqlserver")


@for_each(
    "text, expected",
    [
        ("2026-11-20T02:30:01Z", SECOND),
        ("2026-11-20T02:30:01.244Z", SECOND + 2_440_000),
        ("2026-11-20T02:30:01.2441235Z", SECOND + 2_441_235),
        ("2026-11-20T02:30:01.000000199Z", SECOND + 1),
        ("2026-11-20 02:30:01.2441235", SECOND + 2_441_235),
        ("2026-11-20T04:30:01.1+02:00", SECOND + 1_000_000),
        ("2026-11-20 04:30:01.1000000 +02:00", SECOND + 1_000_000),
        ("2026-11-19T20:00:01-0630", SECOND),
        ("1969-12-31T23:59:59.9Z", -1_000_000),
        ("2026-02-29T00:00:00Z", None),
        ("2026-11-20T24:00:00Z", None),
        ("2026-11-20T02:60:00Z", None),
        ("2026-11-20", None),
        ("11/20/2026 02:30:01", None),
        ("٢٠٢٦-11-20T02:30:01Z", None),
        ("", None),
    ],
)
def test_times_are_exact_to_100_ns(text: str, expected: int | None) -> None:
    assert ticks(text) == expected


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "boom"}">' for n in range(20))


@for_each(
    "text, reason",
    [
        (one("<data>"), "the event is not well-formed XML"),
        (one("<data name='x'><value>&secret;</value></data>"), "the event is not well-formed XML"),
        (one("<value>&#x26;secret;&nbsp;</value>"), "the event is not well-formed XML"),
        (f"<!DOCTYPE e [{BOMB}]>{one('&e19;')}", "the event is not well-formed XML"),
        (one(f"<!DOCTYPE e [{BOMB}]>&e19;"), "the event is not well-formed XML"),
        (f"<?xml version='1.0'?>{one()}", "the event is not well-formed XML"),
        ("", "the event is not well-formed XML"),
        ("nothing", "the event is not well-formed XML"),
        (one()[:-3], "the event is not well-formed XML"),
        (one(time="yesterday"), "the event has no readable time"),
        ("<event/>", "the event has no readable time"),
    ],
)
def test_what_is_no_event_is_a_damage_with_its_reason(text: str, reason: str) -> None:
    found = parse_event(text)
    assert isinstance(found, LogDamage)
    assert found.reason == reason


def test_an_excerpt_is_a_start_tag_of_name_and_time_alone() -> None:
    plain, secret = parse_event(one("<")), parse_event(one("<", time="secret 2026"))
    assert isinstance(plain, LogDamage)
    assert plain.excerpt == one()[:-8]
    assert isinstance(secret, LogDamage)
    assert secret.excerpt == ""


def test_depth_costs_no_recursion() -> None:
    deep = "<a>" * 200_000 + "x" + "</a>" * 200_000
    assert value_of(f"<value>{deep}</value>") == "x"


def application(value: str) -> str:
    return f'<action name="client_app_name" package="sqlserver"><value>{value}</value></action>'


@for_each(
    "inner, known",
    [
        (application("other"), True),
        (application("<![CDATA[other]]>"), True),
        (application("").replace("<value></value>", "<value/>"), True),
        (application("other").replace("<value>", '<type name="x" package="y"/><value>'), True),
        ("", True),
        # Only parsing shows it.
        (application("o&#116;her"), False),
        (application("<![CDATA[a]b]]>"), False),
        (application("other") + application("task"), False),
        (f"<data name='x'><value><![CDATA[{application('other')}]]></value></data>", False),
        (application("task"), False),
    ],
)
def test_other_applications_are_dismissed_before_they_are_parsed_where_that_is_safe(
    inner: str, known: bool
) -> None:
    wanted = EventFilter(application=lambda name: name == "task")
    assert is_dismissed(one(inner), wanted) == known
    found = parse_event(one(inner))
    assert isinstance(found, ExtendedEvent)
    if known:
        assert not is_wanted(found, wanted)


def test_names_and_applications_are_checked_on_what_was_parsed() -> None:
    found = parse_event(one(application("task")))
    assert isinstance(found, ExtendedEvent)
    assert is_wanted(found, EventFilter())
    assert is_wanted(found, EventFilter(frozenset({"sql_batch_completed"}), "task".__eq__))
    assert not is_wanted(found, EventFilter(frozenset({"rpc_completed"})))
    assert not is_wanted(found, EventFilter(application="".__eq__))


def test_the_application_of_an_open_connection_is_its_own() -> None:
    own = '<data name="client_app_name"><value>task</value></data>'
    text = one(own + application("ssms")).replace("sql_batch_completed", "existing_connection")
    found = parse_event(text)
    assert isinstance(found, ExtendedEvent)
    assert [
        not is_dismissed(text, wanted) and is_wanted(found, wanted)
        for wanted in (EventFilter(application=name.__eq__) for name in ("task", "ssms"))
    ] == [True, False]
