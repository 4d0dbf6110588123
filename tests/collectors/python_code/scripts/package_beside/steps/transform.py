import pandas as pd


def transform(frames: dict) -> pd.DataFrame:
    emp, dep = frames["employees"], frames["departments"]
    out = emp.merge(dep, on="department", how="inner")
    out["yearly"] = out["salary"] * 12
    return out[["employee_id", "name", "cost_centre", "yearly"]]
