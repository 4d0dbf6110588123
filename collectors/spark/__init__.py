"""Spark event logs -> accesses: what applications read and wrote, from the history Spark keeps.

`log` finds each application's files and decodes the few events that matter, `plans` reads the
plans in them, `sources` names the datasets that plans read and write, `application` puts events
together to executions and statements, and `store` makes the store's rows of these. `collect` is
the door: it runs all of this on Spark.
"""
