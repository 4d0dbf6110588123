"""Files with Extended Events of any form -> their events."""
