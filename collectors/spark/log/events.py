"""Bodies of events: the fields that lineage needs of each event class.

SQL text of statements without literals, where a log has it.

`spark.sql("…")` leaves no text in the log; statements of two servers do:

| server | place of the text |
|---|---|
| Thrift Server | the description of the executions that a statement's operation starts |
| Spark Connect | `SparkListenerConnectOperationStarted`, a request as protobuf text, by job tag |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import orjson

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.spark.gap_reasons import RDD_READ, RDD_WRITTEN, ROWS_IN_CODE
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.time_limit import run_limited
from dbt_graft.lineage.dates.argument_dates import argument_interval

_THRIFT_OPERATION = "thriftserver.SparkExecuteStatementOperation"
# The start of a request that is one statement; in others SQL is only a part.
_REQUEST = re.compile(
    r'sql_command \{[^"]*?\b(?:query|sql): "(?P<sql>(?:[^"\\]|\\.)*)(?:"|\Z)', re.S
)
# Spark cuts a long text.
_CUT = re.compile(r"\[truncated\(size=\d+\)\]\Z")
_ESCAPE = re.compile(r"\\(?:(?P<octal>[0-7]{1,3})|(?P<sign>.))", re.DOTALL)
_SIGNS: Mapping[str, str] = {"n": "\n", "r": "\r", "t": "\t"}


def thrift_sql(description: str, details: str) -> str:
    """Return the statement of a Thrift Server execution; empty for other executions.

    Args:
        details: The call stack of the execution.
    """
    if _THRIFT_OPERATION not in details:
        return ""
    return run_limited(normalise, description, Dialect.SPARK)


def connect_sql(request: str) -> str:
    """Return the statement of a Spark Connect request; empty for other requests."""
    match = _REQUEST.match(request)
    if not match:
        return ""
    return run_limited(normalise, _CUT.sub("", _unescape(match["sql"])), Dialect.SPARK)


def _unescape(text: str) -> str:
    """Decode a string of protobuf's text format: UTF-8, bytes beyond ASCII as octal numbers.

    https://protobuf.dev/reference/protobuf/textformat-spec/#string
    """
    pieces: list[bytes] = []
    end = 0
    for escape in _ESCAPE.finditer(text):
        pieces.append(text[end : escape.start()].encode())
        if octal := escape["octal"]:
            pieces.append(bytes([int(octal, 8) & 0xFF]))
        else:
            pieces.append(_SIGNS.get(escape["sign"], escape["sign"]).encode())
        end = escape.end()
    pieces.append(text[end:].encode())
    return b"".join(pieces).decode(errors="replace")


Body = dict[str, Any]
# Rows and bytes that tasks put out.
_WRITTEN = "internal.metrics.output.recordsWritten"
_BYTES_WRITTEN = "internal.metrics.output.bytesWritten"
_CATALOGS = "spark.sql.catalog."
_OF_HADOOP = "spark.hadoop."
_HDFS = re.compile(r"fs\.defaultFS|dfs\.namenode\.(?:service)?rpc-address(?:\.[^.]+\.[^.]+)?")
# Settings by which Airflow's tasks hand their date on.
_LOGICAL_DATES = ("logical_date", "execution_date")
# Properties of jobs on Databricks that name the work.
_WORK = ("spark.databricks.notebook.path", "spark.databricks.job.id")
# Calls that name their RDD by the path that they read.
_FILE_CALLS = words("""
    binaryFiles binaryRecords hadoopFile newAPIHadoopFile objectFile sequenceFile textFile
    wholeTextFiles""")
# Calls that read what a setting of Hadoop names, and RDDs of connectors that know their source.
_FORMAT_CALLS = words("hadoopRDD newAPIHadoopRDD")
_FORMAT_RDDS = words("HadoopRDD NewHadoopRDD JdbcRDD KafkaRDD")
# Actions of RDDs that write files, by the start of their names, and those that only run code.
_SCOPE_OF_ACTION = re.compile(r'"name":"(\w+)"')
_SAVES = "saveAs"
_ON_ROWS = words("foreach foreachAsync foreachPartition foreachPartitionAsync")
# What libraries of Spark run for themselves; and a connector's own code on rows.
_OF_SPARK = re.compile(
    r"\A(?:(?:org\.apache\.spark|scala)\.[^\n]*\n)*?org\.apache\.spark\.(?:graphx|ml|mllib)\."
)
_RUN_JOB = re.compile(
    r"\A(?:org\.apache\.spark\.SparkContext\.runJob\([^\n]*\n)+(?!org\.apache\.spark\.|scala\.)."
)
_COMMAND = "sun.java.command"
_DRIVER = re.compile(r"org\.apache\.spark\.deploy\.[\w.$]+")
_FILE = re.compile(r"(?:.*[/\\])?(?P<name>[^/\\#]+\.(?:py|R))(?:#.*)?")
_MAIN_OPTIONS = frozenset({"--primary-py-file", "--primary-r-file"})
# Options without a value.
_FLAGS = frozenset({"--supervise", "--verbose", "-v"})
_DISTRIBUTED = "spark.yarn.dist.files"
_LONGEST = 20_000


def _fields(*keys: str) -> Callable[[Body], Body]:
    def read(event: Body) -> Body:
        return {key: event[key] for key in keys if key in event}

    return read


def _environment(event: Body) -> Body:
    spark: Mapping[str, str] = event["Spark Properties"]
    of_hadoop = {
        k.removeprefix(_OF_HADOOP): v for k, v in spark.items() if k.startswith(_OF_HADOOP)
    }
    hadoop = {**event.get("Hadoop Properties", {}), **of_hadoop}
    return {
        "warehouse": spark.get("spark.sql.warehouse.dir", ""),
        "settings": dict(spark),
        "interval": _interval(event.get("System Properties") or {}, spark),
        "main_file": main_file(event.get("System Properties") or {}, spark),
        "hdfs": {key: value for key, value in hadoop.items() if _HDFS.fullmatch(key)},
    }


def _interval(system: Mapping[str, str], spark: Mapping[str, str]) -> list[str]:
    """The days that the task was started for: of its arguments nothing else is taken."""
    texts = (system.get("sun.java.command"), spark.get("spark.app.name"))
    interval = next((at for text in texts if text and (at := argument_interval(text))), None)
    if interval is None:
        dates = (spark.get(f"spark.airflow.ctx.{key}") for key in _LOGICAL_DATES)
        interval = next((at for date in dates if date and (at := argument_interval(date))), None)
    return [at.isoformat() for at in interval or ()]


_EXECUTION = _fields(
    *("executionId", "rootExecutionId", "description", "time"),
    *("details", "jobGroupId", "jobTags", "physicalPlanDescription", "sparkPlanInfo"),
)


def _execution_start(event: Body) -> Body:
    body = _EXECUTION(event)
    settings = event.get("modifiedConfigs") or {}
    if catalogs := {key: settings[key] for key in settings if key.startswith(_CATALOGS)}:
        body["catalogs"] = catalogs
    body["sql"] = thrift_sql(event.get("description") or "", event.get("details") or "")
    return body


def _request(event: Body) -> Body | None:
    sql = connect_sql(event["statementText"])
    return {"tag": event["jobTag"], "sql": sql} if sql else None


def _job_start(event: Body) -> Body:
    properties = event.get("Properties") or {}
    execution = properties.get("spark.sql.execution.id")
    last = max(event.get("Stage Infos") or [{}], key=lambda stage: stage.get("Stage ID", -1))
    body: Body = {
        "job": event.get("Job ID", -1),
        "rdds": list(_rdds(event)),
        "gaps": list(_gaps(event, properties, str(last.get("Details") or ""))),
        "group": properties.get("spark.jobGroup.id") or "",
    }
    if work := {key: str(properties[key]) for key in _WORK if properties.get(key)}:
        body["work"] = work
    if not execution:
        names = properties.get("spark.job.description"), last.get("Stage Name")
        body["description"] = str(next(filter(None, names), ""))
        body |= {"time": event.get("Submission Time"), "details": str(last.get("Details") or "")}
    else:
        body |= {"execution": int(execution), "stages": event["Stage IDs"]}
    return body


def _gaps(event: Body, properties: Body, details: str) -> Iterator[tuple[str, str]]:
    """Reasons why a job may touch more than the log names, each with the file that calls it."""
    # PySpark runs the actions of its own as others.
    action = str(properties.get("callSite.short") or "").partition(" at ")[0]
    if action not in _ON_ROWS:
        scope = _SCOPE_OF_ACTION.search(str(properties.get("spark.rdd.scope") or ""))
        action = scope[1] if scope else ""
    if action.startswith(_SAVES):
        yield RDD_WRITTEN, _file_of_call(event, action)
    elif (action in _ON_ROWS and not _OF_SPARK.match(details)) or _RUN_JOB.match(details):
        yield ROWS_IN_CODE, ""
    if any(_reads_unnamed(rdd) for stage in event.get("Stage Infos", ()) for rdd in _infos(stage)):
        yield RDD_READ, ""


def _infos(stage: Body) -> Iterable[Body]:
    return cast("Iterable[Body]", stage.get("RDD Info", ()))


def _file_of_call(event: Body, action: str) -> str:
    """`ReadWrite.scala`, where an action that is not PySpark's was called."""
    sites = (
        rdd.get("Callsite") or "" for stage in event.get("Stage Infos", ()) for rdd in _infos(stage)
    )
    called = (site for site in sites if site.startswith(f"{action} at "))
    return next(called, "").rpartition(" at ")[2].rpartition(":")[0]


def _reads_unnamed(rdd: Body) -> bool:
    if rdd.get("Parent IDs") or _source(rdd):
        return False
    return _call(rdd.get("Scope") or "") in _FORMAT_CALLS or rdd.get("Name") in _FORMAT_RDDS


def _rdds(event: Body) -> Iterator[tuple[int, str, list[int]]]:
    """Yield the id of each RDD, the source that it reads (or an empty text), and its parents."""
    for stage in event.get("Stage Infos", ()):
        for rdd in _infos(stage):
            yield rdd["RDD ID"], _source(rdd), rdd.get("Parent IDs", [])


def _source(rdd: Body) -> str:
    """The scan that an RDD runs, by its scope, or the path that it is named by."""
    scope = rdd.get("Scope") or ""
    call = _call(scope)
    if "Scan" in call.partition(" ")[0] and not call.endswith("InMemoryTableScan"):
        return call
    name: str = rdd.get("Name") or ""
    # Before Spark 1.4 the call is not in the log; and users can name any RDD.
    reads_files = call in _FILE_CALLS if scope else "/" in name
    is_first = not rdd.get("Parent IDs") and not name.endswith("RDD")
    return name if reads_files and ("/" in name or is_first) else ""


def _call(scope: str) -> str:
    """The call, or the operator, in a scope of RDDs."""
    return str(orjson.loads(scope)["name"]) if '"name":"' in scope else ""


def _stage_completed(event: Body) -> Body | None:
    stage = event["Stage Info"]
    metrics = [
        (metric["ID"], int(metric["Value"]))
        for metric in stage.get("Accumulables", ())
        if metric.get("Metadata") == "sql" and str(metric.get("Value")).isdigit()
    ]
    written, written_bytes = (
        sum(
            int(metric["Value"])
            for metric in stage.get("Accumulables", ())
            if metric.get("Name") == name and str(metric.get("Value")).isdigit()
        )
        for name in (_WRITTEN, _BYTES_WRITTEN)
    )
    if not (metrics or written):
        return None
    counted = {"written": written, "written_bytes": written_bytes}
    return {"stage": stage["Stage ID"], "metrics": metrics, **counted}


def _job_end(event: Body) -> Body:
    result = event["Job Result"]
    failed = result["Result"] != "JobSucceeded"
    message = (result.get("Exception") or {}).get("Message") or "failed"
    error = message if failed else ""
    return {"job": event["Job ID"], "error": error, "time": event.get("Completion Time")}


def _progress(event: Body) -> Body:
    """A batch of a streaming query: its sources and its sink."""
    progress = event["progress"]
    if isinstance(progress, str):
        progress = orjson.loads(progress)
    times = progress.get("eventTime") or {}
    return {
        "run": progress["runId"],
        "number": progress.get("batchId", 0),
        "time": progress["timestamp"],
        "sources": [
            (source["description"], source.get("numInputRows")) for source in progress["sources"]
        ],
        "sink": progress["sink"]["description"],
        "rows": progress["sink"].get("numOutputRows"),
        "offsets": [
            (_offset(source.get("startOffset")), _offset(source.get("endOffset")))
            for source in progress["sources"]
        ],
        "event_times": [str(times[key]) for key in ("min", "max") if key in times],
    }


def _offset(offset: Any) -> str:
    """An offset as its source writes it: most are JSON within JSON."""
    if offset is None or isinstance(offset, str):
        return offset or ""
    return orjson.dumps(offset).decode()


def _partitions(event: Body) -> Body:
    named = [[(str(k), str(v)) for k, v in spec.items()] for spec in event.get("partSpecs", ())]
    return {"table": f"{event['database']}.{event['name']}", "partitions": named}


READERS: Mapping[str, Callable[[Body], Body | None]] = {
    "SparkListenerLogStart": _fields("Spark Version"),
    "DBCEventLoggingListenerMetadata": _fields("Spark Version"),
    "SparkListenerApplicationStart": _fields("App Name", "App ID", "App Attempt ID", "Timestamp"),
    "SparkListenerApplicationEnd": _fields("Timestamp", "ExitCode"),
    "SparkListenerEnvironmentUpdate": _environment,
    "SparkListenerJobStart": _job_start,
    "SparkListenerJobEnd": _job_end,
    "SparkListenerStageCompleted": _stage_completed,
    "SparkListenerSQLExecutionStart": _execution_start,
    "SparkListenerSQLAdaptiveExecutionUpdate": _fields("executionId", "sparkPlanInfo"),
    "SparkListenerDriverAccumUpdates": _fields("executionId", "accumUpdates"),
    "SparkListenerSQLExecutionEnd": _fields("executionId", "time", "errorMessage"),
    "StreamingQueryListener$QueryProgressEvent": _progress,
    "StreamingQueryListener$QueryTerminatedEvent": lambda event: {
        "run": event["runId"],
        "failed": event.get("exception") is not None,
    },
    "DropTableEvent": _fields("database", "name"),
    "CreatePartitionsEvent": _partitions,
    "SparkListenerConnectOperationStarted": _request,
}


def main_file(system: Mapping[str, str], spark: Mapping[str, str]) -> str:
    """The name of an application's main file, without its folder; empty where none is known."""
    driver, *words = str(system.get(_COMMAND) or "")[:_LONGEST].split() or [""]
    names = list(_main_files(words)) if _DRIVER.fullmatch(driver) else []
    if not names:
        files = (_FILE.fullmatch(file.strip()) for file in spark.get(_DISTRIBUTED, "").split(","))
        names = [file["name"] for file in files if file]
    return names[0] if len(names) == 1 else ""


def _main_files(words: list[str]) -> Iterator[str]:
    """The main file of a command; what follows it are the file's own arguments."""
    option = ""
    for word in words:
        file = _FILE.fullmatch(word)
        if file and (not option or option in _MAIN_OPTIONS):
            yield file["name"]
            return
        is_option = word.startswith("-") and "=" not in word and word not in _FLAGS
        option = word if is_option else ""
