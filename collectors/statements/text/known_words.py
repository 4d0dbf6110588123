"""The words that mean something to the parsers of SQL: those in the strings of their sources.

sqlglot has its keywords in tables, in patterns and in the middle of its functions, and so have we;
no list of them would stay complete.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import sqlglot
from sqlglot import exp

_LONG = r'"""(?:[^"\\]|\\.|"(?!""))*"""'
_DOCSTRING = re.compile(rf"(?:\A|:\n)\s*+{_LONG}")
_STRING = re.compile(rf"""{_LONG}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_WORD = re.compile(r"\w+")
_SQLGLOT, _OURS = Path(sqlglot.__file__).parent, Path(__file__).parents[1]
# Spark's dialect is made of those of Hive and of Spark 2.
_DIALECTS = ["dialects/dialect", "*/base", "*/tsql", "*/hive", "*/spark2", "*/spark"]
_PARTS = ["*.py", "expressions/*.py", *(f"{dialect}.py" for dialect in _DIALECTS)]
# One of a table of keywords, one of a function's middle, one of ours.
_SURE = frozenset({"select", "ordinality", "addlinkedsrvlogin"})


@cache
def known_words() -> frozenset[str]:
    """The words, folded; none where the sources cannot be read."""
    words = {name.casefold() for name in exp.FUNCTION_BY_NAME}
    for path in (*_OURS.rglob("*.py"), *(path for part in _PARTS for path in _SQLGLOT.glob(part))):
        code = _DOCSTRING.sub("", path.read_text("utf-8"))
        words.update(_WORD.findall(" ".join(_STRING.findall(code)).casefold()))
    return frozenset(words) if words >= _SURE else frozenset()
