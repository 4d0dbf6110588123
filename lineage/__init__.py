"""The vocabulary of lineage and the graph that follows from it: pure Python, no I/O."""
