"""Datasets that plans read and write: files, tables, JDBC, connectors, RDDs."""
