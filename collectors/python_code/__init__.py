"""Python scripts -> the columns that their data frames and cursors carry from read to write.

The source is read, never imported and never run.
"""
