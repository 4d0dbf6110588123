"""dag-factory's YAML, whoever wrote it, damaged or not."""

from __future__ import annotations

import pytest

from dbt_graft.exporters.dag_factory.check.yaml_dags import read_yaml_dags
from tests.cases import for_each

ARTICLE = """
default:
  schedule: '*/1 * * * *'
example_dag:
  tasks:
    task_1:
      operator: airflow.operators.bash_operator.BashOperator
      bash_command: 'echo 1'
    task_2:
      operator: airflow.operators.bash_operator.BashOperator
      bash_command: 'echo 2'
      dependencies: [task_1]
      on_failure_callback: !!python/name:os.system
"""


def test_tasks_as_a_mapping_have_their_lines_and_the_default_schedule() -> None:
    (dag,) = read_yaml_dags(ARTICLE, "dags/example.yml").dags
    assert (dag.dag_id, dag.schedule, dag.assets) == ("example_dag", "*/1 * * * *", ())
    assert [(task.task_id, task.upstream, task.place) for task in dag.tasks] == [
        ("task_1", (), "dags/example.yml:6"),
        ("task_2", ("task_1",), "dags/example.yml:9"),
    ]


def test_tasks_of_nested_groups_have_their_ids_before_theirs() -> None:
    text = """
shop:
  task_groups:
    outer: {}
    inner: {parent_group_name: outer}
  tasks:
    - {task_id: a, operator: x.Y, task_group_name: inner}
    - {task_id: b, operator: x.Y, dependencies: [a]}
"""
    (dag,) = read_yaml_dags(text, "x.yml").dags
    assert [(task.task_id, task.groups, task.upstream) for task in dag.tasks] == [
        ("outer.inner.a", ("outer", "inner"), ()),
        ("b", (), ("outer.inner.a",)),
    ]
    assert dag.schedule == ""


@for_each("text", ["", "[1, 2]", "a: 1", "shop: {tasks: 3}", "plain", "default: {tasks: []}"])
def test_other_yaml_has_no_dags(text: str) -> None:
    read = read_yaml_dags(text, "x.yml")
    assert (read.dags, read.unreadable) == ((), {})


@pytest.mark.parametrize(
    ("text", "place"),
    [("shop:\n  tasks: [", "x.yml:3"), ("a: b: c", "x.yml:1"), ("{" * 20_000, "x.yml")],
)
def test_damaged_yaml_is_reported_with_its_line(text: str, place: str) -> None:
    read = read_yaml_dags(text, "x.yml")
    assert read.dags == ()
    assert list(read.unreadable.values()) == ["is not valid YAML"]
    assert next(iter(read.unreadable)).startswith(place)


@pytest.mark.parametrize(
    "tasks",
    [
        "[{task_id: a, dependencies: 3}]",
        "{a: null}",
        "[x, {y: 1}]",
        "[{task_id: 5, operator: [1]}]",
        "{a: {task_group_name: g, dependencies: [zz]}}",
    ],
)
def test_odd_tasks_do_not_stop_the_reader(tasks: str) -> None:
    (dag,) = read_yaml_dags(f"shop:\n  tasks: {tasks}", "x.yml").dags
    assert len(dag.tasks) <= 1


def test_no_code_in_a_file_is_run() -> None:
    text = "shop:\n  tasks:\n    a: {operator: !!python/object/apply:os.system ['exit 3']}"
    (dag,) = read_yaml_dags(text, "x.yml").dags
    assert dag.tasks[0].task_id == "a"
