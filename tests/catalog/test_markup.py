"""Escaping in HTML and in attributes; descriptions as HTML."""

from __future__ import annotations

from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.markup import breakable, external, printable, prose, text, with_code
from tests.cases import for_each
from tests.catalog.html_reader import HtmlReader

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' onfocus='alert(1)",
    "[x](javascript:alert(1))",
    "![x](https://example.com/pixel.png)",
    "a | b | c",
    "`code` ``more``",
    "```\nfence\n```",
    "~~~\nfence\n~~~",
    "{{ config.site_name }}{% raw %}",
    '{: onclick="alert(1)" #top .x }',
    "*bold* __under__ ~struck~",
    "line\n\n# heading\n\n- item",
    "tab\tand\r\nline ends\r",
    "\x02wzxhzdk:0\x03 klzzwxh:0001",
    "&lt;b&gt; &amp; &#60;",
    "--> <!-- ]]>",
    "</div></section></table>",
    "back\\slash \\`",
    "emoji 🌱 名前 \u202e",
    "control \x00 \x1b[31m \x7f",
    "x" * 5000,
]


@for_each("value", HOSTILE)
def test_a_value_is_unchanged_in_text_and_attributes(value: str) -> None:
    page = f'<h1>{text(value)}</h1><div title="{text(value)}"><p>{text(value)}</p></div>'
    read = HtmlReader(page)
    assert [tag for tag, _ in read.tags] == ["h1", "div", "p"]
    assert read.tags[1][1] == {"title": printable(value)}
    assert printable(value) in read.text


@for_each("value", HOSTILE)
def test_prose_has_only_known_tags_and_attributes(value: str) -> None:
    for tag, attributes in HtmlReader(prose(value, "../", DbtDocs.DBT_1)).tags:
        assert tag not in {"script", "img", "iframe", "style", "div", "section", "svg"}
        assert set(attributes) <= {"href", "rel", "class"}
        assert (attributes.get("href") or "https:").startswith("https:")


@for_each(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java&#115;cript:alert(1)",
        "java&amp;#115;cript:alert(1)",
        "javascript&colon;alert(1)",
        "java\tscript:alert(1)",
        " javascript:alert(1)",
        "javascript\\:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "//evil.example.com",
        "https:evil",
        "file:///etc/passwd",
    ],
)
def test_an_unsafe_link_is_text(url: str) -> None:
    for written in (f"[here]({url})", f"[here](<{url}>)", f"<{url}>", f"![here]({url})"):
        assert not [tag for tag, _ in HtmlReader(prose(written)).tags if tag == "a"], written


@for_each(
    "markdown, html",
    [
        ("plain words", "<p>plain words</p>"),
        ("**one** row", "<p><strong>one</strong> row</p>"),
        ("[a](https://example.com/?a=1&b=2)", 'href="https://example.com/?a=1&amp;b=2"'),
        ("![logo](https://example.com/l.png)", 'href="https://example.com/l.png"'),
        (
            "[mart](#!/model/model.shop.orders)",
            'href="../dbt/index.html#!/model/model.shop.orders"',
        ),
        ("# Grain", '<p class="graft-heading">Grain</p>'),
        ("<b>raw</b>", "&lt;b&gt;raw&lt;/b&gt;"),
        ("- a\n- b", "<li>a</li>"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<td>1</td>"),
    ],
)
def test_prose_renders_the_markdown_of_dbt_descriptions(markdown: str, html: str) -> None:
    assert html in prose(markdown, "../", DbtDocs.DBT_1).replace("&#10;", "\n")


def test_a_link_into_dbt_docs_is_text_without_dbt_docs() -> None:
    assert "<a" not in prose("[mart](#!/model/model.shop.orders)")


@for_each(
    "url, accepted",
    [
        ("https://example.com/x", True),
        ("http://example.com", True),
        ("mailto:team@example.com", True),
        ("javascript:alert(1)", False),
        ("https://", False),
        ("//example.com", False),
        ("x.html", False),
        ("https://[broken", False),
        ("", False),
    ],
)
def test_external_accepts_web_and_mail_addresses_only(url: str, accepted: bool) -> None:
    assert external(url) == (url if accepted else "")


@for_each(
    "words, html",
    [
        ("run `dbt compile`.", "run <code>dbt compile</code>."),
        ("`a<b>` & `c`", "<code>a&#60;b&#62;</code> &#38; <code>c</code>"),
        ("`a` `b`", "<code>a</code> <code>b</code>"),
        ("a ` alone", "a ` alone"),
    ],
)
def test_words_between_backticks_are_code(words: str, html: str) -> None:
    assert with_code(words) == html


@for_each(
    "name, html",
    [
        ("raw.web_visits", "raw.<wbr>web_<wbr>visits"),
        ("file/a.db/", "file/<wbr>a.<wbr>db/"),
        ("a.<b>_c", "a.&#60;b&#62;_<wbr>c"),
    ],
)
def test_a_long_name_may_be_broken_between_its_words(name: str, html: str) -> None:
    assert breakable(name) == html
