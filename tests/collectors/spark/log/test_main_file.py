"""A script without a name is called as its main file, where the log of its start shows that."""

from __future__ import annotations

from dbt_graft.collectors.spark.log.events import main_file
from tests.cases import for_each

SUBMIT = "org.apache.spark.deploy.SparkSubmit"


@for_each(
    "command, file",
    [
        (f"{SUBMIT} --master yarn /opt/jobs/load_orders.py --date 2026-11-25", "load_orders.py"),
        (f"{SUBMIT} --py-files a.py,b.py --verbose load_orders.py other.py", "load_orders.py"),
        (f"{SUBMIT} --conf spark.x=1 --name a.py s3://jobs/load_orders.py", "load_orders.py"),
        (
            "org.apache.spark.deploy.yarn.ApplicationMaster "
            "--class org.apache.spark.deploy.PythonRunner --primary-py-file load_orders.py --arg x",
            "load_orders.py",
        ),
        (r"org.apache.spark.deploy.SparkSubmit C:\jobs\load_orders.py", "load_orders.py"),
        # `python load_orders.py`
        (f"{SUBMIT} --conf spark.sql.shuffle.partitions=2 pyspark-shell", ""),
        ("org.jetbrains.Launcher /opt/jobs/load_orders.py", ""),
        ("", ""),
    ],
)
def test_a_command_names_the_script(command: str, file: str) -> None:
    assert main_file({"sun.java.command": command}, {}) == file


@for_each(
    "settings, file",
    [
        ({"spark.yarn.dist.files": "hdfs:///jobs/load_orders.py,hdfs:///x.yml"}, "load_orders.py"),
        ({"spark.yarn.dist.files": "file:/jobs/load_orders.py#main.py"}, "load_orders.py"),
        ({"spark.yarn.dist.files": "a.py,b.py"}, ""),
        # Modules that several scripts import.
        ({"spark.submit.pyFiles": "/jobs/common.py"}, ""),
        ({"spark.yarn.dist.pyFiles": "/jobs/common.py"}, ""),
        ({}, ""),
    ],
)
def test_what_yarn_copies_to_the_driver_names_the_script(
    settings: dict[str, str], file: str
) -> None:
    assert main_file({}, settings) == file
