"""A text with names of ours in the place of its own: of tables, columns, aliases.

Texts with one template are alike in all but names, so what is worked out for one is true of the
others under their names. Each name has a number by its first place, so texts in which other places
share a name have other templates; a name that may mean something to a parser stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cache, lru_cache
from pathlib import Path

import sqlglot
from sqlglot import exp

from dbt_graft.lineage.frozen import frozen

_LONG = r'"""(?:[^"\\]|\\.|"(?!""))*"""'
_DOCSTRING = re.compile(rf"(?:\A|:\n)\s*+{_LONG}")
_STRING = re.compile(rf"""{_LONG}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_SQLGLOT, _STATEMENTS = Path(sqlglot.__file__).parent, Path(__file__).parents[1]
# Spark's dialect is made of those of Hive and of Spark 2.
_DIALECTS = ["dialects/dialect", "*/base", "*/tsql", "*/hive", "*/spark2", "*/spark"]
_PARTS = ["*.py", "expressions/*.py", *(f"{dialect}.py" for dialect in _DIALECTS)]
# One of a table of keywords, one of a function's middle, one of ours.
_SURE = frozenset({"select", "ordinality", "addlinkedsrvlogin"})
# Names, with what belongs to them or makes something else of them: `#t`, `@v`, `N'…'` without its
# value; and quoted ones of more than a word. A quote behind a word ends one.
_PIECES = re.compile(
    r"([\w@#$£€?\x01-\x03]+|\[(?!\w+\])(?:[^\]]|\]\])*\]?"
    r"|(?<!\w)\"(?!\w+\")(?:[^\"]|\"\")*\"?|(?<!\w)`(?!\w+`)(?:[^`]|``)*`?)"
)
_WORD = re.compile(r"\w+")
# In capitals or small letters they stand for a name in these.
_OURS = re.compile(r"__(Nn|NN|nn)(\d+)")
# Names that mean something by how they begin: procedures, methods of shapes, FOR SYSTEM_TIME.
_MEANT = re.compile(r"ST[A-Z]|(?i:sp_|xp_|system_|version|timestamp|path)")
_LONGEST = 100_000


@cache
def known_words() -> frozenset[str]:
    """The words, folded; none where the sources cannot be read."""
    words = {name.casefold() for name in exp.FUNCTION_BY_NAME}
    parts = (path for part in _PARTS for path in _SQLGLOT.glob(part))
    for path in (*_STATEMENTS.rglob("*.py"), *parts):
        code = _DOCSTRING.sub("", path.read_text("utf-8"))
        words.update(_WORD.findall(" ".join(_STRING.findall(code)).casefold()))
    return frozenset(words) if words >= _SURE else frozenset()


@frozen
class Template:
    """A template, and the names that it has for one text.

    Attributes:
        names: The names that the text has, in the order of their numbers.
    """

    text: str
    names: tuple[str, ...]

    def restore(self, text: str) -> str:
        """A text made of the template, under the names of its text."""
        return _OURS.sub(self._restore_name, text)

    def _restore_name(self, ours: re.Match[str]) -> str:
        name = self.names[int(ours[2])]
        return name if ours[1] == "Nn" else name.upper() if ours[1] == "NN" else name.casefold()


def make_template(text: str, verbatim: Set[str] = frozenset()) -> Template | None:
    """The template of a text; None where it has no name that can be replaced.

    Args:
        verbatim: Names, folded, that stay.
    """
    if len(text) > _LONGEST or not known_words() or ("__" in text and _OURS.search(text)):
        return None
    pieces = _PIECES.split(text)
    names: dict[str, str] = {}
    staying = set(verbatim)
    for piece in dict.fromkeys(pieces[1::2]):
        name, others = _read(piece)
        if name and names.setdefault(name, piece) == piece:
            continue
        staying.update(others or (name,))  # two spellings are one name: a result has the first
    replaced = [name for folded, name in names.items() if folded not in staying]
    if not replaced:
        return None
    ours = {name: f"__Nn{number}" for number, name in enumerate(replaced)}
    return Template("".join([ours.get(piece, piece) for piece in pieces]), tuple(replaced))


@lru_cache(50_000)
def _read(piece: str) -> tuple[str, Sequence[str]]:
    """A piece as a name that can be replaced, folded; or the words in it, which stay."""
    folded = piece.casefold()
    is_name = piece.isascii() and piece.isidentifier() and not _MEANT.match(piece)
    if is_name and folded not in known_words():
        return folded, ()
    return "", _WORD.findall(folded)
