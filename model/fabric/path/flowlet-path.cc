/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/nstime.h"
#include "ns3/path-choice.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <unordered_map>

namespace ns3::training
{

namespace
{

/**
 * LetFlow (Vanini et al., NSDI 2017): each new flowlet, after a gap in the flow, takes a random
 * port.
 */
class FlowletPath : public PathChoice
{
  public:
    FlowletPath(const PathContext& context, Time gap)
        : m_context(context),
          m_gap(gap.GetTimeStep())
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        const int64_t now = EventLoop::Now();
        const auto [found, fresh] = m_flowlets.try_emplace(frame.flowHash, Flowlet{now, 0});
        Flowlet& flowlet = found->second;
        // After a route change, the port may no longer lead to the destination.
        if (fresh || now - flowlet.latest > m_gap || !m_context.IsUp(flowlet.port) ||
            std::find(group.begin(), group.end(), flowlet.port) == group.end())
        {
            flowlet.port = m_context.ChooseAtRandom(group);
        }
        flowlet.latest = now;
        return flowlet.port;
    }

    void Clear() override
    {
        m_flowlets.clear();
    }

  private:
    /** The latest flowlet of a flow. */
    struct Flowlet
    {
        int64_t latest; ///< time of the latest frame, ps
        uint16_t port;  ///< port of the flowlet
    };

    const PathContext& m_context;
    int64_t m_gap;                                    // flowlet gap, ps
    std::unordered_map<uint32_t, Flowlet> m_flowlets; // by flow hash
};

std::unique_ptr<PathChoice>
MakeFlowletPath(const KeyValues& values, const PathContext& context)
{
    return std::make_unique<FlowletPath>(context, values.GetTime("gap"));
}

const Registry<PathChoiceEntry>::Entry g_flowlet(
    "flowlet",
    {"LetFlow: a random port per flowlet",
     {Key::Of("gap", Key::Type::TIME, "50us", "idle gap that starts a new flowlet")},
     &MakeFlowletPath});

} // namespace

} // namespace ns3::training
