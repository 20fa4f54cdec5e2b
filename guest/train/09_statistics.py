import math
import random
import statistics

random.seed(7)
data = [random.gauss(50, 10) for _ in range(200)]
print(f"mean {statistics.mean(data):.2f}, median {statistics.median(data):.2f}")
print(f"stdev {statistics.stdev(data):.3f}", statistics.quantiles(data, n=4))
print(math.comb(10, 3), math.factorial(12), math.gcd(84, 36))
math.sqrt(2)
