"""Data contracts of the Open Data Contract Standard (ODCS) -> records."""
