"""Pokes of the sensor, run by Airflow's Python: prints what each of them returned or raised."""

SCRIPT = """
import json, sys
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from graft_airflow import LineageSensor

NIGHT = datetime(2026, 11, 22, 3, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
CONTEXTS = {
    "interval": {"data_interval_start": NIGHT - HOUR},
    "later interval": {"data_interval_start": NIGHT + HOUR},
    "at once": {"data_interval_start": NIGHT},
    "logical date": {"data_interval_start": None, "logical_date": NIGHT + HOUR},
    "run after": {"dag_run": SimpleNamespace(run_after=NIGHT - HOUR)},
    "nothing": {},
}
POKES = {
    "written since": ("interval", {}),
    "written before": ("later interval", {}),
    "written at that time": ("at once", {}),
    "within the lookback": ("later interval", {"lookback": 2 * HOUR}),
    "by the logical date": ("logical date", {}),
    "by the time of the run": ("run after", {}),
    "without any time": ("nothing", {}),
    "since a time": ("nothing", {"since": "2026-11-22T02:00:00Z"}),
    "since a later time": ("nothing", {"since": NIGHT + HOUR}),
    "since no time": ("nothing", {"since": "yesterday"}),
    "never written": ("interval", {"dataset": "Shop.dbo.Orders"}),
    "not there": ("interval", {"dataset": "raw.nobody"}),
    "two of the name": ("interval", {"dataset": "orders"}),
    "no file": ("interval", {"graft_file": "/nowhere/lineage.json"}),
}
found = {}
for name, (context, options) in POKES.items():
    sensor = LineageSensor(task_id="wait", **{"dataset": "raw.orders", **options})
    try:
        found[name] = sensor.poke(CONTEXTS[context])
    except ValueError as error:
        found[name] = str(error)
found["template fields"] = list(LineageSensor.template_fields)
print("FOUND" + json.dumps(found))
"""
