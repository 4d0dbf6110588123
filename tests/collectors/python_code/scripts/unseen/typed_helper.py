# lineage
# dw.staff_costs = dbo.employees: name, department as team
# dw.staff_costs.monthly <- dbo.employees.salary: transformation
# dw.staff_costs.budget_left <- dbo.employees.salary: aggregation
# dw.staff_costs.budget_left <- dbo.departments.budget: transformation
# dw.staff_costs.budget_left <- dbo.employees.department: window
# dw.staff_costs.* <- dbo.employees.department, dbo.departments.department: join
from __future__ import annotations

from typing import Any

import pandas as pd
from sqlalchemy import create_engine
from sqlalchemy.engine import Engine


def read(engine: Engine, table: str, **columns: str) -> pd.DataFrame:
    names = ", ".join(f"{source} AS {target}" for target, source in columns.items())
    return pd.read_sql(f"SELECT {names} FROM {table}", engine)


def with_costs(frame: pd.DataFrame, *, months: int = 12) -> pd.DataFrame:
    return frame.assign(
        monthly=lambda f: (f["salary"] / months).round(2),
        budget_left=lambda f: f["budget"] - f.groupby("team")["salary"].transform("sum"),
    )


def write(frame: pd.DataFrame, engine: Engine, **options: Any) -> None:
    options = {"if_exists": "replace", "index": False, **options}
    frame.to_sql("staff_costs", engine, **options)


engine = create_engine("mssql+pyodbc://hr")
staff = read(engine, "dbo.employees", name="name", team="department", salary="salary")
teams = read(engine, "dbo.departments", team="department", budget="budget")
write(with_costs(staff.merge(teams, on="team"))[["name", "team", "monthly", "budget_left"]], engine, schema="dw")
