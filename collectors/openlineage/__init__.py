"""Events of OpenLineage: files with one JSON a line, one event a file, or arrays of them.

`files` lists what is new, `lines` reads it, `event` checks an event, `jobs`, `datasets`, `columns`,
`groups` and `checks` understand its parts, `fragment` makes records of the events of a run.
`worker` does so on Spark's executors, `collect` is the job, and `source` the door.
"""
