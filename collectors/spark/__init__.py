"""Spark event logs -> accesses: what applications read and wrote, from the history Spark keeps.

The road: `logs` finds the files of each application, `decode` takes the few events that matter
out of them, `replay` puts these together to executions with their plans and metrics,
`statements` says what each execution read and wrote, `rows` makes the store's rows of it, and
`collect` runs all of this on Spark.
"""
