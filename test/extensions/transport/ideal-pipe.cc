/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * Messages without packets: one after the other at the rate of the sender's port, then at that of
 * the receiver's.
 */

#include "ns3/host-transport.h"
#include "ns3/simulator.h"

#include <functional>

namespace
{

using namespace ns3;
using namespace ns3::training;

struct Pipe : public MultiPortTransport
{
    std::map<uint32_t, Pipe*>* peers; // by rank
    uint32_t node;
    Time delay;
    HostTraffic traffic;
    std::map<uint32_t, Time> out; // by rail: when the port is free
    std::map<uint32_t, Time> in;

    static Time Occupy(Time& port, Time earliest, const PortPair& way, uint64_t bytes)
    {
        const Time length =
            Seconds(8.0 * static_cast<double>(bytes) / static_cast<double>(way.rate));
        return port = std::max(port + length, earliest);
    }

    void SendOn(uint32_t peer, uint32_t connection, Message part) override
    {
        const PortPair& way = GetConnections(peer)[connection];
        Time& port = out[way.rail];
        port = std::max(port, Simulator::Now());
        const Time sent = Occupy(port, port, way, part.bytes) - Simulator::Now();
        Message arriving = part;
        if (part.payload)
        {
            const auto first = part.payload->bytes.begin() + part.payloadOffset;
            arriving.payload = Create<ByteBuffer>();
            arriving.payload->bytes.assign(first, first + part.bytes);
        }
        if (part.sent)
        {
            Simulator::Schedule(sent, &Pipe::Call, part.sent);
        }
        traffic.count++;
        traffic.open++;
        Pipe* receiver = peers->at(peer);
        Simulator::ScheduleWithContext(receiver->node,
                                       sent + delay,
                                       &Pipe::Arrive,
                                       receiver,
                                       m_rank,
                                       connection,
                                       arriving);
    }

    static void Call(std::function<void()> function)
    {
        function();
    }

    void Arrive(uint32_t peer, uint32_t connection, Message part)
    {
        const PortPair& way = GetConnections(peer)[connection];
        const Time end = Occupy(in[way.rail], Simulator::Now(), way, part.bytes);
        Simulator::Schedule(end - Simulator::Now(), &Pipe::End, this, peer, part);
    }

    void End(uint32_t peer, Message part)
    {
        traffic.count++;
        traffic.open--;
        traffic.bytes += static_cast<double>(part.bytes);
        DeliverPart(peer, part);
    }
};

struct PipeTransport : public HostTransport
{
    using HostTransport::HostTransport;
    std::map<MessageUse, std::map<uint32_t, Pipe*>> pipes;
    NodeContainer hosts;
    Time delay;

    PacketSize GetPacketSize() const override
    {
        return {m_options.GetMtu(), 0};
    }

    void Install(const TransportHosts& installed) override
    {
        hosts = installed.fabric.hosts;
        delay = installed.longest.delay;
    }

    Ptr<MultiPortTransport> Make(const TransportEnd& end) override
    {
        const auto pipe = CreateObject<Pipe>();
        pipe->SetPortPairs(end.host, end.portPairs);
        pipe->node = hosts.Get(end.host)->GetId();
        pipe->delay = delay;
        pipe->peers = &pipes[end.use];
        pipe->peers->emplace(end.host, PeekPointer(pipe));
        return pipe;
    }

    HostTraffic GetTraffic(uint32_t, const MultiPortTransport& messages) const override
    {
        return dynamic_cast<const Pipe&>(messages).traffic;
    }
};

const Registry<TransportEntry>::Entry g_pipe(
    "ideal-pipe",
    {"messages without packets", "none", 4096, &MakeHostTransport<PipeTransport>});

} // namespace
