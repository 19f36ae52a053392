/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path-choice.h"
#include "ns3/wire-bytes.h"

namespace ns3::training
{

namespace
{

/**
 * Source routes: the sender's entropy value names the link at each switch, and no switch changes
 * that. A switch takes the digit of the value that counts the endpoints below each switch of the
 * next lower level: at a leaf the value modulo its up-links. This stands for the list of switches
 * that a packet of SRv6 carries (RFC 9800) and for the static tables that it needs. A frame whose
 * link is down is lost.
 */
class SourceRoutePath : public PathChoice
{
  public:
    explicit SourceRoutePath(const PathContext& context)
        : m_context(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        return group[m_context.GetDigitOf(frame.flowHash & ENTROPY_MASK) % group.size()];
    }

    bool AvoidsFailures() const override
    {
        return false;
    }

  private:
    const PathContext& m_context;
};

std::unique_ptr<PathChoice>
MakeSourceRoutePath(const KeyValues&, const PathContext& context)
{
    return std::make_unique<SourceRoutePath>(context);
}

PathChoiceEntry
DescribeSourceRoute()
{
    PathChoiceEntry entry;
    entry.help = "by the sender's entropy value, as source routes in static tables: no switch "
                 "avoids a link that is down";
    entry.make = &MakeSourceRoutePath;
    entry.repeats = true;
    entry.isStatic = true;
    return entry;
}

const Registry<PathChoiceEntry>::Entry g_sourceRoute("source-route", DescribeSourceRoute());

} // namespace

} // namespace ns3::training
