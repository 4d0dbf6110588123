"""`graft check --only audience`: the published sites of audiences, searched again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.analysis.audience.words import HiddenWords
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.questions.leaks.leaks import find_leaks
from tests.graft.commands.answers import read_answer
from tests.graft.small_project import declare, small_project

# Usual names of sensitive columns.
SENSITIVE = """address_line birth_date city credit customer first_name gender iban mobile passport
phone salary score ssn surname username wage zip_code"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a hidden table, and its site for `internal`."""
    folder = tmp_path_factory.mktemp("project")
    small_project(folder)
    declare(folder, "raw.orders", "hr.zqxhid")
    with (folder / "graft.yml").open("a") as config:
        config.write("privacy: {tables: [{tables: 'HR.*', is: secret}]}\n")
        config.write("site: {data: true, audiences: {internal: {out: internal}}}\n")
    for command in ("collect", "site"):
        done = graft(folder, command)
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def leaking(published: Path) -> Iterator[Path]:
    """The same, with a file that names the table."""
    file = published / "internal/a.json"
    file.write_text('{"a": "hr%2Ezqxhid"}')
    yield published
    file.unlink()


def graft(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "-c", str(folder / "graft.yml")])


def check(folder: Path, *options: str) -> Result:
    return graft(folder, "check", "--only", "audience", *options)


def test_a_site_as_it_is_published_names_nothing_hidden(published: Path) -> None:
    done = check(published)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("sites for internal: nothing hidden found\n")


def test_the_product_s_own_pages_raise_no_false_alarm(published: Path) -> None:
    """Also dbt's page, whose program has words such as `mobile` and `credit`."""
    names = frozenset((*SENSITIVE.split(), "crm.contacts", "finance.ledger"))
    search = find_leaks(published / "build/site", HiddenWords(names), ["Gross wages", "Wages"])
    assert (search.leaks, search.unsearched) == ((), ())


def test_a_hidden_name_is_an_error(leaking: Path) -> None:
    done = graft(
        leaking, "check", "--only", "audience", "--audience", "internal", "--fail-on", "error"
    )
    assert done.exit_code == 3
    assert "  internal/a.json: zqxhid: is hidden from internal, and is there [plain]" in done.stdout


def test_json_has_all_leaks(leaking: Path) -> None:
    answer = read_answer(check(leaking, "--json").stdout)
    [search] = answer["data"]["audience"]["audiences"]
    assert search["audience"] == "internal"
    assert {"path": "a.json", "name": "zqxhid", "encoding": "plain"} in search["leaks"]
    assert search["files"] > 10


def test_an_unknown_audience_is_an_error_that_names_those_of_the_project(published: Path) -> None:
    done = check(published, "--audience", "all")
    assert (done.exit_code, "name one of internal" in done.stderr) == (1, True)


def test_a_site_that_is_not_published_is_an_error(tmp_path: Path) -> None:
    small_project(tmp_path)
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("site: {audiences: {internal: {out: internal}}}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = check(tmp_path)
    assert (done.exit_code, "is not published" in done.stderr) == (1, True)


def test_a_project_without_audiences_has_nothing_to_check(tmp_path: Path) -> None:
    small_project(tmp_path)
    done = check(tmp_path)
    assert (done.exit_code, "there is no site for an audience" in done.stderr) == (1, True)
