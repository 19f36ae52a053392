/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path-choice.h"

namespace ns3::training
{

namespace
{

/**
 * Explicit paths per pair of endpoints; falls back to the flow hash if there is no path or it is
 * down.
 */
class SchedulePath : public PathChoice
{
  public:
    explicit SchedulePath(const PathContext& context)
        : m_context(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        const uint16_t pin = m_context.GetPin(frame.source, frame.destination);
        if (pin != PathContext::NONE && m_context.IsUp(pin))
        {
            return pin;
        }
        return group.empty() ? PathContext::NONE : m_context.ChooseByHash(frame, group);
    }

    std::size_t GetMinPorts() const override
    {
        return 0; // an explicit path needs no route
    }

  private:
    const PathContext& m_context;
};

std::unique_ptr<PathChoice>
MakeSchedulePath(const KeyValues&, const PathContext& context)
{
    return std::make_unique<SchedulePath>(context);
}

const Registry<PathChoiceEntry>::Entry g_schedule(
    "schedule",
    {"by the explicit path of the pair of endpoints, or else by the hash of the flow",
     {},
     &MakeSchedulePath,
     false,
     true,
     true});

} // namespace

} // namespace ns3::training
