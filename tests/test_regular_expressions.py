"""Debian's Python 3.11.2 matches repeated groups wrongly when they are possessive."""

import re
from pathlib import Path

# Possessive groups, `(…)*+`, and atomic ones, `(?>…)`; after a single character they are sound.
_POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+(?![+*?])|\(\?>")


def test_no_regular_expression_repeats_a_group_possessively(root: Path) -> None:
    found = [
        f"{module.relative_to(root)}:{number}: {line.strip()}"
        for room in ("lineage", "collectors", "injector", "catalog", "exporters", "graft")
        for module in sorted((root / room).rglob("*.py"))
        for number, line in enumerate(module.read_text("utf-8").splitlines(), 1)
        if re.search(r"r?f?[\"']", line) and _POSSESSIVE_GROUP.search(line)
    ]
    assert found == []
