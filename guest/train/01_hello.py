name = "world"
print("Hello,", name)
print(f"{name!r} has {len(name)} letters")
