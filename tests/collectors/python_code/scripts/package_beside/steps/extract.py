import pandas as pd


def extract(engine) -> dict:
    return {
        "employees": pd.read_sql("SELECT employee_id, name, department, salary FROM dbo.employees", engine),
        "departments": pd.read_sql("SELECT department, cost_centre FROM dbo.departments", engine),
    }
