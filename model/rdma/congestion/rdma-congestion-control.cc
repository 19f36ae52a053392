/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-congestion-control.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(RdmaCongestionControl);

TypeId
RdmaCongestionControl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::RdmaCongestionControl")
                            .SetParent<Object>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

double
GetIncrease(int64_t roundTrip, const RdmaCongestionControl::Path& path)
{
    constexpr double ROUND_TRIPS = 8;
    const double longer = static_cast<double>(path.roundTrip) / static_cast<double>(roundTrip);
    const double packets = GetBytesSent(path.lineRate, path.roundTrip) / path.mtu;
    return std::max(1.0, std::min(longer * longer, packets / ROUND_TRIPS));
}

std::vector<Key>
GetKeys(const CongestionControlEntry& entry)
{
    std::vector<Key> keys = GetAttributeKeys(entry.getTypeId());
    if (!entry.presets.empty())
    {
        std::vector<std::string> names;
        std::string help = "published parameters, which other keys override:";
        for (const auto& preset : entry.presets)
        {
            help += (names.empty() ? " " : "; ") + preset.name + ": " + preset.help;
            names.push_back(preset.name);
        }
        keys.push_back(Key::Word("preset", names.front(), names, help));
    }
    return keys;
}

} // namespace ns3::training
