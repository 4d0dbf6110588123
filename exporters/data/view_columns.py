"""Columns that several views have, by the same name and meaning the same: views join by them."""

from __future__ import annotations

from dbt_graft.exporters.data.view import ViewColumn, ViewType

TEXT, TEXTS, NUMBER = ViewType.TEXT, ViewType.TEXTS, ViewType.NUMBER
FLAG, TIME, SECONDS = ViewType.FLAG, ViewType.TIME, ViewType.SECONDS

DATASET = ViewColumn("dataset", TEXT, "namespace and name as one text: `spark/raw.orders`")
TASK = ViewColumn("task", TEXT, "the name of the task")
PAGE = ViewColumn("page", TEXT, "its page, from the root of the site")
EVIDENCE = ViewColumn(
    "evidence", TEXT, "`observed` in a log, in the `code`, `declared` or `inferred`"
)
FIRST = ViewColumn("first_at", TIME, "the first time that it was seen")
LAST = ViewColumn("last_at", TIME, "the last time that it was seen")
STARTED = ViewColumn("started_at", TIME, "its start")
ENDED = ViewColumn("ended_at", TIME, "its end")
TOOK = ViewColumn("seconds", SECONDS, "from start to end")
STATUS = ViewColumn("status", TEXT, "`ok`, `failed` or `unknown`")
OWNER = ViewColumn("owner", TEXT, "its owner")
TAGS = ViewColumn("tags", TEXTS, "its tags")
DESCRIPTION = ViewColumn("description", TEXT, "its description, in Markdown")
LABEL = ViewColumn("sensitivity", TEXT, "what tags and `meta` name it: `PII`, `confidential`")
