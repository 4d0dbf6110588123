"""A benchmark replaces its own section of the page and nothing else."""

from __future__ import annotations

import pytest

from benchmarks.report import with_section

PAGE = "# Speed\n\nAbout.\n\n## One\n\nold\n\n| a |\n|---|\n\n## Another\n\nkept\n"


@pytest.mark.parametrize(
    ("page", "heading", "expected"),
    [
        ("# Speed\n", "## One", "# Speed\n\n## One\n\nnew\n"),
        (PAGE, "## One", "# Speed\n\nAbout.\n\n## One\n\nnew\n\n## Another\n\nkept\n"),
        (PAGE, "## Another", PAGE.replace("kept", "new")),
        (PAGE, "## On", f"{PAGE}\n## On\n\nnew\n"),
    ],
)
def test_a_section_is_replaced_where_it_stands(page: str, heading: str, expected: str) -> None:
    assert with_section(page, heading, "new\n\n") == expected
