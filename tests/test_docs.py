"""The documents cannot go stale: they name every key, command and exit code there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from markdown import markdown
from markdown.extensions.toc import slugify

from dbt_graft.collectors.checked_yaml import sections, types_by_key
from dbt_graft.graft.commands.cli import COMMANDS, main
from dbt_graft.graft.project.config import Config, ConfigFile, load
from dbt_graft.graft.steps.start import write_config
from dbt_graft.lineage.section import Section
from tests.cases import for_each


def keys(section: type[Section]) -> Iterator[str]:
    for key, kind in types_by_key(section).items():
        yield key
        for inner in sections(kind):
            yield from keys(inner)


SECTIONS = types_by_key(ConfigFile)


@for_each("section", sorted(SECTIONS))
def test_every_key_of_graft_yml_is_explained_in_its_section(root: Path, section: str) -> None:
    text = (root / "docs/configuration.md").read_text()
    parts = [part for part in re.split(r"^## ", text, flags=re.M) if f"`{section}`" in part[:50]]
    assert parts, f"docs/configuration.md has no section `{section}`"
    inner = [key for part in sections(SECTIONS[section]) for key in keys(part)]
    assert [key for key in inner if not re.search(rf"`(site\.)?{key}`", parts[-1])] == []


def test_the_example_of_the_reference_is_valid(root: Path, tmp_path: Path) -> None:
    text = (root / "docs/configuration.md").read_text()
    for example in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        (tmp_path / "graft.yml").write_text(example)
        load(tmp_path / "graft.yml")


LINES = {name: line for commands in COMMANDS.values() for name, (_, line) in commands.items()}


@for_each("command", sorted(LINES))
def test_every_command_has_an_example_and_stands_in_the_readme(root: Path, command: str) -> None:
    found = main.get_command(click.Context(main), command)
    assert found
    assert f"graft {command}" in (found.epilog or "")
    assert found.get_help(click.Context(found, info_name=f"graft {command}"))
    line = " ".join(str(found.help).partition("\n\n")[0].split())
    assert line == LINES[command], "graft --help has another line"
    assert f"graft {command}" in (root / "README.md").read_text()


def test_what_init_writes_is_valid_and_means_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    written = write_config(tmp_path).path
    config, default = load(written), Config()
    assert config.site.name == "shop lineage"
    for key in ("dbt", "collect", "names", "tasks", "store", "artifacts"):
        assert getattr(config, key) == getattr(default, key)


@for_each(
    "target",
    [
        *("docs", "test", "test-all", "check", "lint", "coverage"),
        *("dist", "bench", "docs-site", "clean", "help"),
    ],
)
def test_every_make_target_is_described(root: Path, target: str) -> None:
    assert re.search(rf"^{target}:.*## \w", (root / "Makefile").read_text(), re.MULTILINE)


def pages(root: Path) -> list[Path]:
    return sorted((root / "docs").glob("*.md"))


def targets(document: Path) -> list[str]:
    """The links of a document that lead to files of ours."""
    return re.findall(r"\]\((?!https?:)([^)]+)\)", document.read_text())


def anchors(document: Path) -> set[str]:
    """The addresses of the sections of a page, as MkDocs and GitHub make them."""
    prose = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {slugify(re.sub(r"[`*]", "", title), "-") for title in titles}


def test_every_link_between_the_documents_leads_somewhere(root: Path) -> None:
    for document in [*root.glob("*.md"), *pages(root), *root.glob("dbt_project/**/*.md")]:
        for target in targets(document):
            path, _, anchor = target.partition("#")
            file = document.parent / path if path else document
            assert file.exists(), f"{document.name} links to {target}"
            assert not anchor or anchor in anchors(file), f"{document.name} links to {target}"


@for_each("page", [path.name for path in pages(Path(__file__).parents[1])])
def test_tables_and_bold_words_are_shown_as_such(root: Path, page: str) -> None:
    """A blank line within a table, or a blank within `**`, shows the signs themselves."""
    html = markdown((root / "docs" / page).read_text(), extensions=["tables", "fenced_code"])
    prose = re.sub(r"<(pre|code).*?</\1>", "", html, flags=re.DOTALL)
    assert re.findall(r".*(?:\*\*|^<p>\|).*", prose, re.MULTILINE) == []


def test_the_site_of_the_documentation_has_every_page(root: Path) -> None:
    """All that lies outside of docs/ is not on the site, so that no page may link there."""
    nav = yaml.safe_load((root / "mkdocs.yml").read_text())["nav"]
    assert sorted(page for entry in nav for page in entry.values()) == [p.name for p in pages(root)]
    assert [t for page in pages(root) for t in targets(page) if t.startswith("..")] == []


def test_the_demo_s_graft_yml_is_valid(root: Path) -> None:
    assert yaml.safe_load((root / "dbt_project/graft.yml").read_text())
    assert load(root / "dbt_project/graft.yml").collect


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_file_that_maintainers_are_sent_to_exists(root: Path, document: str) -> None:
    named = re.findall(r"`((?:[a-z_.-]+/)+[\w.-]*)`", (root / document).read_text())
    files = [path for path in named if not path.startswith(("build/", "dist/"))]
    assert len(files) > 25
    assert [path for path in files if not (root / path).exists()] == []


def test_each_addition_has_its_files_in_contributing(root: Path) -> None:
    text = (root / "CONTRIBUTING.md").read_text()
    sections = re.findall(r"^### ([^\n]+)\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    assert [title for title, _ in sections] == [
        "a Spark operator",
        "a T-SQL verb",
        "a log source",
        "a panel on a page",
        "a command",
        "an OpenLineage facet",
        "a key of `graft.yml`",
    ]
    for title, files in sections:
        assert len(re.findall(r"^\| `.*`", files, re.MULTILINE)) > 3, title
