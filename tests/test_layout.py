"""The layout of the tree: rooms are folders at its top, and the package has links to them."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from tests.cases import for_each

ROOMS = ("lineage", "analysis", "collectors", "injector", "catalog", "exporters", "graft")


def test_the_package_has_a_link_to_each_room(root: Path) -> None:
    links = {path.name: path for path in (root / "dbt_graft").iterdir() if path.is_symlink()}
    assert {name: path.readlink() for name, path in links.items()} == {
        name: Path("..", name) for name in (*ROOMS, "site")
    }, "on Windows: git config core.symlinks true, and check out again"


@for_each("room", ROOMS)
def test_a_room_is_imported_from_the_package_alone(root: Path, room: str) -> None:
    module = import_module(f"dbt_graft.{room}")
    assert Path(str(module.__file__)).samefile(root / room / "__init__.py")
    assert room not in sys.modules
