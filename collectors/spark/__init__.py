"""The collector of Spark event logs: what applications read and wrote.

`source` is the door. `log` finds the files of each application and decodes the events that lineage
needs, `plans` parses the plans in them, `sources` resolves the datasets that plans read and write,
`application` turns events into executions and statements, and `store` makes records of these.
`collect` runs all of this as a Spark job, `worker` is its part on executors.
"""
