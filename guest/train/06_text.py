import re
import textwrap
from collections import Counter

text = """The quick brown fox jumps over the lazy dog. The dog sleeps,
and the fox runs: 3 times in 2026-05-17, 14:30."""
words = re.findall(r"[a-z]+", text.lower())
print(Counter(words).most_common(3))
print(re.sub(r"(\d{4})-(\d\d)-(\d\d)", r"\3.\2.\1", text))
print(textwrap.fill(text, 40).upper().splitlines()[0])
print(" ".join(word.title()[::-1] for word in words[:4]))
