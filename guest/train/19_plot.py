import matplotlib.pyplot as plt

months = ["Jan", "Feb", "Mar", "Apr"]
values = [3, 7, 4, 8]
plt.figure(figsize=(6, 4))
plt.bar(months, values, color="steelblue")
plt.title("Sales")
plt.ylabel("Units")
plt.savefig("sales.png")
print("saved sales.png")
plt.show()
