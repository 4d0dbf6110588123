"""The file and the line of a change, for annotations, and the reasons that allow one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from dbt_graft.analysis.review.node_change import NodeChange, NodeReview
from dbt_graft.analysis.review.report import Place
from dbt_graft.analysis.review.report_lines import changed_line, entry_lines
from dbt_graft.graft.project.config import Config
from dbt_graft.injector.artifacts import Artifacts

_ALLOWED = re.compile(r'(?:#|--)[ \t]*graft:[ \t]*allow-change[ \t]+reason="([^"\n]{1,300})"')
_YAML = (".yml", ".yaml", ".json")


def review_places(config: Config, new: Artifacts) -> Place:
    """The file, from the current folder, and the line of a change."""

    def place(node: NodeReview, change: NodeChange | None) -> tuple[str, int]:
        if not node.file:
            return "", 1
        path = config.project_dir / node.file
        file = _shown(path, config, node.file)
        if node.kind in _LISTED:
            return file, 1
        code = _code(path)
        if code is None:
            manifest_node = new.manifest["nodes"].get(node.node_id) or {}
            code = str(manifest_node.get("raw_code") or "")
        return file, changed_line(code, node, change)

    return place


def with_files(
    nodes: tuple[NodeReview, ...], config: Config, files: Mapping[str, str]
) -> tuple[NodeReview, ...]:
    """Tasks with the files that declare them, and the reason in these by which a change is allowed.

    A script that is in another repository has no place here.

    Args:
        files: Declared task -> file.
    """
    reviews = []
    for node in nodes:
        path = files.get(node.node_id) or (str(config.project_dir / node.file) if node.file else "")
        text = _code(Path(path)) if path else None
        allowed = None
        if text is not None:
            lines = entry_lines(text, node.node_id) if path.endswith(_YAML) else None
            allowed = _ALLOWED.search(lines[1] if lines else text)
        reviews.append(
            replace(node, file=path or node.file, allowed=allowed[1] if allowed else node.allowed)
        )
    return tuple(reviews)


def _shown(path: Path, config: Config, written: str) -> str:
    """The path from the current folder; else as short as it can be written."""
    for folder in (Path.cwd(), config.folder, config.project_dir):
        if path.is_relative_to(folder):
            inside = path.relative_to(folder).as_posix()
            return inside if folder == Path.cwd() or Path(written).is_absolute() else written
    return path.name if Path(written).is_absolute() else written


# Nodes of YAML and CSV files, of which only the file is shown.
_LISTED = ("source", "seed")


@lru_cache(maxsize=4)
def _code(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None
