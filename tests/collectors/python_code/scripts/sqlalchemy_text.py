# lineage
# dw.pay = dbo.employees: employee_id as id, department as dept
# dw.pay.yearly <- dbo.employees.salary: transformation
# dw.pay.* <- dbo.employees.department: filter
from sqlalchemy import create_engine, text

engine = create_engine("mssql+pyodbc://hr")
read = text("SELECT employee_id, department, salary FROM dbo.employees WHERE department <> :skip")
write = text("INSERT INTO dw.pay (id, dept, yearly) VALUES (:id, :dept, :yearly)")

with engine.connect() as conn:
    rows = conn.execute(read, {"skip": "sales"}).mappings().all()
    for row in rows:
        conn.execute(write, {"id": row["employee_id"], "dept": row["department"], "yearly": row["salary"] * 12})
    conn.commit()
