"""The datasets that a plan reads and writes: files, tables, JDBC, connectors, RDDs."""
