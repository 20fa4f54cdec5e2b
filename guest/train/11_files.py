import csv
import os
from pathlib import Path

path = Path("people.csv")
with path.open("w", newline="") as stream:
    writer = csv.DictWriter(stream, fieldnames=["name", "age"])
    writer.writeheader()
    writer.writerows([{"name": "Ann", "age": 31}, {"name": "Bob", "age": 27}])
with open(path) as stream:
    for row in csv.DictReader(stream):
        print(row["name"].ljust(6), int(row["age"]) + 1)
print(os.listdir("."), path.stat().st_size, path.read_text().count("\n"))
path.unlink()
