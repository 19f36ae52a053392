/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * Hosts that need the same time for every message: from its arrival until its data can be used.
 */

#include "ns3/host-model.h"

namespace
{

using namespace ns3;
using namespace ns3::training;

/** The same latency at every hop. */
class FixedHop : public HostModel
{
  public:
    explicit FixedHop(Time latency)
        : m_latency(latency)
    {
    }

    HostCost GetCost(const CollectiveSchedule&, uint64_t) const override
    {
        HostCost cost;
        cost.localHop = m_latency;
        cost.remoteHop = m_latency;
        return cost;
    }

    bool IsLocal(uint32_t, uint32_t) const override
    {
        return false;
    }

  private:
    Time m_latency;
};

std::shared_ptr<const HostModel>
Make(const HostModelRequest& request)
{
    return std::make_shared<FixedHop>(request.keys.GetTime("latency"));
}

const Registry<HostModelEntry>::Entry g_fixedHop(
    "fixed-hop",
    {"the same latency for every message",
     &Make,
     {Key::Of("latency",
              Key::Type::TIME,
              "2us",
              "from the arrival of a message until its data can be used")}});

} // namespace
