"""Files of Extended Events (`.xel`, SQL Server 2012 and later), read without SQL Server.

The layout is not published; what is known of it stands in the docstrings of `blocks` (the file and
its blocks), `metadata` (what ids and columns mean) and `decode` (the events themselves).
"""
