"""Trees in answers: what is cut of wide and long ones, and that depth has no limit."""

from __future__ import annotations

from dbt_graft.analysis.answer import Answer, Tree
from dbt_graft.analysis.render.forms import FORMS
from dbt_graft.analysis.render.text import branch_lines


def chain(length: int) -> Tree:
    tree = Tree(str(length))
    for number in range(length - 1, -1, -1):
        tree = Tree(str(number), [tree])
    return tree


def test_a_wide_fan_is_cut_unless_all_is_wanted() -> None:
    fan = Tree("feeds", [Tree(str(number)) for number in range(40)])
    lines = [f"{indent}{branch.title}" for indent, branch in branch_lines(fan, 20)]
    assert (len(lines), lines[-1]) == (21, "└── and 20 more: --all shows them")
    assert len([*branch_lines(fan, None)]) == 40


def test_a_long_tree_is_cut_too_and_depth_has_no_limit() -> None:
    assert [branch.title for _, branch in branch_lines(chain(3_000), 2)][-1].startswith("and 1 ")
    assert len([*branch_lines(chain(3_000), None)]) == 3_000


def test_markdown_indents_what_text_draws() -> None:
    answer = Answer("x", tables=[Tree("feeds", [Tree("a", [Tree("b")]), Tree("c")])])
    assert "├── a\n│   └── b\n└── c\n" in FORMS["text"](answer, 20)
    assert "- a\n  - b\n- c\n" in FORMS["markdown"](answer, 20)
