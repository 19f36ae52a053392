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

/** D-mod-k: chooses by the position of the destination. */
class DestinationModPath : public PathChoice
{
  public:
    explicit DestinationModPath(const PathContext& context)
        : m_context(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        return group[m_context.GetDigit(frame.destination) % group.size()];
    }

  private:
    const PathContext& m_context;
};

std::unique_ptr<PathChoice>
MakeDestinationModPath(const KeyValues&, const PathContext& context)
{
    return std::make_unique<DestinationModPath>(context);
}

const Registry<PathChoiceEntry>::Entry g_destinationMod(
    "destination-mod",
    {"D-mod-k: by the digit of the destination position, modulo the number of ports",
     {},
     &MakeDestinationModPath});

} // namespace

} // namespace ns3::training
