"""Java: the machine's own where it is new enough, PyPI's otherwise."""

import stat
import subprocess
from pathlib import Path

import pytest

from dbt_graft.collectors import java
from dbt_graft.lineage.errors import GraftError


def fake_java(home: Path, version: str) -> str:
    """A JAVA_HOME whose `java -version` prints a version and otherwise repeats its arguments."""
    binary = home / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(
        f'#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "{version}"\' >&2 && exit\n'
        'for a do echo "$a"; done\n'
    )
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    return str(home)


@pytest.mark.parametrize(
    ("version", "number"), [("17.0.15", 17), ("21", 21), ("1.8.0_392", 1), ("25.0.2-ea", 25)]
)
def test_the_major_version_is_read(tmp_path: Path, version: str, number: int) -> None:
    home = fake_java(tmp_path, version)
    assert java.version(Path(home) / "bin" / "java") == number


def test_a_jdk_names_its_version_in_a_file(tmp_path: Path) -> None:
    home = Path(fake_java(tmp_path, "17.0.15"))
    (home / "release").write_text('IMPLEMENTOR="Debian"\nJAVA_VERSION="21.0.2"\n')
    assert java.version(home / "bin" / "java") == 21


def test_the_file_of_a_jdk_without_java_counts_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "release").write_text('JAVA_VERSION="21.0.2"\n')
    assert java.version(tmp_path / "bin" / "java") == 0


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = fake_java(tmp_path / "chosen", "17.0.1")
    other = fake_java(tmp_path / "other", "21")
    monkeypatch.setenv("JAVA_HOME", chosen)
    monkeypatch.setenv("PATH", f"{other}/bin:/usr/bin:/bin")
    assert java.java_home() == chosen


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", fake_java(tmp_path / "old", "11.0.2"))
    new = fake_java(tmp_path / "new", "21.0.1")
    monkeypatch.setenv("PATH", f"{new}/bin:/usr/bin:/bin")
    assert java.java_home() == new


def test_without_any_java_the_remedy_is_to_install_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(GraftError, match=r"dbt-graft\[java\]"):
        java.java_home()


def test_the_shim_drops_the_one_argument_that_the_runtime_does_not_know(tmp_path: Path) -> None:
    runtime = fake_java(tmp_path / "jdk", "21")
    shim = tmp_path / "shim"
    shim.write_text(java._SHIM.format(java=f"{runtime}/bin/java"))
    shim.chmod(0o755)
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "$HOME", "Main"]
    printed = subprocess.run([shim, *arguments], capture_output=True, text=True, check=True).stdout
    assert printed.split("\n")[:-1] == ["-cp", "a b", "", "$HOME", "Main"]
