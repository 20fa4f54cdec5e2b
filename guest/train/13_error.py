def average(values):
    return sum(values) / len(values)


def report(table):
    for name, values in table.items():
        print(name, average(values))


report({"first": [1, 2, 3], "second": []})
