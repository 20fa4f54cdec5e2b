# expect: x**2*exp(x) - 2*x*exp(x) + 2*exp(x)
import sympy

x = sympy.symbols("x")
print(sympy.expand(sympy.integrate(x ** 2 * sympy.exp(x), x)))
print(sympy.solve(x ** 2 - 5 * x + 6, x), sympy.Matrix([[2, 1], [1, 3]]).det())
