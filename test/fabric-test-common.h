/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_FABRIC_TEST_COMMON_H

#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/fabric-frame.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-port.h"
#include "ns3/host-device.h"
#include "ns3/link-impairment.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/topology-graph.h"

#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::training::tests
{

inline constexpr uint64_t GIGA = 1000000000; ///< bit/s

/// Traffic class that is lossless by default.
inline constexpr uint8_t LOSSLESS = 3;
/// A lossy traffic class.
inline constexpr uint8_t LOSSY = 0;

/** @param action to run */
inline void
Invoke(std::function<void()> action)
{
    action();
}

/** Schedules an action; ns-3.35 takes no lambdas. */
inline void
In(int64_t picoseconds, std::function<void()> action)
{
    Simulator::Schedule(TimeStep(picoseconds), &Invoke, std::move(action));
}

/** @return simulated time, ps */
inline int64_t
PicosecondsNow()
{
    return Simulator::Now().GetTimeStep();
}

/** @param rate bit/s @return their transmission time, rounded to the nearest picosecond, ps */
inline int64_t
LineTime(uint64_t bytes, uint64_t rate)
{
    return std::llround(static_cast<long double>(bytes) * 8e12L / static_cast<long double>(rate));
}

/** @return a frame */
inline Frame*
MakeFrame(uint32_t bytes, uint8_t priority, uint32_t source = 0, uint32_t destination = 1)
{
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    frame->bytes = bytes;
    frame->priority = priority;
    frame->source = source;
    frame->destination = destination;
    frame->flowHash = HashFlow(source, destination, 0);
    frame->psn = 0;
    return frame;
}

/**
 * @param classes bit p: pauses priority p
 * @param quanta 512 bit times each
 * @return a pause frame
 */
inline Frame*
MakePause(uint8_t classes, uint16_t quanta)
{
    Frame* frame = Frame::Allocate(FrameKind::PAUSE);
    frame->bytes = Frame::MIN_BYTES;
    frame->pauseClasses = classes;
    frame->pauseQuanta = quanta;
    return frame;
}

/** A received frame. */
struct Arrival
{
    int64_t time;     ///< arrival time, ps
    uint32_t source;  ///< source endpoint
    uint32_t psn;     ///< PSN
    uint32_t bytes;   ///< frame size
    uint8_t priority; ///< traffic class
    Ecn ecn;          ///< ECN field

    /** @param other another arrival @return whether all fields are equal */
    bool operator==(const Arrival& other) const
    {
        return time == other.time && source == other.source && psn == other.psn &&
               bytes == other.bytes && priority == other.priority && ecn == other.ecn;
    }
};

/** Arrivals in order. */
using Arrivals = std::vector<Arrival>;

/** Records a frame and frees it. */
inline void
Note(Arrivals& arrivals, Frame* frame)
{
    arrivals.push_back(
        {PicosecondsNow(), frame->source, frame->psn, frame->bytes, frame->priority, frame->ecn});
    Frame::Free(frame);
}

/** Passes RoCE frames to a function. */
class FrameFunction : public RdmaEngine
{
  public:
    /** @param receiver the function */
    explicit FrameFunction(std::function<void(Frame*)> receiver)
        : m_receiver(std::move(receiver))
    {
    }

    void Receive(Frame* frame) override
    {
        m_receiver(frame);
    }

  private:
    std::function<void(Frame*)> m_receiver;
};

/** Makes a function take over every RoCE frame that arrives at a host. */
inline void
SetRdmaReceiver(Ptr<HostDevice> device, std::function<void(Frame*)> receiver)
{
    static std::vector<std::unique_ptr<FrameFunction>> engines; // devices may outlive a test
    engines.push_back(std::make_unique<FrameFunction>(std::move(receiver)));
    device->SetRdmaEngine(engines.back().get());
}

/** Makes a host record received frames. */
inline void
NoteArrivals(Ptr<HostDevice> device, Arrivals& arrivals)
{
    SetRdmaReceiver(device, [&arrivals](Frame* frame) { Note(arrivals, frame); });
}

/** Owner of a bare port. */
class Recorder : public FabricPortOwner
{
  public:
    Recorder()
        : port(*this, 0, 0)
    {
    }

    void Receive(Frame* frame, FabricPort&) override
    {
        Note(arrivals, frame);
    }

    bool BeginTransmit(Frame& frame, FabricPort&) override
    {
        begun.push_back({PicosecondsNow(), frame.priority});
        return true;
    }

    Time GetPauseResponse(uint64_t) const override
    {
        return pauseResponse;
    }

    Time pauseResponse;                             ///< from the arrival of a pause on
    FabricPort port;                                ///< the port
    Arrivals arrivals;                              ///< received frames
    std::vector<std::pair<int64_t, uint8_t>> begun; ///< time and priority of queued frames sent
};

/** A host that sends as fast as the line allows. */
class Blaster : public FrameSource
{
  public:
    Blaster(Ptr<HostDevice> device,
            uint32_t destination,
            uint32_t bytes,
            uint8_t priority,
            uint64_t count)
        : m_device(device),
          m_destination(destination),
          m_bytes(bytes),
          m_priority(priority),
          m_left(count)
    {
        m_device->GetPort().SetSource(this);
    }

    /** @param start start time, ps */
    void Start(int64_t start)
    {
        In(start, [this]() {
            m_started = true;
            m_device->GetPort().Wake();
        });
    }

    uint8_t GetReady(int64_t) override
    {
        return m_started && m_left > 0 ? 1 << m_priority : 0;
    }

    Frame* Pull(uint8_t, int64_t) override
    {
        m_left--;
        sent++;
        return MakeFrame(m_bytes, m_priority, m_device->GetEndpoint(), m_destination);
    }

    uint64_t sent{0}; ///< frames sent

  private:
    Ptr<HostDevice> m_device;
    uint32_t m_destination;
    uint32_t m_bytes;
    uint8_t m_priority;
    uint64_t m_left;
    bool m_started{false};
};

/** A link of a chain of hosts and switches. */
struct Hop
{
    uint64_t rate; ///< bit/s
    int64_t delay; ///< ps
};

/** @param hops the links from host 0 to host 1 @return the topology */
inline TopologyGraph
MakeChain(const std::vector<Hop>& hops)
{
    TopologyGraph graph;
    graph.name = "chain";
    graph.hosts = 2;
    graph.switches = static_cast<uint32_t>(hops.size()) - 1;
    for (uint32_t i = 0; i < hops.size(); i++)
    {
        graph.links.push_back({i == 0 ? 0 : i + 1,
                               i + 1 == hops.size() ? 1 : i + 2,
                               DataRate(hops[i].rate),
                               TimeStep(hops[i].delay)});
    }
    return graph;
}

/** Drops frames at random on every link from now on. @param rate drop probability of each frame */
inline void
LoseFrames(const Fabric& fabric, double rate)
{
    LinkImpairment::Configuration configuration;
    configuration.loss = rate;
    int64_t stream = 5000;
    for (const auto& channel : fabric.channels)
    {
        channel->AddImpairments({std::make_shared<LinkImpairment>(configuration, stream),
                                 std::make_shared<LinkImpairment>(configuration, stream + 1)});
        stream += 2;
    }
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_FABRIC_TEST_COMMON_H
