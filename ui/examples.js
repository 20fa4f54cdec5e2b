// examples.js: programs to begin with. stdin, timeout: what they are run with.
// SPDX-License-Identifier: Apache-2.0

export const examples = [
	{
		name: 'Value and output',
		code: `import numpy as np

x = np.linspace(0, 2 * np.pi, 9)
print("nine points of a sine:")
np.sin(x).round(3)
`,
	},
	{
		name: 'Figure',
		code: `import matplotlib.pyplot as plt
import numpy as np

t = np.linspace(0, 12, 500)
for damping in (0.1, 0.25, 0.5):
    plt.plot(t, np.exp(-damping * t) * np.cos(3 * t), label=f"{damping}")
plt.legend(title="damping")
plt.title("A pendulum comes to rest")
plt.show()
`,
	},
	{
		name: 'Table',
		code: `import pandas as pd

flights = pd.DataFrame({
    "from": ["OSL", "OSL", "BGO", "TRD", "BGO"],
    "minutes": [55, 60, 50, 65, 70],
    "full": [0.81, 0.64, 0.92, 0.70, 0.55],
})
flights.groupby("from").agg(["mean", "max"]).round(2)
`,
	},
	{
		name: 'Files that it leaves',
		code: `import csv, json

squares = [{"n": n, "square": n * n} for n in range(1, 11)]
with open("squares.csv", "w", newline="") as f:
    writer = csv.DictWriter(f, ["n", "square"])
    writer.writeheader()
    writer.writerows(squares)
with open("squares.json", "w") as f:
    json.dump(squares, f, indent=1)
print("two files, to be downloaded")
`,
	},
	{
		name: 'Files that it is given',
		code: `import os

for name in sorted(os.listdir(".")):
    print(f"{os.path.getsize(name):>10}  {name}")
print("Choose files below the editor, then run this again.")
`,
	},
	{
		name: 'Standard input',
		code: `name = input("Who is there? ")
print(f"\\nHello {name}!")
sum(int(word) for word in input("Numbers: ").split())
`,
		stdin: 'Ada\n3 5 8 13\n',
	},
	{
		name: 'Waiting together',
		code: `import asyncio, time

async def work(n):
    await asyncio.sleep(0.3)
    return n * n

start = time.monotonic()
results = await asyncio.gather(*(work(n) for n in range(10)))
print(f"ten waits of 0.3 s took {time.monotonic() - start:.1f} s")
results
`,
	},
	{
		name: 'A mistake',
		code: `prices = {"tea": 3.2, "coffee": 3.9}

def total(basket):
    return sum(prices[item] for item in basket)

total(["tea", "cake"])
`,
	},
	{
		name: 'A program that never ends',
		code: `import itertools, time

for n in itertools.count():
    print("tick", n, flush=True)
    time.sleep(0.25)
`,
		timeout: 2,
	},
];
