"""Spark event logs -> accesses."""
