# SPDX-License-Identifier: GPL-2.0-only
"""What somebody may have meant by a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: object, names: Iterable[object]) -> str:
    """Return "; did you mean 'X'?" for the name that is nearest, or "" if none is near."""
    by_lower = {str(each).lower(): each for each in names}
    near = difflib.get_close_matches(str(name).lower(), by_lower, 1)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""
