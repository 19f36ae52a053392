# SPDX-License-Identifier: GPL-2.0-only
"""What somebody may have meant by a name that does not exist."""

import difflib


def did_you_mean(name, names):
    """Return "did you mean X? " for the name that is nearest, or "" if none is near."""
    near = difflib.get_close_matches(name, names, 1)
    return f"did you mean {near[0]}? " if near else ""
