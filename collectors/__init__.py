"""Logs in, lineage store out: one folder a source, as PySpark jobs."""

from dbt_graft.collectors.debug import start_logging

# Spark's workers have no other moment: they import what a job needs and run it.
start_logging()
