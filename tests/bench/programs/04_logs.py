# expect: {'web': 20, 'db': 40} 72.5
import re
import statistics

lines = "\n".join(
    f"2026-02-{i % 28 + 1:02}T10:{i % 60:02}:00 {'web' if i % 3 == 0 else 'db'}"
    f" took={i * 5 % 190}ms status={200 if i % 7 else 503}" for i in range(60))
pattern = re.compile(r"^(?P<at>\S+) (?P<who>\w+) took=(?P<ms>\d+)ms"
                     r" status=(?P<code>\d{3})$", re.MULTILINE)
counts, times = {}, []
for found in pattern.finditer(lines):
    counts[found["who"]] = counts.get(found["who"], 0) + 1
    times.append(int(found["ms"]))
print(counts, statistics.median(times))
print(re.sub(r"status=503", "status=BAD", lines).count("BAD"))
