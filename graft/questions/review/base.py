"""The base of a review: artifacts in a folder, or those committed at a revision of git."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dbt_graft.graft.questions.review.git import commit_of, git, nearest
from dbt_graft.injector import artifacts
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.errors import GraftError

_FILES = ("manifest.json", "catalog.json")
_INDEX = "index"


def base_artifacts(base: str, target: Path) -> Artifacts:
    """The base's artifacts.

    Args:
        base: A folder with a manifest.json, or a revision.
        target: dbt's target folder, whose files a revision has.

    Raises:
        GraftError: It is neither, or its artifacts cannot be read.
    """
    folder = Path(base)
    return artifacts.read(folder) if folder.is_dir() else artifacts_at(base, target)


def artifacts_at(revision: str, target: Path) -> Artifacts:
    """The artifacts that are committed at a revision.

    Raises:
        GraftError: There is no such revision, or no manifest is committed there.
    """
    above = nearest(target)
    commit = commit_of(revision, above)
    inside = target.relative_to(above).as_posix()
    with tempfile.TemporaryDirectory(prefix="graft-review-") as folder:
        for name in _FILES:
            path = name if inside == "." else f"{inside}/{name}"
            content = git(above, "show", f"{commit}:./{path}")
            if content is not None:
                (Path(folder) / name).write_bytes(content)
            elif name == _FILES[0]:
                raise GraftError(
                    f"no manifest.json is committed there as {target / name}",
                    place=revision,
                    remedy="compile the base into a folder and name that: "
                    f"`git worktree add ../base {revision}`, in it `dbt compile`, then "
                    "`graft review --base ../base/target`",
                )
        _extract_index(above, commit, target, Path(folder) / _INDEX)
        return artifacts.read(Path(folder))


def _extract_index(above: Path, commit: str, target: Path, folder: Path) -> None:
    """Write the index of dbt 2 at a commit into a folder; nothing where there is none."""
    inside = (target / _INDEX).relative_to(above).as_posix()
    listed = git(above, "ls-tree", "-z", "--name-only", commit, "--", f"{inside}/") or b""
    for name in filter(None, listed.decode("utf-8", "replace").split("\0")):
        content = git(above, "show", f"{commit}:./{name}")
        if content is not None and name.endswith(".parquet"):
            folder.mkdir(exist_ok=True)
            (folder / Path(name).name).write_bytes(content)
