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

/** Equal-cost multipath: chooses by the flow hash, so that the frames of a flow stay in order. */
class EcmpPath : public PathChoice
{
  public:
    explicit EcmpPath(const PathContext& context)
        : m_context(context)
    {
    }

    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) override
    {
        return m_context.ChooseByHash(frame, group);
    }

    bool IsByHash() const override
    {
        return true;
    }

  private:
    const PathContext& m_context;
};

std::unique_ptr<PathChoice>
MakeEcmpPath(const KeyValues&, const PathContext& context)
{
    return std::make_unique<EcmpPath>(context);
}

const Registry<PathChoiceEntry>::Entry g_ecmp(
    "ecmp",
    {"by the hash of the flow", {}, &MakeEcmpPath, false, false, true});

} // namespace

} // namespace ns3::training
