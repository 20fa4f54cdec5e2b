# SPDX-License-Identifier: Apache-2.0
"""Small functions with checks, as exercises ask for them."""

# program: balanced_brackets kind: none
def balanced(text):
    stack, pairs = [], {")": "(", "]": "[", "}": "{"}
    for c in text:
        if c in "([{":
            stack.append(c)
        elif c in pairs and (not stack or stack.pop() != pairs[c]):
            return False
    return not stack


assert balanced("a(b[c]{d})") and not balanced("(]") and not balanced("((")
[balanced(t) for t in ("", "()", ")(", "{[()]}")]

# program: roman_numerals kind: none
def roman(n):
    out = ""
    for value, sign in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
                           "M CM D CD C XC L XL X IX V IV I".split()):
        out += sign * (n // value)
        n %= value
    return out


print([roman(n) for n in (1, 4, 9, 1994, 3999)])

# program: run_lengths kind: none
from itertools import groupby


def encode(text):
    return "".join(f"{len(list(g))}{c}" for c, g in groupby(text))


encode("aaabccd")

# program: longest_common_part kind: none
def common(a, b):
    best, row = "", [0] * (len(b) + 1)
    for i, x in enumerate(a):
        new = [0]
        for j, y in enumerate(b):
            new.append(row[j] + 1 if x == y else 0)
            if new[-1] > len(best):
                best = a[i + 1 - new[-1]:i + 1]
        row = new
    return best


common("a breakfast room", "the bedroom breaks")

# program: edit_distance kind: none
def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


print(distance("kitten", "sitting"), distance("", "abc"), distance("same", "same"))

# program: fibonacci_cached kind: none
from functools import lru_cache


@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(90), fib.cache_info().misses)

# program: queens kind: none
def queens(n, row=0, columns=0, left=0, right=0):
    if row == n:
        return 1
    free, total = ~(columns | left | right) & ((1 << n) - 1), 0
    while free:
        bit = free & -free
        free ^= bit
        total += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return total


[queens(n) for n in range(1, 8)]

# program: shortest_path kind: none
import heapq


def path(graph, start, goal):
    todo, known = [(0, start, [start])], set()
    while todo:
        cost, node, way = heapq.heappop(todo)
        if node == goal:
            return cost, way
        if node not in known:
            known.add(node)
            for other, length in graph[node].items():
                heapq.heappush(todo, (cost + length, other, way + [other]))
    return None


path({"a": {"b": 4, "c": 1}, "b": {"d": 1}, "c": {"b": 2, "d": 7}, "d": {}}, "a", "d")

# program: merge_sort kind: none
def merged(values):
    if len(values) < 2:
        return values
    a, b = merged(values[: len(values) // 2]), merged(values[len(values) // 2:])
    out = []
    while a and b:
        out.append((a if a[0] <= b[0] else b).pop(0))
    return out + a + b


print(merged([5, 2, 9, 1, 5, 6, -3]))

# program: binary_search kind: none
import bisect


def find(values, x):
    i = bisect.bisect_left(values, x)
    return i if i < len(values) and values[i] == x else -1


[find([1, 3, 5, 7], x) for x in (0, 1, 4, 7, 9)]

# program: spiral_of_a_grid kind: none
def spiral(grid):
    out = []
    while grid:
        out += grid[0]
        grid = list(zip(*grid[1:]))[::-1]
    return out


spiral([[1, 2, 3], [4, 5, 6], [7, 8, 9]])

# program: game_of_life kind: none
def step(cells):
    near = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    near[x + dx, y + dy] = near.get((x + dx, y + dy), 0) + 1
    return {c for c, n in near.items() if n == 3 or n == 2 and c in cells}


cells = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
for _ in range(4):
    cells = step(cells)
print(sorted(cells))

# program: prime_factors kind: none
def factors(n):
    out, d = [], 2
    while d * d <= n:
        while n % d == 0:
            out.append(d)
            n //= d
        d += 1
    return out + ([n] if n > 1 else [])


factors(2**5 * 3 * 97 * 10007)

# program: big_integers kind: none
import math
print(2**200, math.factorial(30), pow(3, 1000, 10**9 + 7), int("ff" * 10, 16), (10**40).bit_length())

# program: base_conversion kind: none
def to_base(n, base):
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return (to_base(n // base, base) if n >= base else "") + digits[n % base]


print(to_base(255, 2), to_base(123456, 36), int("2n9c", 36))

# program: caesar_cipher kind: none
def shift(text, n):
    return "".join(chr((ord(c) - 97 + n) % 26 + 97) if c.islower() else c for c in text)


shift(shift("attack at dawn", 5), -5), shift("xyz", 3)

# program: matrix_transpose_text kind: none
rows = ["abc", "de", "fghi"]
width = max(map(len, rows))
print(["".join(r[i] for r in rows if i < len(r)) for i in range(width)])

# program: word_frequencies kind: none
from collections import Counter
Counter("one fish two fish red fish blue fish".split()).most_common(2)

# program: lru_cache_class kind: none
from collections import OrderedDict


class Cache(OrderedDict):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def get(self, key):
        if key not in self:
            return -1
        self.move_to_end(key)
        return self[key]

    def put(self, key, value):
        self[key] = value
        self.move_to_end(key)
        if len(self) > self.size:
            self.popitem(last=False)


c = Cache(2)
c.put(1, 1)
c.put(2, 2)
c.get(1)
c.put(3, 3)
print(c.get(2), c.get(1), list(c.items()))

# program: bank_account kind: none
class Account:
    def __init__(self, balance=0):
        self._balance = balance

    def withdraw(self, amount):
        if amount > self._balance:
            raise ValueError(f"only {self._balance} there")
        self._balance -= amount
        return self


Account(10).withdraw(3).withdraw(20)

# program: vector_class kind: none
class Vector(tuple):
    def __add__(self, other):
        return Vector(a + b for a, b in zip(self, other))

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self, other))

    def __repr__(self):
        return f"Vector{tuple(self)}"


print(Vector((1, 2)) + Vector((3, 4)), Vector((1, 2)) @ Vector((3, 4)))
Vector((5,))

# program: generator_pipeline kind: none
from itertools import count, islice, takewhile


def squares():
    for n in count(1):
        yield n * n


print(list(islice(squares(), 5)), sum(takewhile(lambda x: x < 1000, squares())))

# program: permutations_of_a_word kind: none
from itertools import combinations, permutations, product
print(sorted({"".join(p) for p in permutations("aab")}), len(list(product("ab", repeat=5))), list(combinations(range(4), 2))[-1])

# program: subsets_with_a_sum kind: none
def subsets(values, goal):
    if goal == 0:
        return [[]]
    if not values or goal < 0:
        return []
    return [[values[0], *rest] for rest in subsets(values[1:], goal - values[0])] + subsets(values[1:], goal)


subsets([2, 3, 5, 7, 8], 10)

# program: knapsack kind: none
def worth(items, room):
    best = [0] * (room + 1)
    for weight, value in items:
        for r in range(room, weight - 1, -1):
            best[r] = max(best[r], best[r - weight] + value)
    return best[room]


worth([(3, 4), (4, 5), (2, 3), (5, 8)], 9)

# program: coin_change kind: none
def ways(coins, amount):
    table = [1] + [0] * amount
    for coin in coins:
        for a in range(coin, amount + 1):
            table[a] += table[a - coin]
    return table[amount]


ways((1, 2, 5, 10, 20, 50), 100)

# program: infix_calculator kind: none
import re


def calculate(text):
    tokens = re.findall(r"\d+|[-+*/()]", text)

    def factor():
        token = tokens.pop(0)
        if token == "(":
            value = total()
            tokens.pop(0)
            return value
        return int(token)

    def term():
        value = factor()
        while tokens and tokens[0] in "*/":
            value = value * factor() if tokens.pop(0) == "*" else value // factor()
        return value

    def total():
        value = term()
        while tokens and tokens[0] in "+-":
            value = value + term() if tokens.pop(0) == "+" else value - term()
        return value

    return total()


calculate("2*(3+4)-10/5")

# program: tower_of_hanoi kind: none
def hanoi(n, a="a", b="b", c="c"):
    return [] if n == 0 else hanoi(n - 1, a, c, b) + [a + c] + hanoi(n - 1, b, a, c)


moves = hanoi(4)
print(len(moves), moves[:5])

# program: unit_tests_inside kind: none
import io
import unittest


class Test(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(1 + 1, 2)

    def test_fails(self):
        self.assertIn(3, [1, 2])


out = io.StringIO()
r = unittest.TextTestRunner(out).run(unittest.defaultTestLoader.loadTestsFromTestCase(Test))
print(r.testsRun, len(r.failures), "AssertionError: 3 not found in [1, 2]" in out.getvalue())

# program: doctests_inside kind: none
import doctest


def double(x):
    """
    >>> double(4)
    8
    >>> double("ab")
    'abab'
    """
    return x * 2


print(doctest.testmod())

# program: failed_assertion kind: none
def mean(values):
    return sum(values) / len(values)


assert mean([1, 2, 3]) == 2
assert mean([1, 2]) == 2, "not the mean"

# program: exit_with_status kind: none
import sys
print("before")
sys.exit(3)

# program: main_guard kind: none
def main():
    print("main ran")
    return 4


if __name__ == "__main__":
    main()

# program: last_value_none kind: none
print("only printed")
[].append(3)

# program: value_after_output kind: none
print("a", end="")
x = {"k": [1, 2.5, None], "t": (True,)}
x
