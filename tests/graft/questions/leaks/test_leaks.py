"""The search of a published folder: hidden names in every form in which a file can have them."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_graft.analysis.audience.words import HiddenWords
from dbt_graft.catalog.full_text import SearchText, write_full_text
from dbt_graft.catalog.name_index import IndexedName, NameKind
from dbt_graft.graft.questions.leaks import published_text
from dbt_graft.graft.questions.leaks.leaks import Leak, find_leaks, part_of_names
from dbt_graft.graft.questions.leaks.product_words import product_words
from dbt_graft.injector import stock
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each

NAME = "zqxhidnote"
WORDS = HiddenWords(frozenset({NAME, "iban", "hr.people", "Zqxhid Straße"}))
SENTENCE = f"The column {NAME} is there."
JSON = json.dumps({"columns": [NAME]})
TEXT = "Wages of all people who ever worked in this company"


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


def references(text: str) -> str:
    return "".join(f"&#{ord(character)};" for character in text)


def base64_text(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def write_zip(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", SENTENCE)


def write_named_zip(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{NAME}.txt", "")


ENCODED: dict[str, tuple[str, str | bytes]] = {
    "plain": ("plain", SENTENCE),
    "in another case and style": ("plain", "select ZqxHidNote from x"),
    "in a longer word": ("plain", "not_null_zqxhidnote_2"),
    "a short name": ("plain", "their IBAN is"),
    "a short name after an escaped line end": ("json", r'"x\niban"'),
    "a name of two words": ("plain", "from hr.people"),
    "a name that is not ASCII": ("plain", "Zqxhid STRASSE".replace("SS", "ß")),
    "percent": ("percent", percent(NAME)),
    "percent, twice": ("percent", quote(percent(NAME))),
    "base64": ("base64", base64_text(SENTENCE)),
    "base64 for URLs": ("base64", base64.urlsafe_b64encode(f"{NAME}?>?>?>".encode())),
    "base64 behind other letters": ("base64", f"/a/b/c_{base64_text(SENTENCE)}"),
    "base64 of base64": ("base64", base64_text(base64_text(SENTENCE))),
    "base64 of gzip": ("base64+gzip", base64.b64encode(gzip.compress(SENTENCE.encode()))),
    "base64 of percent": ("base64+percent", base64_text(percent(NAME))),
    "a data URL": ("base64", f'<img src="data:image/svg+xml;base64,{base64_text(SENTENCE)}">'),
    "HTML": ("html", references(NAME)),
    "HTML of HTML": ("html", references(NAME).replace("&", "&amp;")),
    "across a tag": ("tags", "zqxhid<wbr>note"),
    "JSON": ("plain", JSON),
    "JSON, escaped": ("json", f'{{"columns": ["{escaped(NAME)}"]}}'),
    "JSON in JSON": ("json", json.dumps(f'["{escaped(NAME)}"]')),
    "JSON in a script": ("json", f"<script>let x = JSON.parse('[\"{escaped(NAME)}\"]')</script>"),
    "hexadecimal in a script": ("json", "".join(rf"\x{byte:02x}" for byte in NAME.encode())),
    "gzip": ("gzip", gzip.compress(JSON.encode())),
    "gzip of gzip": ("gzip", gzip.compress(gzip.compress(JSON.encode()))),
    "UTF-16": ("utf-16", SENTENCE.encode("utf-16")),
    "UTF-16 without a mark": ("utf-16", SENTENCE.encode("utf-16-le")),
    "UTF-16, big-endian": ("utf-16", SENTENCE.encode("utf-16-be")),
    "Latin-1": ("plain", "Zqxhid Straße".encode("latin-1")),
    "SVG": ("plain", f"<svg><title>{NAME}</title></svg>"),
    "a sitemap": ("plain", f"<urlset><url><loc>https://x/{NAME}/</loc></url></urlset>"),
    "bytes": ("plain", b"\x00\xff\x01" + SENTENCE.encode() + b"\x00\xfe"),
}


@for_each("encoding, content", ENCODED.values(), ids=ENCODED)
def test_a_hidden_name_is_found(tmp_path: Path, encoding: str, content: str | bytes) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.html").write_bytes(content if isinstance(content, bytes) else content.encode())
    leaks = find_leaks(tmp_path, WORDS, ()).leaks
    assert [(leak.path, leak.encoding) for leak in leaks] == [("a/b.html", encoding)]


@pytest.mark.parametrize("write", [write_zip, write_named_zip])
def test_a_hidden_name_in_a_zip_is_found(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "a.zip")
    assert Leak("a.zip", NAME, "zip") in find_leaks(tmp_path, WORDS, ()).leaks


@pytest.mark.parametrize("path", [f"{NAME}.html", f"a/{NAME}/index.html", f"{percent(NAME)}.html"])
def test_a_hidden_name_in_a_path_is_found(tmp_path: Path, path: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    assert find_leaks(tmp_path, WORDS, ()).leaks == (Leak(path, NAME, "path"),)


TABLES = {
    "values": pa.table({"a": [SENTENCE, None]}),
    "names of columns": pa.table({NAME: [1]}),
    "dictionaries": pa.table({"a": pa.array([SENTENCE]).dictionary_encode()}),
    "bytes": pa.table({"a": [SENTENCE.encode()]}),
    "nested": pa.table({"a": [[{"b": [SENTENCE], "c": 1}]]}),
    "maps": pa.table({"a": pa.array([[("k", NAME)]], pa.map_(pa.string(), pa.string()))}),
    "metadata": pa.table({"a": [1]}, metadata={"b": SENTENCE}),
    "large texts": pa.table({"a": pa.array([SENTENCE], pa.large_string())}),
}


@for_each("table", TABLES.values(), ids=TABLES)
def test_a_hidden_name_in_parquet_is_found(tmp_path: Path, table: pa.Table) -> None:
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert Leak("a.parquet", NAME, "parquet") in find_leaks(tmp_path, WORDS, ()).leaks


def test_a_short_name_in_the_packed_schema_of_parquet_is_there_by_chance(tmp_path: Path) -> None:
    table = pa.table({"a": ["x"], NAME: ["y"]})
    pq.write_table(table, tmp_path / "a.parquet")
    schema = (pq.read_metadata(tmp_path / "a.parquet").metadata or {})[b"ARROW:schema"].decode()
    assert "AHA" in schema
    words = HiddenWords(frozenset({NAME, "aha"}))
    assert {leak.name for leak in find_leaks(tmp_path, words, ()).leaks} == {NAME}


def test_statistics_of_parquet_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are texts of their own, also where no value is read."""
    monkeypatch.setattr(published_text, "_leaves", lambda _column: ())
    pq.write_table(pa.table({"a": ["iban", "x"]}), tmp_path / "a.parquet")
    assert find_leaks(tmp_path, WORDS, ()).leaks == (Leak("a.parquet", "iban", "parquet"),)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("**/*.pf_fragment", "iban"), ("**/*.pf_index", "zqxhid7"), ("**/*.pf_meta", "zqxhid7")],
)
def test_pagefind_s_files_are_searched(tmp_path: Path, pattern: str, name: str) -> None:
    """Its index has stems: `rate` for `rating`; only what is no plain word is a name there."""
    file = full_text_file(tmp_path, "Pays zqxhid7 to their iban.", pattern)
    words = HiddenWords(frozenset({"iban", "zqxhid7"}))
    assert Leak(file.name, name, "gzip") in find_leaks(file.parent, words, ()).leaks


@for_each("pattern", ["**/*.pf_fragment", "**/*.pf_index", "**/*.pf_meta"])
@pytest.mark.parametrize("text", ["staging", "Stages."])
def test_the_stem_of_a_visible_word_is_no_hidden_name(
    tmp_path: Path, pattern: str, text: str
) -> None:
    file = full_text_file(tmp_path, text, pattern)
    assert find_leaks(file.parent, HiddenWords(frozenset({"stage"})), ()).leaks == ()


def full_text_file(folder: Path, text: str, pattern: str) -> Path:
    """One file of the index of a text, in a folder of its own."""
    made, published = folder / "made", folder / "published"
    made.mkdir()
    published.mkdir()
    write_full_text(made, [SearchText(IndexedName(NameKind.TASK, "load", "tasks/load/"), text)])
    (file,) = made.glob(pattern)
    return file.rename(published / file.name)


def test_a_name_is_found_where_a_large_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published_text, "_WINDOW", 256)
    monkeypatch.setattr(published_text, "_OVERLAP", 64)
    for begin in range(200, 300):
        (tmp_path / "a.txt").write_text("x" * begin + f" {NAME} " + "y" * 400)
        assert find_leaks(tmp_path, WORDS, ()).leaks == (Leak("a.txt", NAME, "plain"),), begin


TEXTS = {
    "as it is": TEXT,
    "in other lines": TEXT.replace(" ", "\n\t"),
    "in part": f"We say: {' '.join(TEXT.split()[2:10])}!",
    "as HTML": "<p><b>Wages</b> of all <em>people</em> who<br>ever worked in this</p>",
    "in paragraphs": "<p>Wages of all</p><p>people who ever worked in</p>",
    "as JSON": json.dumps(TEXT.replace(" ", "\n")),
}


@for_each("content", TEXTS.values(), ids=TEXTS)
def test_a_hidden_text_is_found(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.html").write_text(content)
    (leak,) = find_leaks(tmp_path, WORDS, [TEXT]).leaks
    assert (leak.path, leak.name) == ("a.html", TEXT[:40])


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("**Wages** of [all](https://x/y) people", "<b>Wages</b> of <a href='z'>all</a> people"),
        ("_Hidden_ wages2", "<em>Hidden</em> wages2"),
        ("Payroll", "the payroll"),
    ],
)
def test_a_short_text_is_found_as_pages_show_it(tmp_path: Path, text: str, content: str) -> None:
    (tmp_path / "a.html").write_text(content)
    assert [leak.name for leak in find_leaks(tmp_path, WORDS, [text]).leaks] == [text[:40]]


@pytest.mark.parametrize(
    "content",
    [
        "Wages of all people worked in this",
        "<td>Night</td><td>wages</td>",
        "payrolls are no payroll2",
        "ibans; caribana; db_people of hr people",
    ],
)
def test_other_words_are_no_leak(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.html").write_text(content)
    words = HiddenWords(frozenset({"iban", "hr.people.x"}))
    assert find_leaks(tmp_path, words, [TEXT, "Night wages", "Payroll"]).leaks == ()


@for_each(
    "content, expected",
    [
        ('<path d="M12 3.42C13.65 5.15 12.84 5Z"/>', False),
        (r'{"svg": "<path d=\"m4,2c13 5\"/>"}', False),
        ("url('data:image/svg+xml,%3Cpath d=%22M9 2.7C13%2C4%22/%3E')", False),
        ('<path d="M12 3C13 4" id="c13"/>', True),
        ('<td d="c13">M1</td>', True),
        ("<text>2C13</text>", True),
    ],
)
def test_the_way_of_a_pen_names_no_column(tmp_path: Path, content: str, *, expected: bool) -> None:
    (tmp_path / "a.html").write_text(content)
    assert bool(find_leaks(tmp_path, HiddenWords(frozenset({"c13"})), ()).leaks) == expected


def test_what_a_hidden_text_shares_with_visible_ones_is_no_leak(tmp_path: Path) -> None:
    shared = "with source as ( select * from raw.orders ), final as ( select source.*"
    (tmp_path / "a.html").write_text(shared)
    text = f"{shared} select {NAME} from source"
    assert find_leaks(tmp_path, WORDS, [text]).leaks
    assert find_leaks(tmp_path, WORDS, [text], [f"{shared} select id from source"]).leaks == ()


def test_a_text_of_one_word_that_a_visible_text_has_is_no_leak_and_listed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("The length of the way, in Zmeters.")
    assert find_leaks(tmp_path, WORDS, ["Zmeters."], ["Of the way."]).leaks
    search = find_leaks(tmp_path, WORDS, ["Zmeters."], ["The length of the way, in zmeters"])
    assert (search.leaks, search.unsearched) == ((), ("Zmeters.",))


def test_names_that_pages_use_are_not_searched_for_and_listed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<td class='status'>ab</td>")
    words = HiddenWords(frozenset({"status", "ab", NAME}))
    search = find_leaks(tmp_path, words, ())
    assert (search.leaks, search.unsearched, search.names) == ((), ("ab", "status"), 1)


def test_names_that_the_filter_takes_for_words_of_pages_are_listed(tmp_path: Path) -> None:
    names = frozenset({"status", "country"})
    words = HiddenWords(near={DatasetId("spark", "hr.people"): names}, visible=names)
    assert find_leaks(tmp_path, words, ()).unsearched == ("status",)


@for_each("name", ["iban", "salary", "phone", "city", "birth_date", "last_name", "customer", "ssn"])
def test_usual_names_of_sensitive_columns_are_no_words_of_pages(name: str) -> None:
    assert name not in product_words()


@for_each("name", ["status", "name", "column", "description", "depends_on", "figure"])
def test_words_of_templates_and_of_json_are_words_of_pages(name: str) -> None:
    assert name in product_words()


def test_dbt_s_page_is_skipped_and_what_is_put_into_it_is_searched(tmp_path: Path) -> None:
    page = stock.read()
    assert "mobile" in page
    words = HiddenWords(frozenset({"mobile"}))
    (tmp_path / "a.html").write_text(page)
    assert find_leaks(tmp_path, words, ()).leaks == ()
    (tmp_path / "a.html").write_text(page.replace("</body>", '{"mobile": 1}</body>'))
    assert find_leaks(tmp_path, words, ()).leaks == (Leak("a.html", "mobile", "plain"),)


@pytest.fixture
def shipped(tmp_path: Path) -> dict[str, Path]:
    """A page and a table of others, published as they are in the folder `site`."""
    (tmp_path / "site").mkdir()
    (tmp_path / "salary.html").write_text("<head>salary</head>\n<body>")
    pq.write_table(pa.table({"salary": ["a"]}), tmp_path / "a.parquet")
    files = {"salary.html": tmp_path / "salary.html", "a.parquet": tmp_path / "a.parquet"}
    for path, file in files.items():
        shutil.copyfile(file, tmp_path / "site" / path)
    return files


def test_files_of_others_and_names_of_their_columns_are_no_leak(
    shipped: dict[str, Path], tmp_path: Path
) -> None:
    words = HiddenWords(frozenset({"salary"}))
    assert find_leaks(tmp_path / "site", words, (), (), shipped).leaks == ()


def test_what_is_put_into_a_file_of_others_is_searched(
    shipped: dict[str, Path], tmp_path: Path
) -> None:
    words = HiddenWords(frozenset({"bonus", "wages"}))
    page = shipped["salary.html"].read_text()
    (tmp_path / "site/salary.html").write_text(page.replace("<body>", "bonus\n<body>"))
    pq.write_table(pa.table({"salary": ["wages"]}), tmp_path / "site/a.parquet")

    leaks = find_leaks(tmp_path / "site", words, (), (), shipped).leaks

    assert set(leaks) == {
        Leak("salary.html", "bonus", "plain"),
        Leak("a.parquet", "wages", "parquet"),
    }


def test_a_damaged_archive_is_searched_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"x" * 99)[:20] + SENTENCE.encode())
    assert [leak.name for leak in find_leaks(tmp_path, WORDS, ()).leaks] == [NAME]


@for_each(
    "name, other, expected",
    [
        ("country", "campaign_country_report", True),
        ("snapshot_orders", "snapshot_orders_multiple", True),
        # A picture cuts it anywhere.
        ("ban_ville", "marts_ban_villes", True),
        ("questionnaire", "QuestionnaireResponse", True),
        ("Response", "questionnaireResponse", True),
        ("db.pay", "DB.PAYMENTS", True),
        ("ages", "wages", False),
        ("orders", "order", False),
        ("salary", "orders", False),
        ("_", "orders", False),
    ],
)
def test_a_name_in_a_longer_one(name: str, other: str, *, expected: bool) -> None:
    assert part_of_names({"aaa", other, "zzz"})(name) is expected
