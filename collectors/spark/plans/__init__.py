"""Spark's plans: `sparkPlanInfo` and plan text of any version as trees, and their column lineage.

`tree` and `text` parse the two forms in which a log has a plan, `arguments` the lists and names
in them, `expressions` one expression, and `operators` follows columns through a tree. All of it
takes time in proportion to the text and does not recurse. Text that cannot be parsed is left out,
and a gap in `columns.ColumnTrace` has the reason.
"""
