# expect: [1.0, 1.0] 0.5
import numpy as np
from scipy import integrate, optimize

valley = optimize.minimize(
    lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2, [-1.0, 2.0])
area, _ = integrate.quad(lambda x: x * np.exp(-x * x), 0, np.inf)
print(valley.x.round(2).tolist(), round(area, 6))
