/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_RDMA_TEST_COMMON_H

#include "fabric-test-common.h"
#include "rdma/congestion/rdma-line-rate.h"

#include "ns3/double.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/type-id.h"

#include <limits>
#include <optional>

/** control */

namespace ns3::training::tests
{

inline constexpr int64_t MICROSECOND = 1000000;    ///< ps
inline constexpr int64_t MILLISECOND = 1000000000; ///< ps

/**
 * @param lineRate of the port, bit/s
 * @return a path with a round trip of 13 us, packets of 1000 bytes and 5 links
 */
inline RdmaCongestionControl::Path
MakePath(double lineRate)
{
    return {lineRate, 13 * MICROSECOND, 1000, 5};
}

/** A congestion control with a fixed rate and window. */
class FixedRate : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::training::tests::FixedRate")
                                .SetParent<RdmaCongestionControl>()
                                .SetGroupName("DistributedTraining")
                                .AddConstructor<FixedRate>();
        return tid;
    }

    void Initialize(const Path& path) override
    {
        rate = path.lineRate;
    }

    double GetRate(int64_t) override
    {
        return rate;
    }

    uint64_t GetWindow() const override
    {
        return window;
    }

    Needs GetNeeds() const override
    {
        return needs;
    }

    void OnCnp(int64_t now) override
    {
        cnps.push_back(now);
    }

    double rate{0};                                        ///< bit/s
    uint64_t window{std::numeric_limits<uint64_t>::max()}; ///< bytes
    Needs needs;                                           ///< required signals
    std::vector<int64_t> cnps;                             ///< arrival times of CNPs, ps
};

/** A received message. */
struct Delivery
{
    int64_t time;    ///< ps
    Message message; ///< the message
};

/**
 * Hosts with NICs on a fabric, queue pairs between them, and taps that can inspect, change or drop
 * frames that arrive at a host.
 */
class RdmaNetwork
{
  public:
    /** Inspects an arriving frame; returns true to drop it. */
    using Tap = std::function<bool(Frame&)>;

    /**
     * @param congestionControl class of every queue pair's congestion control
     * @param configure sets attributes of each NIC before it is attached
     * @param loss drop probability on each link
     * @param ecnStepPerGbps marking threshold of switches, bytes per Gbit/s; 0: their defaults
     */
    explicit RdmaNetwork(const TopologyGraph& topology,
                         TypeId congestionControl = RdmaLineRate::GetTypeId(),
                         const std::function<void(RdmaNic&)>& configure = nullptr,
                         double loss = 0,
                         double ecnStepPerGbps = 0)
    {
        FabricHelper helper;
        if (ecnStepPerGbps > 0)
        {
            helper.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(ecnStepPerGbps));
            helper.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(ecnStepPerGbps));
        }
        fabric = helper.Install(topology);
        if (loss > 0)
        {
            LoseFrames(fabric, loss);
        }
        for (uint32_t host = 0; host < topology.hosts; host++)
        {
            auto nic = CreateObject<RdmaNic>();
            nic->SetAttribute("CongestionControl", TypeIdValue(congestionControl));
            if (configure)
            {
                configure(*nic);
            }
            nic->Attach(fabric.devices[host]);
            fabric.hosts.Get(host)->AggregateObject(nic);
            nics.push_back(nic);
        }
        Simulator::Run(); // nodes initialize
        initialEvents = Simulator::GetEventCount();
    }

    ~RdmaNetwork()
    {
        Simulator::Destroy();
    }

    /**
     * @param number of the queue pair on both
     * @return the queue pair on `a`; the one on `b` records messages in `deliveries`
     */
    RdmaQueuePair& Connect(uint32_t a, uint32_t b, uint32_t number)
    {
        auto sender = nics[a]->CreateQueuePair(number, b, number);
        auto receiver = nics[b]->CreateQueuePair(number, a, number);
        receiver->SetMessageHandler([this](const Message& message) {
            deliveries.push_back({PicosecondsNow(), message});
        });
        return *sender;
    }

    /** @param host of the queue pair @param number of the queue pair @return the queue pair */
    RdmaQueuePair& Get(uint32_t host, uint32_t number)
    {
        return *nics[host]->GetQueuePairs().at(number);
    }

    /** @return its congestion control, which must be a FixedRate */
    FixedRate& GetFixedRate(uint32_t host, uint32_t number)
    {
        return *DynamicCast<FixedRate>(Get(host, number).GetCongestionControl());
    }

    /** @param host host of the tap @param tap called for every RoCE frame that arrives there */
    void SetTap(uint32_t host, Tap tap)
    {
        SetRdmaReceiver(fabric.devices[host], [this, host, tap](Frame* frame) {
            if (tap(*frame))
            {
                Frame::Free(frame);
                return;
            }
            Get(host, frame->destinationQp).Receive(frame);
        });
    }

    Fabric fabric;                    ///< the fabric
    std::vector<Ptr<RdmaNic>> nics;   ///< by host
    std::vector<Delivery> deliveries; ///< received messages, in order
    uint64_t initialEvents{0};        ///< events before the first message
};

/** @param immediate data, if any @return a request to send a message with virtual payload */
inline Message
MakeRequest(uint64_t bytes, std::optional<uint32_t> immediate = std::nullopt)
{
    Message request;
    request.bytes = bytes;
    request.immediate = immediate;
    return request;
}

/** Posts a WRITE with virtual payload and without immediate data. */
inline void
Write(RdmaQueuePair& queuePair, uint64_t bytes)
{
    queuePair.Write(MakeRequest(bytes));
}

/**
 * @param hops number of links between two hosts, switches between them
 * @param rate of each, bit/s
 * @param delay of each, ps
 * @return the topology
 */
inline TopologyGraph
MakeChain(uint32_t hops, uint64_t rate, int64_t delay)
{
    return MakeChain(std::vector<Hop>(hops, Hop{rate, delay}));
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_RDMA_TEST_COMMON_H
