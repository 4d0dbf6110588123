"""Error messages of dbt without data.

A message repeats SQL and values, quoted or not (`Key (email)=(jane@example.com) already exists`).
So a word of it is shown only if it cannot be data: a word that databases use in messages, a name
in the node's own SQL outside of literals, an error's code or class. Anything else becomes `?`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.literals import strip_literals

_VOCABULARY = """
a aborted access accessible account active added admin after aggregate aggregation alias aliased
all allowed already also alter ambiguous an and any appear are argument arguments array as at
attempt attempting attribute authentication authorization authorized available bad base batch be
because been before being between bigint binary binder bindings bool boolean both bound broken
budget but by bytes called calling can canceled cancelled candidate cannot cast casting catalog
cause caused change changed character check class clause close closed cluster code column columns
command commit compare compatible compilation compile complete concurrent configured conflict
conflicting connect connection constant constraint contain contains context contract conversion
convert converted converting correct correlated could count create created credentials cross
current cursor data database databases dataset date datetime deadlock debug decimal decimals
declared default defined definition delete deleted denied dependency depends derived destination
detail detected did different directory disabled disk distinct division do does domain double
driver drop dropped duplicate duplicated during each either element empty enabled encountered end
enforced engine enough enter entity error errors evaluate evaluation exceed exceeded exceeds
exception exclusive execute executed executing execution exist existing exists expect expected
expecting explicit expression expressions external fail failed failing fails failure false field
fields file files float float32 float64 for foreign format found from function functions generated
given got grant granted group grouped grouping had has have having hint hit identifier identifiers
if immutable implicit in incompatible incorrect index input insert inserted instance insufficient
int int16 int32 int64 int8 integer internal interval into invalid io is it item job join json
jsonb key keys keyword known language length less level limit limits line literal load location
lock locked long lost macro many mapping matches matching materialized max maximum may member
memory merge message met method microsoft min minimum mismatch mismatched missing mode model
modified module more most must name named names near needs nested network no node nodes non none
not null nullable number numeric object objects occurred odbc of on once one only open operand
operation operator operators option or order other out output outside over overflow owner package
parameter parameters parse parser parsing partition partitions path perhaps permission permissions
pos position possible precision predicate primary privilege privileges procedure process profile
project property provided python queries query quota range reached read read-only record recursive
reference referenced references referring refused relation relations reload replace request
required requires reserved resolve resolved resource resources result results retry return
returned returns role root row rows run running runtime schema schemas scope script select
semantic sequence server session set sets should size smallint snapshot source sources space spark
specified sql sqlstate state statement statements status storage store stream string struct
subquery succeeded such support supported suspended syntax system table tables target temporary
terminated test text than that the their there these this time timed timeout timestamp timestamptz
to token too total transaction true try type types uint16 uint32 uint64 uint8 unable unauthorized
unavailable undefined unexpected union unique unknown unmatched unrecognized unresolved
unsupported update updated use used user uses using uuid valid value values varchar variable
verify version view views violated violates violation virtual waiting warehouse was were when
where which while window with within without write writing wrong yaml yml you your zero
"""
_WORDS = frozenset(_VOCABULARY.split())
# The node and its file follow, which the reader of the message knows.
_KIND = re.compile(r"\A(?P<kind>(?:[A-Z]\w* )?(?:Error|Failure)) in \w.*")
# The place in the SQL with a piece of it, and where dbt wrote that.
_PLACE = re.compile(r"\s*(?:LINE \d+:|\^|compiled (?:code|SQL) at|> in macro|> called by)")
_CODE = re.compile(
    r"[A-Z]{2,6}-\d{4,5}|\[[A-Z][A-Z_]*(?:\.[A-Z_]+)*\]|(?:[A-Za-z_]+\.)*[A-Z]\w*(?:Error|Exception)"
)
# Before anything else of a message: Snowflake's code and its SQLSTATE, ClickHouse's code.
_FIRST_CODE = re.compile(r"\A\s*(?:\d{6} \([0-9A-Z]{5}\)|Code: \d{1,4}\b)")
_STATE = re.compile(r"\bSQLSTATE:? ?\[?(?P<state>[0-9A-Z]{5})\b")
_PIECES = re.compile(r"""(?P<bracketed>\[[A-Z][A-Z_.]*\])|(?P<between>[\s"'`()\[\],;:=<>!]+)""")
_QUOTED_NAME = re.compile(r'"(\w+)"(?=\.")|(?<=\.)"(\w+)"')
_NAME = re.compile(r"[^\W\d]\w*")
_HIDDEN_BEFORE = re.compile(r"\?[\s,;:=.]*(?=\?)")
_LINES, _LONGEST = 4, 300


def redact_message(message: str, sql: str = "", *names: str) -> str:
    """A message without data, on one line; never empty.

    Args:
        sql: The node's SQL; what it names outside of literals may be shown.
        names: More names that may be shown, dotted or quoted as they come.
    """
    kind = _KIND.match(message)
    lines = message[kind.end() if kind else 0 :].splitlines()
    rest = [line.strip() for line in lines if line.strip() and not _PLACE.match(line)]
    known_names = _find_names(sql, names)
    text = " ".join(_redact_line(line, known_names) for line in rest[:_LINES])
    text = _HIDDEN_BEFORE.sub("", text).strip()
    if state := _STATE.search(message):
        text = text.replace("SQLSTATE: ?", f"SQLSTATE: {state['state']}")
    redacted = ": ".join(part for part in (kind["kind"] if kind else "", text) if part)
    if len(redacted) > _LONGEST:
        redacted = redacted[:_LONGEST].rpartition(" ")[0] + " …"
    return redacted or "failed"


def _find_names(sql: str, names: Collection[str]) -> frozenset[str]:
    """The names in a statement and in other texts, folded."""
    # A dialect takes "x" for text and another for a name: two in a row with a dot are a name.
    quoted = (a or b for a, b in _QUOTED_NAME.findall(sql))
    stripped = strip_literals(sql, Dialect.SPARK)
    words = (*quoted, *_NAME.findall(stripped), *_NAME.findall(" ".join(names)))
    return frozenset(name.casefold() for name in words)


def _redact_line(line: str, known_names: frozenset[str]) -> str:
    first = _FIRST_CODE.match(line)
    pieces = [first.group().strip()] if first else []
    end = first.end() if first else 0
    for piece in _PIECES.finditer(line, end):
        pieces += (_redact_word(line[end : piece.start()], known_names), piece.group())
        end = piece.end()
    return "".join((*pieces, _redact_word(line[end:], known_names)))


def _redact_word(word: str, known_names: frozenset[str]) -> str:
    """A word if it cannot be data."""
    if not word or _CODE.fullmatch(word):
        return word
    bare = word.strip(".!")
    parts = bare.casefold().split(".")
    if not bare or all(part in _WORDS or part in known_names for part in parts):
        return word
    return word.replace(bare, "?")
