"""`graft export openlineage`: files, folders, standard output, endpoints and what fails."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.graft.commands.cli import main
from tests.exporters.openlineage.conformance import complaints
from tests.exporters.openlineage.receiver import Receiver, receiving
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)

# ruff: noqa: F811 (a fixture of another module)


@dataclass(frozen=True)
class Exported:
    """The exit code and the output of the command."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[Any]:
        return [orjson.loads(line) for line in self.out.splitlines()]


Export = Callable[..., Exported]


@pytest.fixture
def export(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Export:
    """Run the command in a project where `load_orders` and `patch` write and `report` reads."""

    def run(*arguments: str) -> Exported:
        with pytest.raises(SystemExit) as ended:
            main(["export", "openlineage", "-c", str(folder / "graft.yml"), *arguments])
        out, err = capfdbinary.readouterr()
        return Exported(int(ended.value.code or 0), out.decode(), err.decode())

    return run


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


def configure(folder: Path, receiver: Receiver | None, **settings: Any) -> None:
    section = {"url": receiver.url, **settings} if receiver else settings
    with (folder / "graft.yml").open("a") as file:
        file.write(f"openlineage: {orjson.dumps(section).decode()}\n")


def test_standard_output_has_valid_events_of_logs_and_dbt(export: Export) -> None:
    done = export()
    assert (done.code, done.err) == (0, "")
    assert {tuple(complaints(event)) for event in done.events} == {()}
    jobs = {event["job"]["name"] for event in done.events if "job" in event}
    assert {"load_orders", "patch", "report", "dbt.model.shop.mart"} <= jobs
    assert export().out == done.out


def test_a_task_and_a_dbt_model_are_chosen_by_name(export: Export) -> None:
    done = export("--task", "load_orders", "--task", "mart", "--events", "job")
    assert [event["job"]["name"] for event in done.events] == ["load_orders", "dbt.model.shop.mart"]


def test_an_unknown_task_is_an_error_with_the_nearest(export: Export) -> None:
    done = export("--task", "load_order")
    assert done.code == 1
    assert "did you mean load_orders?" in done.err


@pytest.mark.parametrize("since", ["7d", "2999-01-01", "2999-01-01T02:00+02:00"])
def test_since_leaves_older_runs_out(export: Export, since: str) -> None:
    assert export("--since", since, "--events", "run").events == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--since", "monday"),
        ("--since", "99999999999d"),
        ("--out", "x", "--send"),
        ("--send",),
        ("--again", "all"),
        ("--url", "http://host", "--again", "some"),
        ("--events", "facet"),
    ],
)
def test_a_wrong_command_line_is_refused(export: Export, arguments: tuple[str, ...]) -> None:
    assert export(*arguments).code == 2


def test_a_file_holds_what_standard_output_has(export: Export, tmp_path: Path) -> None:
    plain, zipped = tmp_path / "out/events.ndjson", tmp_path / "events.ndjson.gz"
    assert "events written to" in export("--out", str(plain)).out
    assert export("--out", str(zipped), "--json").code == 0
    assert plain.read_bytes() == gzip.decompress(zipped.read_bytes()) == export().out.encode()


def test_a_folder_has_a_file_for_each_event_and_old_ones_go(export: Export, tmp_path: Path) -> None:
    out = tmp_path / "events"
    assert export("--out", str(out)).code == 0
    names = {path.name for path in out.glob("*.json")}
    assert export("--out", str(out), "--task", "report").code == 0
    left = {path.name for path in out.glob("*.json")}
    assert left < names
    assert all("report" in name or "dataset" in name for name in left if name[0] != ".")


def test_a_folder_of_somebody_else_is_left_alone(export: Export, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "thesis.txt").write_text("x")
    done = export("--out", str(out))
    assert done.code == 1
    assert "graft.yml" not in done.err
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_events_are_sent_once(export: Export, receiver: Receiver) -> None:
    number = len(export().events)
    done = export("--url", receiver.url)
    assert f"{number} events delivered to {receiver.url}/api/v1/lineage" in done.err
    assert " 0 events delivered" in export("--url", receiver.url).err
    assert receiver.bodies == export().events
    assert export("--url", receiver.url, "--again", "all", "--task", "report").code == 0
    assert 0 < len(receiver.bodies) - number < number


def test_authorization_is_of_the_environment(
    export: Export, receiver: Receiver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(folder, receiver, authorization="env:GRAFT_TEST_TOKEN", events=["run", "job"])
    monkeypatch.setenv("GRAFT_TEST_TOKEN", "")
    assert "GRAFT_TEST_TOKEN" in export("--send").err
    monkeypatch.setenv("GRAFT_TEST_TOKEN", "Bearer very-secret")
    done = export("--send", "--json")
    assert orjson.loads(done.out)["data"]["delivered"] == len(receiver.bodies) > 0
    assert {headers["Authorization"] for _, _, headers in receiver.requests} == {
        "Bearer very-secret"
    }
    assert "very-secret" not in done.out + done.err
    assert not any("dataset" in body for body in receiver.bodies)


def test_the_url_may_be_of_the_environment(
    export: Export, receiver: Receiver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAFT_TEST_URL", receiver.url)
    with (folder / "graft.yml").open("a") as file:
        file.write("openlineage: {url: '${GRAFT_TEST_URL}'}\n")
    assert export("--send", "--task", "report").code == 0
    assert receiver.bodies


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, 0),
        ({"on_failure": "fail"}, 1),
        ({"critical": ["load_orders"]}, 1),
        ({"critical": ["tag:gold"]}, 1),
        ({"critical": ["patch", "tag:silver"]}, 0),
        ({"on_failure": "fail", "critical": ["patch"]}, 1),
    ],
)
def test_what_was_not_delivered_fails_as_graft_yml_says(
    export: Export, receiver: Receiver, folder: Path, settings: dict[str, Any], code: int
) -> None:
    text = (folder / "graft.yml").read_text()
    (folder / "graft.yml").write_text(text.replace("owner: Data team", "tags: [gold]"))
    configure(folder, receiver, **settings)
    receiver.answer = lambda event, _: (
        422 if event.get("job", {}).get("name") == "load_orders" else 201
    )
    done = export("--send")
    assert done.code == code
    assert "1 refused: HTTP status 422" in done.err
    assert ("load_orders" in done.err) == (
        "critical" in settings and code == 1 and "on_failure" not in settings
    )


def test_what_waits_is_in_the_outbox_beside_the_store(
    export: Export, receiver: Receiver, folder: Path
) -> None:
    receiver.answer = lambda *_: 401
    done = export("--url", receiver.url)
    assert "to be sent next time: HTTP status 401; see `openlineage.authorization`" in done.err
    assert (folder / ".graft/outbox.db").exists()
    receiver.answer = lambda *_: 201
    assert export("--url", receiver.url).code == 0
    assert receiver.bodies == export().events


@pytest.mark.parametrize("url", ["http://me:very-secret@host", "http://host/api?token=very-secret"])
def test_a_secret_in_the_url_is_refused_and_not_shown(export: Export, url: str) -> None:
    done = export("--url", url)
    assert done.code == 1
    assert "very-secret" not in done.out + done.err


@pytest.mark.parametrize("options", [(), ("--out", "events.ndjson")])
def test_without_runs_of_airflow_it_says_that_there_is_none(
    export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = export("--airflow", *options)
    assert (done.code, done.events if not options else []) == (0, [])
    assert "is one of Airflow's" in done.err
