"""The proof of a published folder: a search of all its files for hidden names and texts."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from filecmp import cmp
from hashlib import file_digest
from pathlib import Path
from types import MappingProxyType
from unicodedata import normalize

import pyarrow.parquet as pq

from dbt_graft.analysis.audience.words import WORD, HiddenWords
from dbt_graft.graft.questions.leaks.product_words import product_texts, product_words
from dbt_graft.graft.questions.leaks.published_text import (
    BREAK,
    PublishedText,
    published_texts,
    unescaped_texts,
)
from dbt_graft.graft.questions.leaks.shipped_code import shipped_digests, without_shipped
from dbt_graft.graft.questions.leaks.word_runs import LONGEST, WordRuns, plain_words, word_runs
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

_SHORTEST = 3  # characters of a name
_SHORTEST_IN_BYTES = 6  # of one in bytes that are no text: shorter ones come by chance
_FEW_WORDS = 4  # a text with fewer may be anybody's
_SHOWN = 40  # characters of a hidden text
_TABLE = ".parquet"
_STEMS = (".pf_index", ".pf_meta")  # Pagefind's words: `rate` for `rating`
_SEPARATOR = re.compile(r"(\W+)")
_QUOTE = r"[\s\"'`\[\]\\]*"
_BETWEEN = rf"[^\w\"{{}}{BREAK}]+"
_CUT = re.compile(r"\w*…\w*")
_MOST_WORDS = 1_000_000  # looked up and remembered
# `order`, `Line` and `x2` of `order_LineX2`.
_PART = re.compile(r"[A-Z]+(?![a-z])|[^\W_A-Z]+|[A-Z][^\W_A-Z]*")


@frozen
class Leak:
    """A hidden name or text in a published file.

    Attributes:
        path: The file, relative to the folder.
        name: The name, or the beginning of the text.
        encoding: What it was unpacked from: `plain`, `gzip`, `json+percent`; `path` where the
            file itself is called so.
    """

    path: str
    name: str
    encoding: str

    def __str__(self) -> str:
        return f"{self.path}: {self.name} [{self.encoding}]"


@frozen
class LeakSearch:
    """The result of a search of a folder.

    Attributes:
        files: The number of files that were searched.
        names: The number of names and texts that were looked for.
        unsearched: Names that cannot be looked for: the pages themselves use the word, a visible
            name has it in it, or they are shorter than three characters.
    """

    leaks: tuple[Leak, ...]
    files: int
    names: int
    unsearched: tuple[str, ...] = ()


def find_leaks(
    folder: Path,
    words: HiddenWords,
    texts: Collection[str],
    visible: Collection[str] = (),
    shipped: Mapping[str, Path] = MappingProxyType({}),
) -> LeakSearch:
    """Search all files of a folder for hidden names, and for texts about what is hidden.

    Args:
        texts: Descriptions, code and messages that are hidden; one of a single word is a name.
        visible: Texts that anybody may read: words that a hidden text shares with them are no
            leak of it.
        shipped: Path in the folder -> the same file before anything of the project was put into
            it. Of a table the columns are.

    Raises:
        GraftError: A file in it cannot be read.
    """
    words = replace(words, visible=words.visible | _column_names(shipped))
    hidden = _hidden(words, texts, visible)
    leaks: list[Leak] = []
    files = 0
    for path in _files_below(folder):
        files += 1
        try:
            leaks += _leaks_of(_texts_of(folder, path, shipped.get(path)), path, hidden)
        except OSError as error:
            raise GraftError(
                f"cannot be searched: {error.strerror or type(error).__name__}",
                place=str(folder / path),
                remedy="check who may read it",
            ) from error
    return LeakSearch(tuple(leaks), files, hidden.number, hidden.unsearched)


@frozen
class _Hidden:
    """The names and texts to look for.

    Attributes:
        words: Names of one word, as the filter finds them.
        exact: Texts of one word in lower case -> as they are.
        runs: Texts, and names of several words.
        phrases: Name of several words -> how it is written.
        hits: Word in a file -> the names in it, of the words that were looked up.
    """

    words: HiddenWords
    exact: dict[str, str]
    runs: WordRuns
    phrases: dict[str, re.Pattern[str]]
    number: int
    unsearched: tuple[str, ...]
    looked_up: set[str] = field(default_factory=set)
    hits: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, published: PublishedText) -> Iterator[str]:
        """The hidden names and texts in a published text; one may come twice."""
        text = published.text
        if not text.isascii():
            # Before NFKC makes three dots of it: what it cuts is a part of a visible name.
            text = normalize("NFKC", _CUT.sub(" ", text))
        words = set(WORD.findall(text))
        self._look_up(words)
        for word in self.hits.keys() & words:
            for name in self.hits[word]:
                if _counts(name, word, published):
                    yield name
        for name in self.runs.find(text):
            pattern = self.phrases.get(name)
            if pattern is None or pattern.search(text):
                yield name

    def _look_up(self, words: set[str]) -> None:
        """Look up the words that are new: each costs, and a site repeats its words."""
        if len(self.looked_up) > _MOST_WORDS:
            self.looked_up.clear()
        new = words - self.looked_up
        self.looked_up.update(new)
        for word in new:
            names = [*self.words.names(word)]
            if text := self.exact.get(word.casefold()):
                names.append(text)
            if names:
                self.hits[word] = tuple(dict.fromkeys(names))


def _hidden(words: HiddenWords, texts: Collection[str], visible: Collection[str]) -> _Hidden:
    ours = product_words()
    single = {text for text in texts if len(WORD.findall(text)) == 1}
    single = {text for text in single if text.casefold() not in words.visible}
    names = words.everywhere | single
    near = {name for names_of_dataset in words.near.values() for name in names_of_dataset}
    unsearched = {name for name in names if _is_short(name)} | {
        name for name in names | near if len(_words(name)) == 1 and _words(name)[0] in ours
    }
    is_part, common = part_of_names(words.visible - ours), words.visible | ours
    unsearched |= {name for name in names - unsearched if is_part(name)}
    if single:
        read = {word for text in visible for word in _words(text)}
        unsearched |= {text for text in single if _words(text)[0] in read}
    searched = words.everywhere - unsearched
    phrases = {name for name in searched if len(_words(name)) > 1}
    exact = {_words(text)[0]: text for text in single - unsearched}
    long = {text for text in texts if _is_long(text)}
    runs = word_runs(long, phrases, (*visible, *words.visible, *product_texts()), common)
    # What is visible, or stands in each site, has the same words in a row.
    unsearched |= phrases.difference(*(texts.values() for texts in runs.by_size.values()))
    return _Hidden(
        HiddenWords(searched - phrases, {}, words.visible | ours),
        exact,
        runs,
        {name: _name_pattern(name) for name in phrases}
        | {text: _text_pattern(text) for text in long if len(_words(text)) < LONGEST},
        len(searched - unsearched) + len(exact) + len(long),
        tuple(sorted(unsearched)),
    )


def _counts(name: str, word: str, published: PublishedText) -> bool:
    """Whether a name in a word of a file is there, and not by chance."""
    if published.has_stems:
        return word.casefold() == name.casefold() and not name.isalpha()
    if published.is_binary:
        return len(name) >= _SHORTEST_IN_BYTES
    # `\nOnce` in JSON is no `nonce`.
    return re.search(rf"(?<![\\\w]){re.escape(word)}(?!\w)", published.text) is not None


def _name_pattern(name: str) -> re.Pattern[str]:
    """A name of several words as people write it: with its separators, and quotes around words."""
    parts = _SEPARATOR.split(normalize("NFKC", name).strip())
    written = (
        rf"{_QUOTE}{re.escape(part)}{_QUOTE}" if at % 2 else re.escape(part)
        for at, part in enumerate(parts)
    )
    return re.compile("".join(written), re.IGNORECASE)


def _text_pattern(text: str) -> re.Pattern[str]:
    """A short text: its words in a row, not in two values of a table or a document."""
    return re.compile(_BETWEEN.join(map(re.escape, plain_words(text))), re.IGNORECASE)


def _is_long(text: str) -> bool:
    """Whether a text is nobody else's: one of two or three words has a word that is no prose."""
    words = {*_words(text)}
    if len(words) >= _FEW_WORDS:
        return True
    return len(words) > 1 and not all(map(str.isalpha, words))


def _is_short(name: str) -> bool:
    return len("".join(_words(name))) < _SHORTEST


def _words(name: str) -> list[str]:
    return WORD.findall(normalize("NFKC", name).casefold())


def _leaks_of(texts: Iterable[PublishedText], path: str, hidden: _Hidden) -> Iterator[Leak]:
    """The leaks in a file and in its path, each name once."""
    seen: set[str] = set()
    for published in texts:
        for name in hidden.find(published):
            if name not in seen:
                seen.add(name)
                yield Leak(path, " ".join(name.split())[:_SHOWN], published.encoding)


def _column_names(shipped: Mapping[str, Path]) -> frozenset[str]:
    """The names of columns of tables that are published, in lower case."""
    tables = (file for file in shipped.values() if file.suffix == _TABLE)
    return frozenset(name.casefold() for file in tables for name in pq.read_schema(file).names)


def _texts_of(folder: Path, path: str, shipped: Path | None) -> Iterator[PublishedText]:
    file = folder / path
    if shipped and shipped.suffix != _TABLE:
        if not cmp(shipped, file, shallow=False):
            before, text = (each.read_text("utf-8", "replace") for each in (shipped, file))
            yield from unescaped_texts(without_shipped(_added(before, text)))
        return
    for published in unescaped_texts(path):
        yield PublishedText("path", published.text)
    with file.open("rb") as content:
        is_shipped = file_digest(content, "sha256").digest() in shipped_digests()
    if not is_shipped:
        has_stems = path.endswith(_STEMS)
        yield from (replace(text, has_stems=has_stems) for text in published_texts(file))


def _added(before: str, text: str) -> str:
    """The text between the beginning and the end that it had before."""
    begin = _common(before, text)
    before, text = before[begin:], text[begin:]
    return text[: len(text) - _common(before[::-1], text[::-1])]


def _common(left: str, right: str) -> int:
    """The number of characters with which both begin."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))


def _files_below(folder: Path) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise error

    for parent, folders, files in os.walk(folder, onerror=fail):
        folders.sort()
        for name in sorted(files):
            yield Path(parent, name).relative_to(folder).as_posix()


def part_of_names(names: Iterable[str]) -> Callable[[str], bool]:
    """A question to a name: whether a part of another name begins with it.

    Pages cut long names, and indexes split them. Underscores and other separators do not count, nor
    does case.
    """
    ends = sorted({end for name in names for end in _ends(name)})

    def is_part(name: str) -> bool:
        squashed = _squash(name)
        at = bisect_left(ends, squashed)
        return bool(squashed) and at < len(ends) and ends[at].startswith(squashed)

    return is_part


def _ends(name: str) -> Iterator[str]:
    for part in _PART.finditer(name):
        yield _squash(name[part.start() :])


def _squash(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
