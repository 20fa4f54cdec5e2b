import pandas as pd

frame = pd.DataFrame(
    {
        "team": ["red", "blue", "red", "blue", "green"],
        "points": [10, 14, 7, 9, 12],
        "won": [True, True, False, False, True],
    }
)
print(frame.groupby("team")["points"].agg(["mean", "max", "count"]))
print(frame[frame["points"] > 9].sort_values("points", ascending=False))
frame["share"] = frame["points"] / frame["points"].sum()
print(frame.describe().round(2))
frame["team"].value_counts()
