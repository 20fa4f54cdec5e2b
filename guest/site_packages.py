"""packages: where a room finds packages beside its own library.

The directory is not there while the snapshot is made, since its content may
change without another one; so nothing may remember that.
"""

# SPDX-License-Identifier: Apache-2.0

import sys

PLACE = "/usr/local/lib/python3.15/site-packages"

sys.path.append(PLACE)
sys.path_importer_cache.pop(PLACE, None)
