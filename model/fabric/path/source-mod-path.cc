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

/** S-mod-k: chooses by the position of the source. */
class SourceModPath : public PathChoice
{
  public:
    explicit SourceModPath(const PathContext& context)
        : m_context(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        return group[m_context.GetDigit(frame.source) % group.size()];
    }

  private:
    const PathContext& m_context;
};

std::unique_ptr<PathChoice>
MakeSourceModPath(const KeyValues&, const PathContext& context)
{
    return std::make_unique<SourceModPath>(context);
}

const Registry<PathChoiceEntry>::Entry g_sourceMod(
    "source-mod",
    {"S-mod-k: by the digit of the source position, modulo the number of ports",
     {},
     &MakeSourceModPath});

} // namespace

} // namespace ns3::training
