/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "drop-reason.h"

#include <array>
#include <cstddef>

namespace ns3::training
{

namespace
{

/// Names in the order of the enumeration.
constexpr std::array<const char*, static_cast<std::size_t>(DropReason::COUNT)> NAMES{
    "no-buffer",
    "early-drop",
    "queue-limit",
    "no-route",
    "too-long",
    "unknown-protocol",
    "link-down",
    "link-loss",
    "corrupted",
    "restart",
    "other-host",
    "no-receiver",
    "pause-storm",
};

} // namespace

const char*
GetName(DropReason reason)
{
    return NAMES.at(static_cast<std::size_t>(reason));
}

std::ostream&
operator<<(std::ostream& stream, DropReason reason)
{
    return stream << GetName(reason);
}

} // namespace ns3::training
