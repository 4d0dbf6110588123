"""Reasons of gaps in logs of Spark, apart from the readers of plans, which take long to import."""

from __future__ import annotations

PLAN_CUT = "the plan is truncated: raise spark.sql.debug.maxToStringFields"
PLAN_SHORT = "the plan's text ends early: raise spark.sql.maxPlanStringLength"
# Spark left out some of a scan's paths.
PATHS_CUT = "the list of paths is truncated: raise spark.sql.maxMetadataStringLength"
# The namespace of tables of a database whose address the log does not show.
UNKNOWN_DATABASE = "jdbc"
