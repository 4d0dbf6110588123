"""Folds of the store: many runs in few rows, made on Spark or in this process."""
