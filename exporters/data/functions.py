"""Table functions of queries: what is along edges, and the runs behind a run."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_graft.lineage.frozen import frozen


@frozen
class TableFunction:
    """A table function.

    Attributes:
        call: An example of a call.
        text: The rows that it gives.
        views: The views that it reads.
        sql: Makes it.
    """

    call: str
    text: str
    views: frozenset[str]
    sql: str


# A dataset is named as for `graft show`: whole, or by the end of its name, in any case. No rows
# would say that nothing is there: a name that no dataset has, or several have, is an error. DuckDB
# puts the argument in as it is written: a column `dataset` would be ours where ours is in scope.
_ALONG = """\
CREATE MACRO {function}(start) AS TABLE
WITH RECURSIVE ranked AS (
    SELECT candidate, CASE candidate WHEN start THEN 0
        ELSE 2 - (lower(candidate) = lower(start))::INT END AS nearness
    FROM (SELECT dataset AS candidate FROM datasets)
    WHERE ends_with('/' || lower(candidate), '/' || lower(start))
        OR ends_with(lower(candidate), '.' || lower(start))
), named AS (
    SELECT CASE count(*) WHEN 1 THEN any_value(candidate)
        WHEN 0 THEN error(start || ': there is no such dataset')
        ELSE error(start || ': ' || count(*) || ' datasets have this name: '
            || string_agg(candidate, ', ' ORDER BY candidate))
        END AS named_dataset
    FROM ranked WHERE nearness = (SELECT min(nearness) FROM ranked)
), found(dataset, distance) USING KEY (dataset) AS (
    SELECT DISTINCT {there} AS dataset, 1 AS distance
    FROM edges JOIN named ON named_dataset = {here}
    UNION
    SELECT {there} AS dataset, min(found.distance) + 1 AS distance
    FROM found JOIN edges ON {here} = found.dataset
    WHERE {there} NOT IN (SELECT dataset FROM recurring.found)
    GROUP BY {there}
)
SELECT dataset, distance FROM found ORDER BY distance, dataset
"""
_ALONG_VIEWS = frozenset({"edges", "datasets"})

# What a read saw was made by the write of its version; where no version tells, the newest write
# that was done when the read ended may have made it. What a run reads of its own is not of others.
# Who reads a view reads what it is made of.
_BEHIND = """\
CREATE MACRO runs_behind(run) AS TABLE
WITH RECURSIVE asked AS (
    SELECT CASE WHEN run IN (SELECT run_id FROM accesses)
        THEN run ELSE error(run || ': is no run that read or wrote anything') END AS asked_run
), moved AS (
    FROM accesses WHERE moves_data AND status <> 'failed' AND last_at IS NOT NULL
), views AS (
    SELECT to_dataset AS view, from_dataset AS base
    FROM edges JOIN datasets ON dataset = to_dataset WHERE kind = 'view' AND made_by <> 'task'
), bases AS (
    FROM views
    UNION
    SELECT bases.view, views.base FROM bases JOIN views ON views.view = bases.base
), reads AS (
    SELECT task, run_id, dataset, version_kind, version, last_at FROM moved
    WHERE direction = 'read' AND dataset NOT IN (SELECT view FROM views)
    UNION
    SELECT task, run_id, base, NULL, NULL, last_at
    FROM moved JOIN bases ON dataset = view
    WHERE direction = 'read' AND base NOT IN (SELECT view FROM views)
), writes AS (
    FROM moved WHERE direction = 'write'
), by_version AS (
    SELECT reads.task AS reader, reads.run_id AS reader_run, dataset, reads.version,
        writes.task, writes.run_id, 'version' AS known_by
    FROM reads JOIN writes USING (dataset, version_kind)
    WHERE writes.version = reads.version
), by_time AS (
    SELECT reads.task AS reader, reads.run_id AS reader_run, reads.dataset, reads.version,
        writes.task, writes.run_id, CASE WHEN writes.run_id IS NOT NULL THEN 'time' END AS known_by
    FROM (
        FROM reads WHERE (task, run_id, dataset, coalesce(version, '')) NOT IN (
            SELECT (reader, reader_run, dataset, version) FROM by_version
        )
    ) AS reads
    ASOF LEFT JOIN writes ON reads.dataset = writes.dataset AND reads.last_at >= writes.last_at
), makers AS (
    SELECT reader, reader_run, dataset, coalesce(version, '') AS version,
        coalesce(task, '') AS task, coalesce(run_id, '') AS run_id, min(known_by) AS known_by
    FROM (FROM by_version UNION ALL FROM by_time)
    WHERE (coalesce(task, ''), coalesce(run_id, '')) <> (reader, reader_run)
    GROUP BY ALL
), behind(distance, dataset, version, task, run_id, known_by)
USING KEY (dataset, version, task, run_id) AS (
    SELECT 1, dataset, version, makers.task, makers.run_id, min(known_by)
    FROM makers JOIN asked ON reader_run = asked_run GROUP BY ALL
    UNION
    SELECT min(distance) + 1, makers.dataset, makers.version, makers.task, makers.run_id,
        min(makers.known_by)
    FROM behind JOIN makers ON reader = behind.task AND reader_run = behind.run_id
    WHERE (makers.dataset, makers.version, makers.task, makers.run_id) NOT IN (
        SELECT (dataset, version, task, run_id) FROM recurring.behind
    )
    GROUP BY ALL
)
SELECT distance, dataset, nullif(version, '') AS version, nullif(task, '') AS task,
    nullif(run_id, '') AS run_id, known_by
FROM behind ORDER BY ALL
"""

FUNCTIONS: Mapping[str, TableFunction] = {
    "downstream_of": TableFunction(
        "downstream_of('raw.orders')",
        "The datasets downstream of one, each with its distance in edges.",
        _ALONG_VIEWS,
        _ALONG.format(
            function="downstream_of", here="edges.from_dataset", there="edges.to_dataset"
        ),
    ),
    "upstream_of": TableFunction(
        "upstream_of('raw.orders')",
        "The datasets upstream of one, each with its distance in edges.",
        _ALONG_VIEWS,
        _ALONG.format(function="upstream_of", here="edges.to_dataset", there="edges.from_dataset"),
    ),
    "runs_behind": TableFunction(
        "runs_behind('run-id')",
        "The runs that made what a run read, and so on: the version of each dataset, and whether "
        "a version tells it or the time of the last write before.",
        frozenset({"accesses", "datasets", "edges"}),
        _BEHIND,
    ),
}
