"""SQL text as captured -> statements, their shapes, the tables and columns they read and write.

Unwrap (calls that carry SQL in a string), strip literals, split (a batch into statements), scan
(tables, from tokens), tree (columns, where sqlglot parses the statement). `parse.parse` does all of
this; `parse.normalise` only the first two, cheap enough for every captured text, so that the rest
is done once for each distinct one.
"""
