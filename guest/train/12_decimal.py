from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

price = Decimal("19.99")
tax = (price * Decimal("0.19")).quantize(Decimal("0.01"), ROUND_HALF_UP)
print(price + tax, Fraction(1, 3) + Fraction(1, 6), round(2.675, 2))
print(f"{1234567.891:,.2f} {0.1234:.1%} {255:#x} {42:08b} {'right':>10}")
print(divmod(-7, 3), 2**100, 0.1 + 0.2 == 0.3, int("ff", 16))
