import io

import pandas as pd

text = """date,shop,amount
2026-01-03,north,120.5
2026-01-20,south,80
2026-02-02,north,
2026-02-11,south,95.25
"""
sales = pd.read_csv(io.StringIO(text), parse_dates=["date"])
print(sales.dtypes)
sales["amount"] = sales["amount"].fillna(sales["amount"].mean())
sales["month"] = sales["date"].dt.month
print(sales.isna().sum().to_dict(), sales.to_csv(index=False).count("\n"))
sales.pivot_table(index="month", columns="shop", values="amount")
