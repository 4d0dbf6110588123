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


# As the Airflow of that version has it, with dag-factory 1.1.
@for_each(
    "keys, in_airflow_2, in_airflow_3",
    [
        ("", "1 day, 0:00:00", ""),
        ("schedule: null", "1 day, 0:00:00", ""),
        ("schedule: None", "", ""),
        ("schedule: none", "", ""),
        ("schedule: '@once'", "", ""),
        ("schedule: '0 3 * * *'", "0 3 * * *", "0 3 * * *"),
        ("schedule: ['s3://lake/orders']", "", ""),
        ("timetable: {callable: x.Nightly}", "its timetable", "its timetable"),
    ],
)
def test_a_dag_without_a_schedule_runs_daily_in_airflow_2_and_never_in_3(
    keys: str, in_airflow_2: str, in_airflow_3: str
) -> None:
    text = f"shop:\n  tasks: {{a: {{}}}}\n  {keys}\n"
    for version, schedule in ((2, in_airflow_2), (3, in_airflow_3)):
        (dag,) = read_yaml_dags(text, "x.yml", version=version).dags
        assert dag.schedule == schedule, version


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


def test_a_task_waits_for_those_whose_results_it_takes() -> None:
    text = """
shop:
  tasks:
    numbers: {decorator: airflow.sdk.task, python_callable: x.numbers}
    double: {decorator: airflow.sdk.task, python_callable: x.double, number: +numbers}
    one: {decorator: airflow.sdk.task, python_callable: x.f, value: '+numbers["one"]'}
    each: {decorator: airflow.sdk.task, expand: {a: +numbers}, partial: {b: +double, c: +no_task}}
    shell: {operator: x.Bash, bash_command: +numbers, expand: {env: double.output}}
    other: {operator: x.Bash, expand: {env: XcomArg(numbers), uri: 's3://a.output'}}
    both: {decorator: x.y, dependencies: [numbers], value: +numbers, word: a + numbers}
"""
    (dag,) = read_yaml_dags(text, "x.yml").dags
    assert {task.task_id: set(task.upstream) for task in dag.tasks} == {
        "numbers": set(),
        "double": {"numbers"},
        "one": {"numbers"},
        "each": {"numbers", "double"},
        "shell": {"double"},
        "other": {"numbers"},
        "both": {"numbers"},
    }


def test_a_dag_has_what_defaults_of_folders_have_the_nearest_first() -> None:
    text = """
default: {schedule: '@once'}
ours: {tasks: {a: {}}}
theirs: {schedule: '@daily', tasks: {}}
"""
    defaults = ["schedule: '@weekly'\ntasks: {b: {}}", "schedule: '@hourly'", "schedule: [", "- x"]
    read = read_yaml_dags(text, "dags/team/shop.yml", defaults=defaults)
    dags = {dag.dag_id: (dag.schedule, [task.task_id for task in dag.tasks]) for dag in read.dags}
    assert dags == {"ours": ("@hourly", ["a"]), "theirs": ("@daily", [])}


def test_a_dag_has_what_the_default_has_and_it_has_not() -> None:
    text = """
default:
  schedule: '@daily'
  task_groups: {load: {}}
  tasks:
    extract: {operator: x.Bash, task_group_name: load}
    publish: {operator: x.Bash, dependencies: [extract]}
ours: {}
theirs:
  schedule: None
  tasks:
    publish: {bash_command: echo theirs}
    report: {operator: x.Bash, dependencies: [publish]}
listed:
  tasks: [{task_id: alone, operator: x.Bash}]
"""
    dags = {dag.dag_id: dag for dag in read_yaml_dags(text, "x.yml").dags}
    order = {
        name: {task.task_id: task.upstream for task in dag.tasks} for name, dag in dags.items()
    }
    shared = {"load.extract": (), "publish": ("load.extract",)}
    assert order == {
        "ours": shared,
        "theirs": shared | {"report": ("publish",)},
        "listed": {"alone": ()},
    }
    assert [dag.schedule for dag in dags.values()] == ["@daily", "", "@daily"]


@pytest.mark.parametrize(
    ("schedule", "clock", "assets"),
    [
        ("schedule_interval: '@daily'", "@daily", ()),
        ("schedule: {datasets: '(s3://a/b & s3://c)'}", "", ("s3://a/b", "s3://c")),
        ("schedule: {datasets: '((s3://a & s3://b) | s3://c)'}", "", ()),
        ("schedule: {datasets: '(s3://a & s3://b)', timetable: {cron: x}}", "its timetable", ()),
        ("schedule: {file: x.yml, datasets: [one, two]}", "", ()),
        ("schedule: {datasets: [s3://a, s3://b]}", "", ("s3://a", "s3://b")),
        ("schedule: {datasets: {__or__: [{__and__: [s3://a, s3://b]}, s3://c]}}", "", ()),
        (
            "schedule: {__type__: x.AssetOrTimeSchedule, timetable: {}, assets: [s3://a]}",
            *("its timetable", ()),
        ),
        ("schedule: {__type__: datetime.timedelta, hours: 1}", "its timetable", ()),
    ],
)
def test_the_start_of_a_dag(schedule: str, clock: str, assets: tuple[str, ...]) -> None:
    text = f"shop:\n  {schedule}\n  tasks: {{a: {{operator: x.Bash}}}}"
    (dag,) = read_yaml_dags(text, "x.yml").dags
    assert (dag.schedule, dag.assets) == (clock, assets)
