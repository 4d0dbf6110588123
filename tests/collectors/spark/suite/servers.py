"""Statements that clients send to Spark's Thrift Server, started inside of the application."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.collectors.spark.suite.case import Instead, case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PORT = "hive.server2.thrift.port"
SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)


@case(
    "CREATE TABLE AS ml.thrift 3 <- raw.customers 3",
    "SELECT <- ml.thrift 3",
    columns="id <- raw.customers.id\nloud <- raw.customers.name TRANSFORMATION",
    older={
        (3, 1): Instead(
            ("2 x CREATE TABLE AS ml.thrift 3 <- raw.customers 3", "SELECT <- ml.thrift 3")
        )
    },
)
def thrift_server(spark: SparkSession, _: Path) -> None:
    port = int(spark.sparkContext.getConf().get(f"spark.hadoop.{PORT}"))
    java = spark.sparkContext._jvm
    server = java.java.lang.Class.forName(SERVER)
    start = next(m for m in server.getMethods() if m.getName() == "startWithContext")
    running = start.invoke(None, _array(spark, spark._jsparkSession.sqlContext()))
    try:
        _wait_for(port)
        url = f"jdbc:hive2://127.0.0.1:{port}/default"
        connection = java.java.sql.DriverManager.getConnection(url, "someone", "")
        statement = connection.createStatement()
        # The statement is the description of the jobs that it runs.
        name = "/* thrift_server */"
        statement.execute(
            f"{name} CREATE TABLE ml.thrift USING parquet AS "
            "SELECT id, upper(name) AS loud FROM raw.customers"
        )
        statement.executeQuery(f"{name} SELECT * FROM ml.thrift").next()
        connection.close()
    finally:
        running.stop()


def _array(spark: SparkSession, *items: object) -> object:
    gateway = spark.sparkContext._gateway
    array = gateway.new_array(gateway.jvm.java.lang.Object, len(items))
    for at, item in enumerate(items):
        array[at] = item
    return array
