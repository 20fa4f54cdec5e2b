"""ends: the descriptors of a program whose writes are frames of their own."""

# SPDX-License-Identifier: Apache-2.0

VALUE, HINT, IMAGE = 102, 103, 104
