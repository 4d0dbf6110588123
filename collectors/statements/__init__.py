"""SQL text as captured -> statements, their shapes, the tables and columns they read and write.

unwrap (calls that carry SQL in a string) -> fold (literals out) -> split (one batch, many
statements) -> scan (tables, from tokens) -> tree (columns, where sqlglot has one). `parse.parse`
walks that road; `parse.normalise` is its first half, cheap enough for every captured text, so
that the rest is done once a distinct text.
"""
