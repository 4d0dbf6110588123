"""Markdown in comments: nothing of a log or of people is markup."""

from __future__ import annotations

from dbt_graft.analysis.render.markdown import markdown_text
from tests.cases import for_each


@for_each(
    "text, shown",
    [
        ("raw.order_items", r"raw.order\_items"),
        ("a|b", r"a\|b"),
        ("<img src=x>", "&#60;img src=x&#62;"),
        ("a&lt;b", "a&#38;lt;b"),
        ("@everyone", "&#64;everyone"),
        ("[x](http://y)", r"\[x\](http://y)"),
        ("two\nlines", "two lines"),
        ("https://a.b/x_y?z=1", "<https://a.b/x_y?z=1>"),
        ("https://a.b/<x> _y_", r"https://a.b/&#60;x&#62; \_y\_"),
    ],
)
def test_a_text_is_no_markup(text: str, shown: str) -> None:
    assert markdown_text(text) == shown
