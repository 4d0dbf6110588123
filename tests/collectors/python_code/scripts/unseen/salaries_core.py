# lineage
# dw.salaries = dbo.employees: employee_id
# dw.salaries.band <- dbo.employees.salary: conditional
# dw.salaries.budget_share <- dbo.employees.salary, dbo.departments.budget: transformation
# dw.salaries.* <- dbo.employees.department, dbo.departments.department: join
from sqlalchemy import create_engine, text

engine = create_engine("mssql+pyodbc://hr")

with engine.begin() as conn:
    result = conn.execute(
        text(
            "SELECT e.employee_id, e.salary, d.budget FROM dbo.employees e "
            "JOIN dbo.departments d ON d.department = e.department"
        )
    )
    rows = []
    for r in result:
        if r.salary > 1000:
            band = "high"
        else:
            band = "low"
        rows.append(dict(employee_id=r.employee_id, band=band, budget_share=round(r.salary / r.budget, 4)))
    conn.execute(
        text("INSERT INTO dw.salaries (employee_id, band, budget_share) VALUES (:employee_id, :band, :budget_share)"),
        rows,
    )
