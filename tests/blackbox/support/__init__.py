# SPDX-License-Identifier: Apache-2.0
"""What the black-box tests share: clients, process watching, listeners."""
