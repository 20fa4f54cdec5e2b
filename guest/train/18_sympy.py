from sympy import Eq, Rational, diff, expand, integrate, simplify, sin, solve, symbols

x, y = symbols("x y")
print(solve(Eq(x**2 - 3 * x, 10), x))
print(diff(sin(x) * x**2, x), integrate(2 * x + 1, (x, 0, 3)))
print(expand((x + y) ** 3), simplify((x**2 - 1) / (x - 1)))
print(Rational(3, 4) + 1)
solve([x + y - 5, x - y - 1], [x, y])
