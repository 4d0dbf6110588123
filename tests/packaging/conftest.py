"""The wheel and the source archive, built once from a copy of what Git tracks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.archives import unpack


@dataclass(frozen=True)
class Distributions:
    """The files that a release consists of.

    Attributes:
        wheel: The wheel, built from the tree.
        archive: The source archive, built from the tree.
        wheel_of_archive: The wheel, built from the unpacked archive alone.
    """

    wheel: Path
    archive: Path
    wheel_of_archive: Path


@pytest.fixture(scope="session")
def sources(root: Path) -> list[Path]:
    """The files of the repository, relative to its top."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    if not (root / ".git").exists():
        pytest.skip("not a Git checkout: nothing to compare a distribution with")
    listed = subprocess.run(listing, cwd=root, capture_output=True, text=True, check=True).stdout
    paths = map(Path, filter(None, listed.split("\0")))
    return [path for path in paths if (root / path).exists()]


@pytest.fixture(scope="session")
def distributions(
    root: Path, sources: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Distributions:
    """Build in a copy: `build/` and `*.egg-info` of the tree may hold deleted modules."""
    folder = tmp_path_factory.mktemp("distributions")
    for path in sources:
        (folder / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / path, folder / "tree" / path, follow_symlinks=False)
    archive = _build("sdist", folder / "tree", folder / "from_tree")
    unpack(archive, folder / "unpacked")
    (unpacked,) = (folder / "unpacked").iterdir()
    return Distributions(
        wheel=_build("wheel", folder / "tree", folder / "from_tree"),
        archive=archive,
        wheel_of_archive=_build("wheel", unpacked, folder / "from_archive"),
    )


def _build(kind: str, tree: Path, out: Path) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", str(out)]
    done = subprocess.run([*command, str(tree)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built
