"""Reasons of gaps in logs of Spark, apart from the readers of plans, which take long to import."""

from __future__ import annotations

PLAN_CUT = "the plan is truncated: raise spark.sql.debug.maxToStringFields"
PLAN_SHORT = "the plan's text ends early: raise spark.sql.maxPlanStringLength"
# Spark left out some of a scan's paths.
PATHS_CUT = "the list of paths is truncated: raise spark.sql.maxMetadataStringLength"
# The namespace of tables of a database whose address the log does not show.
UNKNOWN_DATABASE = "jdbc"
RDD_FILES = "the log does not name the files behind an RDD"
RDD_COLUMNS = "the plan does not show of which RDD its columns are"
# Of these, inputs are missing.
OF_INPUTS = (PATHS_CUT, RDD_FILES)
# What a job may touch beyond what the log shows.
RDD_WRITTEN = "where an RDD is written to is not in the log"
RDD_READ = "what an RDD reads by its input format is not in the log"
ROWS_IN_CODE = "what code does with rows (foreach, foreachBatch and the like) is not known"
SINK_NOT_NAMED = "what a stream writes into is not in the log"
