"""Logs in, lineage store out: one folder a source, as PySpark jobs."""
