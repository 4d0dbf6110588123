"""Commands from templates: what lineage knows of a task is data for Jinja and for the shell."""

from __future__ import annotations

import shlex
import subprocess

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_graft.exporters.dag_factory.templates import (
    check_template,
    fill_argument,
    fill_command,
    fill_text,
)
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

HOSTILE = [
    "x; touch pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "a'b",
    'a"b; touch pwned; "',
    "{{ 7 * 7 }}",
    "{% raw %}",
    "{# gone #}",
    "a\nb",
    "-rf /",
    "{task}",
    "$HOME",
    "a\\",
    "*",
    "#",
    "x.sh",
    "{",
    "é ü",
]


def rendered(command: str) -> str:
    return jinja2.Environment().from_string(command).render(ds="2026-11-01")  # noqa: S701


@pytest.mark.parametrize("template", ["printf '%s.' {task}", "printf '%s.' x={task} {task}"])
@for_each("name", HOSTILE)
def test_a_hostile_name_is_one_argument(name: str, template: str) -> None:
    command = rendered(fill_command(template, {"task": name}))
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == (f"x={name}.{name}." if "x=" in template else f"{name}.")


@settings(max_examples=200)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_any_text_is_one_word_of_the_command(name: str) -> None:
    text = fill_command("run {task} --date {{ ds }}", {"task": name})
    # Jinja takes one line end off the end, and knows one kind of them; here none is last.
    assert shlex.split(rendered(text).replace("\r\n", "\n").replace("\r", "\n")) == [
        "run",
        name.replace("\r\n", "\n").replace("\r", "\n"),
        "--date",
        "2026-11-01",
    ]


@for_each(
    "template",
    [
        "echo '{task}'",
        'echo "{task}"',
        "# it's\necho '{task}'",
        "bash -c '{task}'",
        "sh -ec {task}",
        "cat <<END\n{task}\nEND",
        'echo "$(run {task})"',
        "echo `run {task}`",
        "echo $'it\\'s {task}'",
        "ssh host run {task}",
        "eval {task}",
        "su - etl run {task}",
    ],
)
def test_a_name_that_needs_quotes_is_refused_where_it_stands_in_quotes(template: str) -> None:
    assert "load_orders" in fill_command(template, {"task": "load_orders"})
    with pytest.raises(GraftError, match="needs quotes of its own"):
        fill_command(template, {"task": "x; touch pwned"})


def test_quotes_of_jinja_and_comments_are_not_the_shell_s() -> None:
    template = "# don't\nrun {{ var.value.get('it') }} {task}"
    assert fill_command(template, {"task": "a b"}).endswith("'a b'")


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("cd ${REPO} && run {{ ds }} {task}", "cd ${REPO} && run {{ ds }} load"),
        ("awk '{ print }' {task}", "awk '{ print }' load"),
        ("./{task}.sh", "./load.sh{{ '' }}"),
        ("dbt build --select {models}", "dbt build --select a b"),
    ],
)
def test_what_is_jinja_s_or_the_shell_s_stays(template: str, expected: str) -> None:
    assert fill_command(template, {"task": "load", "models": ["a", "b"]}) == expected


def test_a_name_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ValueError, match=r"there is no \{modle\}; write one of task, "):
        check_template("dbt run --select {modle}")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("path", "add `path` to its entry below `tasks`"),
        ("repo_name", "add `repo` to its entry below `tasks`"),
        ("models", "add an entry of its own below `airflow.commands`"),
    ],
)
def test_a_value_that_is_not_known_is_an_error_that_names_it(name: str, remedy: str) -> None:
    with pytest.raises(GraftError, match=rf"needs \{{{name}\}}, which is not known") as caught:
        fill_command(f"run {{{name}}}", {"task": "load", "path": ""})
    assert caught.value.remedy.startswith(remedy)


def test_arguments_are_filled_in_at_any_depth_with_plain_values_only() -> None:
    argument = {"image": "shop", "arguments": ["--task", "{task}", 3]}
    assert fill_argument(argument, {"task": "load"}) == {
        "image": "shop",
        "arguments": ["--task", "load", 3],
    }
    with pytest.raises(GraftError, match="characters that a shell would read"):
        fill_argument(argument, {"task": "a b"})


@for_each("name", HOSTILE)
def test_a_variable_has_the_name_as_it_is(name: str) -> None:
    assert rendered(fill_text("{task}", {"task": name})) == name
