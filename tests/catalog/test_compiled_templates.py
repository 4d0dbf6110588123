"""Templates, compiled once for all builds of a user."""

from __future__ import annotations

import tempfile
from pathlib import Path

import jinja2
import pytest

from dbt_graft.catalog.compiled_templates import compiled_templates


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the machine's temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def _filled(maker: bytes, text: str = "{{ 'a' | mark }}", mark: str = "!") -> str:
    """A template of one text, filled by an environment of its own; a filter is of its code."""
    jinja = jinja2.Environment(
        loader=jinja2.DictLoader({"page": text}),
        autoescape=True,
        bytecode_cache=compiled_templates("pages", maker),
    )
    jinja.filters["mark"] = lambda value: value + mark
    return jinja.get_template("page").render()


def test_a_template_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _filled(b"1") == "a!"
    monkeypatch.setattr(jinja2.Environment, "compile", None)
    assert _filled(b"1") == "a!"


@pytest.mark.parametrize(
    ("maker", "text", "mark", "expected"),
    [(b"2", "{{ 'a' | mark }}", "?", "a?"), (b"1", "{{ 'b' | mark }}", "!", "b!")],
    ids=["of other code, which Jinja calls where it compiles", "another text"],
)
def test_another_is_compiled_again(maker: bytes, text: str, mark: str, expected: str) -> None:
    _filled(b"1")
    assert _filled(maker, text, mark) == expected


def test_damaged_bytecode_is_none(temporary: Path) -> None:
    _filled(b"1")
    [file] = temporary.rglob("graft_pages_*")
    file.write_bytes(file.read_bytes()[:-20])
    assert _filled(b"1") == "a!"


def test_a_folder_of_somebody_else_is_not_used(
    monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 4242)
    assert compiled_templates("pages", b"1") is None
    assert _filled(b"1") == "a!"
    assert not [*temporary.rglob("graft_pages_*")]


def test_the_folder_of_the_project_is_not_used(
    monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.chdir(temporary)
    assert compiled_templates("pages", b"1") is None


def test_without_room_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    assert _filled(b"1") == "a!"
    assert not [*temporary.rglob("graft_pages_*")]
