import sqlite3

base = sqlite3.connect(":memory:")
base.execute("CREATE TABLE pets (name TEXT, kind TEXT, age INTEGER)")
base.executemany(
    "INSERT INTO pets VALUES (?, ?, ?)",
    [("Rex", "dog", 4), ("Tom", "cat", 9), ("Ivy", "cat", 2)],
)
for row in base.execute("SELECT kind, COUNT(*), AVG(age) FROM pets GROUP BY kind"):
    print(row)
base.close()
