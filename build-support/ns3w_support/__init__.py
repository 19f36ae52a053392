# SPDX-License-Identifier: GPL-2.0-only
"""Parts of the script ns3w: they know ns-3 and the system, but not this module."""
