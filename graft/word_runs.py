"""Texts found in other text by the order of their words, whatever stands between these."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from dbt_graft.graft.published_text import BREAK
from dbt_graft.lineage.audience.words import WORD

# So many words in a row are a text's own.
LONGEST = 6
_TOKEN = re.compile(rf"\w+|{BREAK}")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"<[^<>]*>|(?<!\w)_+|_+(?!\w)")


@dataclass(frozen=True, slots=True)
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
        tokens = _TOKEN.findall(_folded(text))
        for size, runs in self.by_size.items():
            # A long run is one in a paragraph as well as in the cells of a table.
            words = [word for word in tokens if word != BREAK] if size == LONGEST else tokens
            if not runs.keys().isdisjoint(_hashes(words, size)):
                yield from (runs[run] for run in _hashes(words, size) if run in runs)


def word_runs(texts: Iterable[str], names: Iterable[str], visible: Iterable[str]) -> WordRuns:
    """The runs by which texts and names of several words are found.

    A text is found by all of its words, or by any six in a row; a name by all, or its last six.

    Args:
        visible: Texts and names that anybody may read: their runs find nothing.
    """
    by_size: dict[int, dict[int, str]] = defaultdict(dict)
    for text in texts:
        for spelling in {text, _MARKUP.sub("", _LINK.sub(r"\1", text))}:
            words = _words(spelling)
            size = min(len(words), LONGEST)
            if size > 1:
                by_size[size].update(dict.fromkeys(_hashes(words, size), text))
    for name in names:
        words = _words(name)[-LONGEST:]
        by_size[len(words)][hash(tuple(words))] = name
    for harmless in visible:
        words = _words(harmless)
        for size, runs in by_size.items():
            for run in runs.keys() & set(_hashes(words, size)):
                del runs[run]
    return WordRuns({size: runs for size, runs in sorted(by_size.items()) if runs})


def _hashes(words: Sequence[str], size: int) -> Iterator[int]:
    return map(hash, zip(*(words[begin:] for begin in range(size)), strict=False))


def _words(text: str) -> list[str]:
    return WORD.findall(_folded(text))


def _folded(text: str) -> str:
    return (text if text.isascii() else normalize("NFKC", text)).casefold()
