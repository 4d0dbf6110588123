"""Files of Extended Events (`.xel`, SQL Server 2012 and later), read without SQL Server.

The layout is not published; the docstrings of `blocks` (the file and its blocks), `metadata` (ids
and columns) and `decode` (the events) describe it as far as it is known.
"""
