import contextlib
import time


@contextlib.contextmanager
def timed(label):
    start = time.perf_counter()
    yield
    print(label, time.perf_counter() - start < 5)


def chunks(items, size):
    for i in range(0, len(items), size):
        yield items[i : i + size]


with timed("chunks"):
    print(list(chunks("abcdefgh", 3)))
table = list(zip(range(3), "xyz", strict=True))
print(dict(enumerate(table)), any(n > 1 for n, _ in table), *reversed(table))
print(set("hello") & set("yellow"))
max(table, key=lambda row: row[1])
