# expect: north 87
import numpy as np
import pandas as pd

frame = pd.DataFrame({
    "when": pd.date_range("2026-01-01", periods=90, freq="D"),
    "region": np.tile(["north", "south", "east"], 30),
    "sold": np.arange(90) % 7})
frame["month"] = frame["when"].dt.to_period("M").astype(str)
table = frame.pivot_table(index="region", columns="month", values="sold",
                          aggfunc="sum")
print(table)
print("north", int(table.loc["north"].sum()))
