"""Impact: what a change of a dataset or a column does to all that is downstream."""
