"""Texts found in other text by the order of their words, whatever stands between these."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from unicodedata import normalize

from dbt_graft.analysis.audience.words import WORD
from dbt_graft.graft.questions.leaks.published_text import BREAK
from dbt_graft.lineage.frozen import frozen

# So many words in a row are a text's own.
LONGEST = 8
_TOKEN = re.compile(rf"\w+|{BREAK}")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"<[^<>]*>|(?<!\w)_+|_+(?!\w)")


@frozen
class WordRuns:
    """Runs of words by their number.

    Attributes:
        by_size: Number of words -> the hash of each run -> the text that it is of.
    """

    by_size: Mapping[int, Mapping[int, str]]

    def find(self, text: str) -> Iterator[str]:
        """The texts of which a run stands in a text; one may come twice."""
        if not self.by_size:
            return
        tokens = _TOKEN.findall(_fold(text))
        for size, runs in self.by_size.items():
            # A long run is one in a paragraph as well as in the cells of a table.
            words = [word for word in tokens if word != BREAK] if size == LONGEST else tokens
            if not runs.keys().isdisjoint(_hashes(words, size)):
                yield from (runs[run] for run in _hashes(words, size) if run in runs)


def word_runs(
    texts: Iterable[str],
    names: Iterable[str],
    visible: Iterable[str],
    harmless: Collection[str] = (),
) -> WordRuns:
    """The runs by which texts and names of several words are found.

    A text is found by all of its words, or by any eight in a row; a name by all, or its last eight.

    Args:
        visible: Texts and names that anybody may read: their runs find nothing.
        harmless: Words that anybody may read: a list of identifiers among them finds nothing.
    """
    by_size: dict[int, dict[int, str]] = defaultdict(dict)
    for text in texts:
        for words in (_words(text), plain_words(text)):
            size = min(len(words), LONGEST)
            if size > 1:
                by_size[size].update(
                    (hash(run), text) for run in _runs(words, size) if _is_text(run, harmless)
                )
    for name in names:
        words = _words(name)[-LONGEST:]
        by_size[len(words)][hash(tuple(words))] = name
    for shown in visible:
        words = _words(shown)
        for size, runs in by_size.items():
            for run in runs.keys() & set(_hashes(words, size)):
                del runs[run]
    return WordRuns({size: runs for size, runs in sorted(by_size.items()) if runs})


def plain_words(text: str) -> list[str]:
    """The words of a text without its Markdown and HTML, in lower case."""
    return _words(_MARKUP.sub("", _LINK.sub(r"\1", text)))


def _is_text(run: Sequence[str], harmless: Collection[str]) -> bool:
    """Whether a run is no row of numbers, as in a table, and no list of visible columns."""
    if len(run) == LONGEST and len({word for word in run if not word.isdigit()}) < LONGEST // 2:
        return False
    is_list = sum("_" in word for word in run) > 1
    return not (is_list and all(word in harmless or word.isdigit() for word in run))


def _runs(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[begin:] for begin in range(size)), strict=False)


def _hashes(words: Sequence[str], size: int) -> Iterator[int]:
    return map(hash, _runs(words, size))


def _words(text: str) -> list[str]:
    return WORD.findall(_fold(text))


def _fold(text: str) -> str:
    return (text if text.isascii() else normalize("NFKC", text)).casefold()
