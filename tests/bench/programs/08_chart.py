# expect: chart True
import os

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

x = np.linspace(0, 6, 80)
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3))
left.plot(x, np.cos(x), label="cosine")
left.legend()
right.hist(np.sin(x), bins=12)
right.set_title("values")
figure.savefig("/tmp/chart.png", dpi=70)
print("chart", os.path.getsize("/tmp/chart.png") > 4000)
