"""Names of hidden columns and datasets, found in text in all spellings that people use.

A name counts in any case, in quotes and URLs, with or without underscores (`customerEmail` for
`customer_email`), and as part of a longer name that nothing visible has: `not_null_orders_email`.
A name that is hidden here and visible elsewhere (`country`) is a word like any other, except in
text about the dataset that hides it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from unicodedata import normalize
from urllib.parse import unquote

from dbt_graft.lineage.dataset import DatasetId

LEFT_OUT = "left out for this audience"
WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[^\W_A-Z]+|[A-Z][^\W_A-Z]*")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
# Soft hyphens, spaces without width, marks of direction.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_HYPHEN = re.compile(r"(?<=\w\w)[-\u2010\u2011](?=\w\w)")  # not that of `e-mail`
# From this length on a name counts inside of any longer word; a shorter one between underscores.
_LONG = 6
_SHORT = 3
Mentions = Callable[[str], bool]


@dataclass(frozen=True)
class HiddenWords:
    """Names that text may not have.

    Attributes:
        everywhere: Those of text about anything.
        near: Dataset -> those of text about it.
        visible: Names that anybody may read, although shorter ones in them are hidden.
    """

    everywhere: frozenset[str] = frozenset()
    near: Mapping[DatasetId, frozenset[str]] = field(default_factory=dict)
    visible: frozenset[str] = frozenset()

    def mentions(self, datasets: Iterable[DatasetId] = ()) -> Mentions:
        """A question to text about some datasets: whether it names what is hidden."""
        near = [names for dataset in datasets if (names := self.near.get(dataset))]
        if not (near or self.everywhere):
            return lambda _text: False
        everywhere, lexicon = self.everywhere, self._lexicon

        def mention(text: str) -> bool:
            return any(
                name in everywhere or any(name in names for names in near)
                for name in lexicon.names(text)
            )

        return mention

    def names(self, text: str) -> Iterator[str]:
        """The names of `everywhere` that text has; a name may come twice."""
        return (name for name in self._lexicon.names(text) if name in self.everywhere)

    @cached_property
    def _lexicon(self) -> _Lexicon:
        return _Lexicon(self.everywhere.union(*self.near.values()), self.visible)


class _Lexicon:
    """All hidden names, so that each word of text is looked up once, however many there are."""

    def __init__(self, names: Iterable[str], visible: Collection[str]) -> None:
        self._visible = visible
        self._exact: dict[str, list[str]] = defaultdict(list)
        self._squashed: dict[str, list[str]] = defaultdict(list)
        self._begins: dict[str, set[int]] = defaultdict(set)
        self._phrases: dict[str, list[tuple[list[str], str]]] = defaultdict(list)
        self._names_by_word: dict[str, tuple[str, ...]] = {}
        for name in names:
            words = WORD.findall(_fold(name))
            if len(words) > 1:
                self._phrases[words[0]].append((words, name))
            elif words:
                self._exact[words[0]].append(name)
            squashed = "".join(words).replace("_", "")
            if len(squashed) >= _SHORT and not ("." in name or "/" in name):
                self._squashed[squashed].append(name)
                if len(squashed) >= _LONG:
                    self._begins[squashed[:_LONG]].add(len(squashed))

    def names(self, text: str) -> Iterator[str]:
        """The hidden names in text; a name may come twice."""
        for plain in _plain(text):
            words = WORD.findall(plain)
            for at, word in enumerate(words):
                yield from self._word_names(word)
                if self._phrases:
                    for phrase, name in self._phrases.get(word.casefold(), ()):
                        if [part.casefold() for part in words[at : at + len(phrase)]] == phrase:
                            yield name

    def _word_names(self, word: str) -> tuple[str, ...]:
        names = self._names_by_word.get(word)
        if names is None:
            names = self._names_by_word[word] = tuple(dict.fromkeys(self._search(word)))
        return names

    def _search(self, word: str) -> Iterator[str]:
        folded = word.casefold()
        yield from self._exact.get(folded, ())
        if folded in self._visible:
            return
        parts = [part.casefold() for part in _PART.findall(word)]
        for begin in range(len(parts)):
            joined = ""
            for part in parts[begin:]:
                joined += part
                yield from self._squashed.get(joined, ())
        squashed = folded.replace("_", "")
        for at in range(len(squashed) - _LONG + 1):
            for length in self._begins.get(squashed[at : at + _LONG], ()):
                yield from self._squashed.get(squashed[at : at + length], ())


def _fold(text: str) -> str:
    return (text if text.isascii() else normalize("NFKC", text)).casefold()


def _plain(text: str) -> Iterator[str]:
    """Text as its readers see it: without escapes of URLs, HTML and Markdown.

    What nobody sees is no part of a word: tags, and signs for the end of a line. A hyphen is, as in
    addresses: `birth-date`.
    """
    text = text if text.isascii() else normalize("NFKC", text)
    yield text
    plain = text.replace("\\", "") if "\\" in text else text
    # An address in an address is escaped twice.
    for _ in range(2):
        plain = unquote(plain) if "%" in plain else plain
        plain = unescape(plain) if "&" in plain else plain
    plain = _TAG.sub("", plain) if "<" in plain else plain
    plain = plain if plain.isascii() else _UNSEEN.sub("", plain)
    plain = _HYPHEN.sub("_", plain)
    if plain != text:
        yield plain


def hidden_words(
    hidden: Mapping[DatasetId, Collection[str]],
    datasets: Collection[DatasetId],
    visible: Collection[str],
    other_names: Iterable[str] = (),
) -> HiddenWords:
    """The words for hidden columns and datasets.

    Args:
        hidden: Dataset -> its hidden columns, in lower case; of hidden datasets all.
        datasets: The hidden datasets.
        visible: All names that are visible somewhere, in lower case.
        other_names: Those of hidden datasets.
    """
    near = {dataset: frozenset(names) for dataset, names in hidden.items()}
    words = {word for names in near.values() for word in names}
    for dataset in datasets:
        # Folders are called `data` and `2026`.
        parts = dataset.parts[-1:] if dataset.is_path else dataset.parts
        words |= {part.casefold() for part in (*parts, dataset.name)}
    words |= {name.casefold() for name in other_names}
    words = {word for word in words if word and not word.isdigit()}
    return HiddenWords(frozenset(words.difference(visible)), near, frozenset(visible))
