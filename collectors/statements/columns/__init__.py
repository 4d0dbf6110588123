"""The column edges of a statement, found in its syntax tree."""
