"""Files with Extended Events, of whatever form -> their events."""
