"""SQL Server Extended Events -> accesses: what each task's sessions read and wrote.

The road: `exports` tells which files can be read and how, `pieces` cuts them, `events` takes the
captured events out, `parsed` turns their distinct statements into tables with full `names`, `usage`
assigns them to runs, and `collect` makes the store's tables of it, all on Spark.
"""
