/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-host-transport.h"

#include "ns3/path-choice.h"

namespace ns3::training
{

namespace
{

/** Multipath Reliable Connection, on the NICs of Ultra Ethernet. */
class MrcHostTransport : public UecHostTransport
{
  public:
    using UecHostTransport::UecHostTransport;

    PacketSize GetPacketSize() const override
    {
        return PacketSize::OfMrc(m_options.GetMtu(), HasRoutes());
    }

    void SetUp(FabricHelper& fabric, Time roundTrip) override
    {
        m_helper.UseMrc(HasRoutes());
        UecHostTransport::SetUp(fabric, roundTrip);
    }

  private:
    /** @return whether packets carry their route, which static tables need */
    bool HasRoutes() const
    {
        return GetPathChoice(m_options.path).isStatic;
    }
};

TransportEntry
DescribeMrc()
{
    TransportEntry entry = UecHostTransport::Describe();
    entry.help = "Multipath Reliable Connection";
    entry.make = &MakeHostTransport<MrcHostTransport>;
    entry.sprays = TransportEntry::Sprays::ALWAYS;
    return entry;
}

const Registry<TransportEntry>::Entry g_mrc("mrc", DescribeMrc());

} // namespace

} // namespace ns3::training
