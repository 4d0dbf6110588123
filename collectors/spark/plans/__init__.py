"""Spark's plans: `sparkPlanInfo` and plan text of any version as trees, and what they compute.

`info` and `text` read the two forms in which a log holds a plan, `arguments` the lists and names
inside them, `expressions` one expression, and `columns` follows columns through a whole tree.
All of it takes time in proportion to the text and recurses on nothing; what cannot be read is
left out, and `columns` says so.
"""
