/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/configuration-error.h"
#include "ns3/double.h"
#include "ns3/event-id.h"
#include "ns3/fabric-helper.h"
#include "ns3/global-value.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/shared-buffer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/test.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-builder.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;

/**
 * @ingroup distributed-training-tests
 * @defgroup distributed-training-fabric-tests Tests of links, ports, switches and topologies
 */

namespace
{

/// Traffic class that switches never drop by default.
constexpr uint8_t LOSSLESS = 3;
/// A lossy traffic class.
constexpr uint8_t LOSSY = 0;

/**
 * @ingroup distributed-training-fabric-tests
 * @param action to be run
 */
void
Invoke(std::function<void()> action)
{
    action();
}

/**
 * @ingroup distributed-training-fabric-tests
 * Schedules an action; ns-3.35 takes no lambdas.
 * @param picoseconds from now
 * @param action to be run
 */
void
In(int64_t picoseconds, std::function<void()> action)
{
    Simulator::Schedule(TimeStep(picoseconds), &Invoke, std::move(action));
}

/**
 * @ingroup distributed-training-fabric-tests
 * @return simulated time, ps
 */
int64_t
PicosecondsNow()
{
    return Simulator::Now().GetTimeStep();
}

/**
 * @ingroup distributed-training-fabric-tests
 * @param bytes on the line
 * @param rate bit/s
 * @return their duration, to the nearest picosecond, ps
 */
int64_t
LineTime(uint64_t bytes, uint64_t rate)
{
    return std::llround(static_cast<long double>(bytes) * 8e12L / static_cast<long double>(rate));
}

/**
 * @ingroup distributed-training-fabric-tests
 * @param bytes frame size
 * @param priority traffic class
 * @param source endpoint
 * @param destination endpoint
 * @return a frame
 */
Frame*
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
 * @ingroup distributed-training-fabric-tests
 * @param classes bit p: priority p
 * @param quanta 512 bit times each
 * @return a pause frame
 */
Frame*
MakePause(uint8_t classes, uint16_t quanta)
{
    Frame* frame = Frame::Allocate(FrameKind::PAUSE);
    frame->bytes = Frame::MINIMUM_BYTES;
    frame->pauseClasses = classes;
    frame->pauseQuanta = quanta;
    return frame;
}

/** @ingroup distributed-training-fabric-tests What a receiver noted of a frame. */
struct Arrival
{
    int64_t time;     ///< when, ps
    uint32_t source;  ///< endpoint
    uint32_t psn;     ///< number
    uint32_t bytes;   ///< frame size
    uint8_t priority; ///< traffic class
    Ecn ecn;          ///< ECN field

    /**
     * @param other another
     * @return whether all is equal
     */
    bool operator==(const Arrival& other) const
    {
        return time == other.time && source == other.source && psn == other.psn &&
               bytes == other.bytes && priority == other.priority && ecn == other.ecn;
    }
};

/** @ingroup distributed-training-fabric-tests Arrivals in order. */
using Arrivals = std::vector<Arrival>;

/**
 * @ingroup distributed-training-fabric-tests
 * Notes a frame and frees it.
 * @param arrivals where to
 * @param frame the frame
 */
void
Note(Arrivals& arrivals, Frame* frame)
{
    arrivals.push_back(
        {PicosecondsNow(), frame->source, frame->psn, frame->bytes, frame->priority, frame->ecn});
    Frame::Free(frame);
}

/**
 * @ingroup distributed-training-fabric-tests
 * Makes a host note what it receives.
 * @param device of the host
 * @param arrivals where to
 */
void
NoteArrivals(Ptr<HostDevice> device, Arrivals& arrivals)
{
    device->SetRdmaReceiver([&arrivals](Frame* frame) { Note(arrivals, frame); });
}

/** @ingroup distributed-training-fabric-tests Owner of a bare port. */
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

    void BeginTransmit(Frame& frame, FabricPort&) override
    {
        begun.push_back({PicosecondsNow(), frame.priority});
    }

    FabricPort port;                                ///< the port
    Arrivals arrivals;                              ///< what came
    std::vector<std::pair<int64_t, uint8_t>> begun; ///< time and priority of queued frames sent
};

/** @ingroup distributed-training-fabric-tests A host that sends as fast as the line allows. */
class Blaster : public FrameSource
{
  public:
    /**
     * @param device of the host
     * @param destination endpoint
     * @param bytes frame size
     * @param priority traffic class
     * @param count frames to send
     */
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

    /**
     * @param start when to start, ps
     */
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

/** @ingroup distributed-training-fabric-tests A line of two hosts with switches between. */
struct Hop
{
    uint64_t rate; ///< bit/s
    int64_t delay; ///< ps
};

/**
 * @ingroup distributed-training-fabric-tests
 * @param hops the links from host 0 to host 1
 * @return the topology
 */
TopologyGraph
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

/**
 * @ingroup distributed-training-fabric-tests
 * @param action what to do
 * @return the text of the ConfigurationError it throws, or nothing
 */
std::string
GetError(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const ConfigurationError& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

/**
 * @ingroup distributed-training-fabric-tests
 * Frames over h store-and-forward hops arrive at the very picosecond an independent recursion says,
 * and cost one event per hop while the line is idle.
 */
class FabricHopTimeTestCase : public TestCase
{
  public:
    /**
     * @param name what is special
     * @param hops the links
     * @param sizes of the frames, sent back to back, bytes
     */
    FabricHopTimeTestCase(const std::string& name,
                          std::vector<Hop> hops,
                          std::vector<uint32_t> sizes)
        : TestCase("time over store-and-forward hops: " + name),
          m_hops(std::move(hops)),
          m_sizes(std::move(sizes))
    {
    }

  private:
    void DoRun() override;

    std::vector<Hop> m_hops;
    std::vector<uint32_t> m_sizes;
};

void
FabricHopTimeTestCase::DoRun()
{
    constexpr int64_t START = 1000003;
    UsePicoseconds();
    Fabric fabric = FabricHelper().Install(MakeChain(m_hops));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    FabricPort& port = fabric.devices[0]->GetPort();
    Simulator::Run(); // nodes initialize
    const uint64_t before = Simulator::GetEventCount();
    In(START, [&]() {
        for (uint32_t size : m_sizes)
        {
            port.Send(MakeFrame(size, LOSSLESS));
        }
    });
    Simulator::Run();

    // A rate at which a byte is a whole number of picoseconds is exact; at others each hop may
    // round.
    bool exact = true;
    std::vector<int64_t> free(m_hops.size(), 0);
    std::vector<int64_t> expected;
    for (uint32_t size : m_sizes)
    {
        int64_t time = START;
        for (std::size_t i = 0; i < m_hops.size(); i++)
        {
            exact = exact && 8000000000000 % m_hops[i].rate == 0;
            const int64_t begin = std::max(time, free[i]);
            free[i] = begin + LineTime(size + 20, m_hops[i].rate);
            time = begin + LineTime(size + 8, m_hops[i].rate) + m_hops[i].delay;
        }
        expected.push_back(time);
    }
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), m_sizes.size(), "every frame arrives");
    for (std::size_t i = 0; i < arrivals.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(arrivals[i].time,
                                  expected[i],
                                  exact ? 0 : static_cast<int64_t>(m_hops.size()),
                                  "arrival of frame " << i);
        NS_TEST_EXPECT_MSG_EQ(arrivals[i].bytes, m_sizes[i], "frames stay in order");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    if (exact && m_sizes.size() == 1)
    {
        NS_TEST_EXPECT_MSG_EQ(Simulator::GetEventCount() - before,
                              1 + m_hops.size(),
                              "one event per hop");
    }
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * A burst of n equal frames takes (n - 1) line times longer than one, and every port after the
 * first is found idle: n * h events for the hops and n - 1 for the first line.
 */
class FabricBurstTestCase : public TestCase
{
  public:
    /**
     * @param hops number of links
     * @param rate of them, bit/s; a byte must be a whole number of picoseconds
     * @param frames in the burst
     */
    FabricBurstTestCase(uint32_t hops, uint64_t rate, uint32_t frames)
        : TestCase("burst of " + std::to_string(frames) + " frames over " + std::to_string(hops) +
                   " hops"),
          m_hops(hops),
          m_rate(rate),
          m_frames(frames)
    {
    }

  private:
    void DoRun() override;

    uint32_t m_hops;
    uint64_t m_rate;
    uint32_t m_frames;
};

void
FabricBurstTestCase::DoRun()
{
    constexpr uint32_t BYTES = 4158;
    constexpr int64_t DELAY = 500000;
    UsePicoseconds();
    Fabric fabric = FabricHelper().Install(MakeChain(std::vector<Hop>(m_hops, Hop{m_rate, DELAY})));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    Simulator::Run(); // nodes initialize
    const uint64_t before = Simulator::GetEventCount();
    In(0, [&]() {
        for (uint32_t i = 0; i < m_frames; i++)
        {
            fabric.devices[0]->GetPort().Send(MakeFrame(BYTES, LOSSLESS));
        }
    });
    Simulator::Run();
    const int64_t byteTime = 8000000000000 / static_cast<int64_t>(m_rate);
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), m_frames, "every frame arrives");
    NS_TEST_EXPECT_MSG_EQ(arrivals.back().time,
                          m_hops * ((BYTES + 8) * byteTime + DELAY) +
                              (m_frames - 1) * (BYTES + 20) * byteTime,
                          "closed form");
    NS_TEST_EXPECT_MSG_EQ(Simulator::GetEventCount() - before,
                          1 + uint64_t{m_frames} * m_hops + m_frames - 1,
                          "events");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetPacketHops(), uint64_t{m_frames} * m_hops, "packet hops");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().markedFrames, 0, "nothing ever waits in a switch");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * Under random traffic with losses and drops nothing appears or vanishes unaccounted for.
 */
class FabricConservationTestCase : public TestCase
{
  public:
    FabricConservationTestCase()
        : TestCase("every frame is received, lost or dropped")
    {
    }

  private:
    void DoRun() override;
};

void
FabricConservationTestCase::DoRun()
{
    constexpr uint32_t HOSTS = 16;
    constexpr uint32_t FRAMES = 400;
    UsePicoseconds();
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(400000));
    helper.SetLoss(0.01);
    const TopologyGraph graph =
        BuildTopology("leaf-spine:leaves=4,spines=2", HOSTS, DataRate("100Gbps"), NanoSeconds(500));
    Fabric fabric = helper.Install(graph);
    uint64_t delivered = 0;
    uint64_t deliveredBytes = 0;
    uint64_t misdelivered = 0;
    for (uint32_t host = 0; host < HOSTS; host++)
    {
        fabric.devices[host]->SetRdmaReceiver([&, host](Frame* frame) {
            delivered++;
            deliveredBytes += frame->bytes;
            misdelivered += frame->destination != host;
            Frame::Free(frame);
        });
    }
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(1);
    uint64_t injectedBytes = 0;
    for (uint32_t i = 0; i < HOSTS * FRAMES; i++)
    {
        const uint32_t source = i % HOSTS;
        // One host in four is a hot spot, so that buffers fill.
        const uint32_t destination =
            (source + 1 + random->GetInteger(0, random->GetInteger(0, 3) ? 0 : HOSTS - 2)) % HOSTS;
        const uint32_t to = random->GetInteger(0, 1) ? 15 - source / 15 : destination;
        const uint32_t bytes = random->GetInteger(64, 9216);
        const uint8_t priority = random->GetInteger(0, 7);
        injectedBytes += bytes;
        In(random->GetInteger(0, 100000000), [&fabric, source, to, bytes, priority]() {
            Frame* frame = MakeFrame(bytes, priority, source, to);
            frame->ecn = Ecn::ECT;
            fabric.devices[source]->GetPort().Send(frame);
        });
    }
    Simulator::Run();
    for (const auto& channel : fabric.channels)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const PortCounters& here = channel->GetPort(end).counters;
            const PortCounters& there = channel->GetPort(1 - end).counters;
            NS_TEST_EXPECT_MSG_EQ(here.transmittedFrames,
                                  there.receivedFrames + here.lostFrames,
                                  "frames of a link");
            NS_TEST_EXPECT_MSG_EQ(here.transmittedBytes,
                                  there.receivedBytes + here.lostBytes,
                                  "bytes of a link");
        }
    }
    for (const auto& device : fabric.devicesOfSwitches)
    {
        PortCounters sum;
        for (uint16_t i = 0; i < device->GetNPorts(); i++)
        {
            const PortCounters& port = device->GetPort(i).counters;
            sum.receivedFrames += port.receivedFrames - port.pausesReceived;
            sum.transmittedFrames += port.transmittedFrames - port.pausesSent;
            sum.droppedFrames += port.droppedFrames;
        }
        NS_TEST_EXPECT_MSG_EQ(sum.receivedFrames,
                              sum.transmittedFrames + sum.droppedFrames,
                              "frames of a switch");
        NS_TEST_EXPECT_MSG_EQ(device->GetBuffer().GetUsed(), 0, "the buffer is empty at the end");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(device->GetBuffer().GetPeak(), 400000, "memory is finite");
    }
    const PortCounters total = fabric.GetTotal();
    const uint64_t pauseFrames = total.pausesSent - total.pausesReceived; // of these, lost
    NS_TEST_EXPECT_MSG_GT(total.droppedFrames, 0, "the test must reach the drops");
    NS_TEST_EXPECT_MSG_GT(total.lostFrames, 0, "and the losses");
    NS_TEST_EXPECT_MSG_GT(total.pausesReceived, 0, "and the pauses");
    NS_TEST_EXPECT_MSG_EQ(misdelivered, 0, "frames reach the host they go to");
    NS_TEST_EXPECT_MSG_EQ(uint64_t{HOSTS} * FRAMES,
                          delivered + total.droppedFrames + total.lostFrames - pauseFrames,
                          "injected = delivered + dropped + lost");
    NS_TEST_EXPECT_MSG_EQ(injectedBytes,
                          deliveredBytes + total.droppedBytes + total.lostBytes -
                              pauseFrames * Frame::MINIMUM_BYTES,
                          "the same in bytes");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * n equally greedy queues settle at alpha * B / (1 + n * alpha) (Choudhury and Hahne), lossy
 * classes by what waits at the way out, lossless ones by what came in.
 */
class FabricThresholdTestCase : public TestCase
{
  public:
    /**
     * @param queues number of congested queues
     * @param alpha threshold factor
     */
    FabricThresholdTestCase(uint32_t queues, double alpha)
        : TestCase("dynamic threshold of " + std::to_string(queues) + " queues, alpha " +
                   std::to_string(alpha)),
          m_queues(queues),
          m_alpha(alpha)
    {
    }

  private:
    void DoRun() override;

    uint32_t m_queues;
    double m_alpha;
};

void
FabricThresholdTestCase::DoRun()
{
    constexpr uint64_t SIZE = 9000000;
    constexpr uint32_t BYTES = 100;
    UsePicoseconds();
    const double expected = m_alpha * SIZE / (1 + m_queues * m_alpha);

    SharedBuffer::Configuration configuration;
    configuration.size = SIZE;
    configuration.lossyAlpha = m_alpha;
    configuration.losslessAlpha = m_alpha;
    SharedBuffer lossy;
    NS_TEST_EXPECT_MSG_EQ(lossy.Configure(configuration, std::vector<uint64_t>(m_queues, 1000)),
                          0,
                          "no lossless class needs no headroom");
    std::vector<uint64_t> queue(m_queues, 0);
    Frame* frame = MakeFrame(BYTES, LOSSY);
    for (bool more = true; more;)
    {
        more = false;
        for (uint64_t& bytes : queue)
        {
            if (lossy.Admit(*frame, bytes))
            {
                bytes += BYTES;
                more = true;
            }
        }
    }
    for (uint64_t bytes : queue)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(bytes),
                                  expected,
                                  2.0 * BYTES * (1 + m_alpha),
                                  "a lossy queue");
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(lossy.GetThreshold(m_alpha)),
                              expected,
                              2.0 * BYTES * (1 + m_alpha),
                              "the threshold itself");
    for (uint64_t bytes : queue)
    {
        for (; bytes > 0; bytes -= BYTES)
        {
            lossy.Release(*frame);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(lossy.GetUsed(), 0, "empty again");
    NS_TEST_EXPECT_MSG_EQ(lossy.GetThreshold(1), SIZE, "and the pool whole");

    // Lossless: senders stop when paused; pool is what guarantees and headroom leave.
    constexpr uint64_t GUARANTEED = 1000;
    constexpr uint64_t HEADROOM = 2000;
    constexpr uint64_t RESUME_OFFSET = 3000;
    configuration.guaranteed = GUARANTEED;
    configuration.losslessClasses = 1 << LOSSLESS;
    configuration.resumeOffset = RESUME_OFFSET;
    SharedBuffer lossless;
    NS_TEST_EXPECT_MSG_EQ(
        lossless.Configure(configuration, std::vector<uint64_t>(m_queues, HEADROOM)),
        0,
        "the headroom fits");
    const uint64_t pool = SIZE - m_queues * (GUARANTEED + HEADROOM);
    NS_TEST_EXPECT_MSG_EQ(lossless.GetThreshold(1), pool, "the pool");
    frame->priority = LOSSLESS;
    std::vector<uint64_t> held(m_queues, 0);
    for (bool more = true; more;)
    {
        more = false;
        for (uint16_t port = 0; port < m_queues; port++)
        {
            if (!lossless.IsPausing(port, LOSSLESS))
            {
                frame->ingress = port;
                NS_TEST_ASSERT_MSG_EQ(lossless.Admit(*frame, 0), true, "never refused");
                held[port] += BYTES;
                more = true;
                const auto action = lossless.Decide(port, LOSSLESS);
                NS_TEST_EXPECT_MSG_EQ((action == SharedBuffer::Action::PAUSE),
                                      lossless.IsPausing(port, LOSSLESS),
                                      "the answer is remembered");
            }
        }
    }
    for (uint64_t bytes : held)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(bytes - GUARANTEED),
                                  m_alpha * static_cast<double>(pool) / (1 + m_queues * m_alpha),
                                  2.0 * BYTES * (1 + m_alpha),
                                  "use of an ingress port when it is paused");
    }
    // What is on its way still fits, to the last byte of the headroom.
    for (uint16_t port = 0; port < m_queues; port++)
    {
        frame->ingress = port;
        uint64_t more = 0;
        while (lossless.Admit(*frame, 0))
        {
            more += BYTES;
        }
        held[port] += more;
        NS_TEST_EXPECT_MSG_GT_OR_EQ(more + BYTES, HEADROOM, "headroom");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(more, HEADROOM + BYTES, "no more than headroom");
    }
    for (uint16_t port = 0; port < m_queues; port++)
    {
        frame->ingress = port;
        bool resumed = false;
        const uint64_t start = held[port];
        for (; held[port] > 0; held[port] -= BYTES)
        {
            lossless.Release(*frame);
            const bool resumes = lossless.Decide(port, LOSSLESS) == SharedBuffer::Action::RESUME;
            NS_TEST_EXPECT_MSG_EQ((resumes && resumed), false, "one resume per pause");
            const uint64_t left = held[port] - BYTES;
            const uint64_t use = left > GUARANTEED ? left - GUARANTEED : 0;
            // The headroom empties first; then the first moment that is far enough below.
            if (!resumed && start - left > HEADROOM)
            {
                NS_TEST_EXPECT_MSG_EQ(
                    resumes,
                    (use == 0 || use + RESUME_OFFSET <= lossless.GetThreshold(m_alpha)),
                    "resumes at the offset below the threshold");
            }
            resumed = resumed || resumes;
        }
        NS_TEST_EXPECT_MSG_EQ(resumed, true, "an empty port is not left paused");
    }
    NS_TEST_EXPECT_MSG_EQ(lossless.GetUsed(), 0, "empty again");
    NS_TEST_EXPECT_MSG_EQ(lossless.GetThreshold(1), pool, "and the pool whole");
    Frame::Free(frame);

    // Headroom that does not fit is cut, and said so.
    SharedBuffer small;
    NS_TEST_EXPECT_MSG_EQ(small.Configure(configuration, {4000000, 1000000}),
                          5000000 - SIZE / 2,
                          "missing headroom");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * The same law in a switch: output queues that two senders each overload stand at the threshold.
 */
class FabricCongestedQueuesTestCase : public TestCase
{
  public:
    /**
     * @param queues number of congested outputs
     */
    explicit FabricCongestedQueuesTestCase(uint32_t queues)
        : TestCase("queue length at " + std::to_string(queues) + " overloaded outputs"),
          m_queues(queues)
    {
    }

  private:
    void DoRun() override;

    uint32_t m_queues;
};

void
FabricCongestedQueuesTestCase::DoRun()
{
    constexpr uint32_t BYTES = 1000;
    constexpr double ALPHA = 0.5;
    constexpr uint64_t SIZE = 300000;
    UsePicoseconds();
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(SIZE));
    helper.SetSwitchAttribute("LosslessClasses", UintegerValue(0));
    helper.SetSwitchAttribute("LossyAlpha", DoubleValue(ALPHA));
    Fabric fabric = helper.Install(
        BuildTopology("single-switch", 3 * m_queues, DataRate("100Gbps"), NanoSeconds(100)));
    std::vector<std::unique_ptr<Blaster>> senders;
    for (uint32_t i = 0; i < 2 * m_queues; i++)
    {
        senders.push_back(std::make_unique<Blaster>(fabric.devices[m_queues + i],
                                                    i % m_queues,
                                                    BYTES,
                                                    LOSSY,
                                                    UINT64_MAX));
        senders.back()->Start(0);
    }
    Simulator::Stop(MicroSeconds(200));
    Simulator::Run();
    for (uint16_t i = 0; i < m_queues; i++)
    {
        const FabricPort& port = fabric.devicesOfSwitches[0]->GetPort(i);
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(port.GetQueueBytes(LOSSY)),
                                  ALPHA * SIZE / (1 + m_queues * ALPHA),
                                  3.0 * BYTES,
                                  "queue " << i);
        // The output never idles: 200 us less the way of the first frame.
        NS_TEST_EXPECT_MSG_EQ_TOL(port.counters.transmittedFrames,
                                  200000000u / LineTime(BYTES + 20, 100000000000),
                                  3,
                                  "frames at line rate");
        NS_TEST_EXPECT_MSG_GT(port.counters.droppedFrames, 0, "the rest is dropped");
    }
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * Priority flow control: with headroom, an incast of blasting senders loses nothing and keeps the
 * receiver's line full; with a memory too small for the headroom it loses frames.
 */
class FabricIncastTestCase : public TestCase
{
  public:
    /**
     * @param senders number of them
     * @param rate of each link, bit/s
     * @param delay of each link
     * @param bytes frame size
     * @param buffer memory of the switch, bytes
     * @param lossless whether nothing may be dropped
     */
    FabricIncastTestCase(uint32_t senders,
                         uint64_t rate,
                         int64_t delay,
                         uint32_t bytes,
                         uint64_t buffer,
                         bool lossless)
        : TestCase("incast of " + std::to_string(senders) + " at " + std::to_string(rate) +
                   " bit/s, " + std::to_string(bytes) + " bytes, buffer " + std::to_string(buffer)),
          m_senders(senders),
          m_rate(rate),
          m_delay(delay),
          m_bytes(bytes),
          m_buffer(buffer),
          m_lossless(lossless)
    {
    }

  private:
    void DoRun() override;

    uint32_t m_senders;
    uint64_t m_rate;
    int64_t m_delay;
    uint32_t m_bytes;
    uint64_t m_buffer;
    bool m_lossless;
};

void
FabricIncastTestCase::DoRun()
{
    UsePicoseconds();
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(m_buffer));
    Fabric fabric = helper.Install(
        BuildTopology("single-switch", m_senders + 1, DataRate(m_rate), TimeStep(m_delay)));
    NS_TEST_EXPECT_MSG_EQ((fabric.missingHeadroom == 0), m_lossless, "headroom");
    Arrivals arrivals;
    NoteArrivals(fabric.devices[0], arrivals);
    const uint64_t frames = 200;
    std::vector<std::unique_ptr<Blaster>> senders;
    for (uint32_t i = 1; i <= m_senders; i++)
    {
        senders.push_back(
            std::make_unique<Blaster>(fabric.devices[i], 0, m_bytes, LOSSLESS, frames));
        senders.back()->Start(i);
    }
    Simulator::Run();
    const PortCounters total = fabric.GetTotal();
    NS_TEST_EXPECT_MSG_EQ(arrivals.size() + total.droppedFrames,
                          frames * m_senders,
                          "received or dropped");
    NS_TEST_EXPECT_MSG_EQ((total.droppedFrames == 0), m_lossless, "drops");
    NS_TEST_EXPECT_MSG_GT(total.pausesSent, 0, "senders were paused");
    NS_TEST_EXPECT_MSG_EQ(total.pausesSent, total.pausesReceived, "no pause is lost");
    for (uint32_t i = 1; i <= m_senders; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(senders[i - 1]->sent, frames, "every sender has finished");
    }
    if (m_lossless)
    {
        // A pause never empties the switch, so the receiver's line is busy throughout.
        NS_TEST_EXPECT_MSG_EQ_TOL(
            static_cast<double>(arrivals.back().time - arrivals.front().time),
            static_cast<double>(LineTime((m_bytes + 20) * (arrivals.size() - 1), m_rate)),
            static_cast<double>(arrivals.size()),
            "line rate at the receiver");
        // Arbitration by pauses is fair between ingress ports: at half-time all have sent alike.
        std::map<uint32_t, double> share;
        for (std::size_t i = 0; i < arrivals.size() / 2; i++)
        {
            share[arrivals[i].source]++;
        }
        double sum = 0;
        double squares = 0;
        for (const auto& [source, count] : share)
        {
            sum += count;
            squares += count * count;
        }
        NS_TEST_EXPECT_MSG_GT(sum * sum / (m_senders * squares), 0.97, "Jain's fairness index");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * The headroom suffices at its worst: pauses wait behind the largest frames, and senders have just
 * begun another one.
 */
class FabricHeadroomTestCase : public TestCase
{
  public:
    /**
     * @param bytes size of all frames and the largest there is
     */
    explicit FabricHeadroomTestCase(uint32_t bytes)
        : TestCase("headroom for frames of " + std::to_string(bytes) + " bytes"),
          m_bytes(bytes)
    {
    }

  private:
    void DoRun() override;

    uint32_t m_bytes;
};

void
FabricHeadroomTestCase::DoRun()
{
    UsePicoseconds();
    constexpr uint32_t PHASES = 24;
    const int64_t lineTime = LineTime(m_bytes + 20, 100000000000);
    uint64_t dropped = 0;
    uint64_t pauses = 0;
    for (uint32_t phase = 0; phase < PHASES; phase++)
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("BufferSize", UintegerValue(1000000));
        helper.SetSwitchAttribute("LargestFrame", UintegerValue(m_bytes));
        Fabric fabric = helper.Install(
            BuildTopology("single-switch",
                          3,
                          DataRate("100Gbps"),
                          TimeStep(100000 + (phase * 7 % PHASES) * lineTime / PHASES)));
        // Host 0 overloads a host that does not listen; host 2 fills the way of the pauses.
        fabric.devicesOfSwitches[0]->GetPort(1).Arrive(MakePause(1 << LOSSLESS, 65535));
        Blaster sender(fabric.devices[0], 1, m_bytes, LOSSLESS, 1000);
        Blaster reverse(fabric.devices[2], 0, m_bytes, LOSSY, 400);
        sender.Start(lineTime);
        reverse.Start(phase * lineTime / PHASES);
        Simulator::Stop(MicroSeconds(300)); // within 65535 quanta
        Simulator::Run();
        const PortCounters& port = fabric.devicesOfSwitches[0]->GetPort(1).counters;
        dropped += port.droppedFrames;
        pauses += fabric.devicesOfSwitches[0]->GetPort(0).counters.pausesSent;
        NS_TEST_EXPECT_MSG_EQ(fabric.missingHeadroom, 0, "the headroom fits");
        NS_TEST_EXPECT_MSG_LT(sender.sent, 1000, "the sender is paused");
        Simulator::Destroy();
    }
    NS_TEST_EXPECT_MSG_EQ(dropped, 0, "lossless frames dropped");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(pauses, PHASES, "pauses");
}

/**
 * @ingroup distributed-training-fabric-tests
 * Congestion that outlasts a pause: the switch renews it, and still nothing is dropped.
 */
class FabricLongPauseTestCase : public TestCase
{
  public:
    FabricLongPauseTestCase()
        : TestCase("a pause is renewed before it expires")
    {
    }

  private:
    void DoRun() override;
};

void
FabricLongPauseTestCase::DoRun()
{
    UsePicoseconds();
    FabricHelper helper;
    helper.SetSwitchAttribute("BufferSize", UintegerValue(1000000));
    Fabric fabric =
        helper.Install(BuildTopology("single-switch", 2, DataRate("100Gbps"), NanoSeconds(500)));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    Blaster sender(fabric.devices[0], 1, 4158, LOSSLESS, 2000);
    sender.Start(0);
    // The receiver does not listen for 3 ms, nine times the longest pause at 100 Gbit/s.
    for (int64_t time = 0; time < 3000000000; time += 100000000)
    {
        In(time, [&]() { fabric.devices[1]->GetPort().SendPause(1 << LOSSLESS, 65535); });
    }
    In(3000000000, [&]() { fabric.devices[1]->GetPort().SendPause(1 << LOSSLESS, 0); });
    uint64_t sentEarly = 0;
    uint64_t sentLate = 0;
    In(300000000, [&]() { sentEarly = sender.sent; });
    In(2999000000, [&]() { sentLate = sender.sent; });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_LT(sentEarly, 2000, "the sender is paused");
    NS_TEST_EXPECT_MSG_EQ(sentLate, sentEarly, "and stays so");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().droppedFrames, 0, "lossless frames dropped");
    NS_TEST_EXPECT_MSG_EQ(arrivals.size(), 2000, "all arrive in the end");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * A pause holds its priorities, and only these, for quanta * 512 bit times or until a resume.
 */
class FabricPauseTestCase : public TestCase
{
  public:
    /**
     * @param rate of the link, bit/s
     * @param quanta length of the pause
     */
    FabricPauseTestCase(uint64_t rate, uint16_t quanta)
        : TestCase("pause of " + std::to_string(quanta) + " quanta at " + std::to_string(rate) +
                   " bit/s"),
          m_rate(rate),
          m_quanta(quanta)
    {
    }

  private:
    void DoRun() override;

    uint64_t m_rate;
    uint16_t m_quanta;
};

void
FabricPauseTestCase::DoRun()
{
    UsePicoseconds();
    constexpr uint32_t BYTES = 1000;
    constexpr int64_t DELAY = 1000000;
    const int64_t frameTime = LineTime(BYTES + 20, m_rate);
    const int64_t pauseAt = 10 * frameTime + frameTime / 2;
    const int64_t arrives = pauseAt + LineTime(Frame::MINIMUM_BYTES + 8, m_rate) + DELAY;
    const int64_t length = std::llround(static_cast<long double>(m_quanta) * 512e12L /
                                        static_cast<long double>(m_rate));
    const auto frames = static_cast<uint32_t>((arrives + length) / frameTime + 100);

    for (const bool resume : {false, true})
    {
        for (const bool other : {false, true})
        {
            Recorder a;
            Recorder b;
            a.port.Connect(b.port, m_rate, TimeStep(DELAY));
            b.port.Connect(a.port, m_rate, TimeStep(DELAY));
            for (uint32_t i = 0; i < frames; i++)
            {
                a.port.Send(MakeFrame(BYTES, LOSSLESS));
                if (other)
                {
                    a.port.Send(MakeFrame(BYTES, 1));
                }
            }
            In(pauseAt, [&]() { b.port.SendPause(1 << LOSSLESS, m_quanta); });
            int64_t ends = arrives + length;
            if (resume)
            {
                ends = arrives + length / 2;
                In(pauseAt + length / 2, [&]() { b.port.SendPause(1 << LOSSLESS, 0); });
            }
            bool pausedInside = false;
            bool otherPausedInside = true;
            In((arrives + ends) / 2, [&]() {
                pausedInside = a.port.IsPaused(LOSSLESS);
                otherPausedInside = a.port.IsPaused(1);
            });
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(pausedInside, true, "paused");
            NS_TEST_EXPECT_MSG_EQ(otherPausedInside, false, "the other priority is not paused");
            NS_TEST_EXPECT_MSG_EQ(a.port.IsPaused(LOSSLESS), false, "not for ever");
            int64_t firstAfter = 0;
            int64_t previous = -1;
            uint32_t othersInside = 0;
            uint32_t inside = 0;
            for (const auto& [time, priority] : a.begun)
            {
                if (priority == LOSSLESS)
                {
                    inside += time > arrives && time < ends - 1;
                    firstAfter = firstAfter == 0 && time >= ends - 1 ? time : firstAfter;
                }
                else
                {
                    othersInside += time > arrives + frameTime && time < ends - frameTime;
                }
                if (other)
                {
                    NS_TEST_EXPECT_MSG_EQ((previous < 0 || time - previous <= frameTime + 1),
                                          true,
                                          "with another priority waiting the line never idles");
                }
                previous = time;
            }
            NS_TEST_EXPECT_MSG_EQ(inside, 0, "nothing starts while paused");
            if (other)
            {
                NS_TEST_EXPECT_MSG_GT_OR_EQ(othersInside + 4,
                                            (ends - arrives) / frameTime,
                                            "the other priority has the whole line");
                NS_TEST_EXPECT_MSG_LT_OR_EQ(firstAfter, ends + 20 * frameTime, "resumes");
            }
            else
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(firstAfter, ends, 1, "the pause ends to the picosecond");
            }
            NS_TEST_EXPECT_MSG_EQ(b.arrivals.size(), frames * (other ? 2 : 1), "all arrive");
            Simulator::Destroy();
        }
    }
}

/**
 * @ingroup distributed-training-fabric-tests
 * ECN marking by queue length: none up to Kmin, all above Kmax, between in linear proportion up to
 * Pmax (binomial test), and never a frame that is not ECN capable.
 */
class FabricMarkingTestCase : public TestCase
{
  public:
    FabricMarkingTestCase()
        : TestCase("ECN marking")
    {
    }

  private:
    void DoRun() override;
};

void
FabricMarkingTestCase::DoRun()
{
    UsePicoseconds();
    constexpr uint32_t BYTES = 1000;
    constexpr uint32_t FRAMES = 2000;
    constexpr double KMIN = 400000;  // 4000 B per Gbit/s at 100 Gbit/s
    constexpr double KMAX = 1600000; // 16000
    constexpr double PMAX = 0.2;
    double expected = 0;
    double variance = 0;
    uint64_t marked = 0;
    uint64_t counted = 0;
    for (uint32_t round = 0; round < 10; round++)
    {
        Fabric fabric = FabricHelper().Install(
            BuildTopology("single-switch", 2, DataRate("100Gbps"), NanoSeconds(10)));
        SwitchDevice& device = *fabric.devicesOfSwitches[0];
        device.AssignStreams(100 + round);
        Arrivals arrivals;
        NoteArrivals(fabric.devices[1], arrivals);
        // Fill the queue while it is paused, then let it drain: each length is passed once.
        device.GetPort(1).Arrive(MakePause(1 << LOSSY, 1000));
        for (uint32_t i = 0; i < FRAMES; i++)
        {
            Frame* frame = MakeFrame(BYTES, LOSSY);
            frame->psn = i;
            frame->ecn = i % 8 == 7 ? Ecn::NOT_ECT : Ecn::ECT;
            device.Receive(frame, device.GetPort(0));
        }
        NS_TEST_ASSERT_MSG_EQ(device.GetPort(1).GetQueueBytes(LOSSY), FRAMES * BYTES, "filled");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), FRAMES, "drained");
        for (uint32_t i = 0; i < FRAMES; i++)
        {
            NS_TEST_ASSERT_MSG_EQ(arrivals[i].psn, i, "in order");
            const double queue = (FRAMES - 1 - i) * BYTES; // behind it as it leaves
            const bool ce = arrivals[i].ecn == Ecn::CE;
            if (i % 8 == 7)
            {
                NS_TEST_EXPECT_MSG_EQ((arrivals[i].ecn == Ecn::NOT_ECT), true, "never marked");
                continue;
            }
            if (queue > KMAX)
            {
                NS_TEST_EXPECT_MSG_EQ(ce, true, "above Kmax all are marked, queue " << queue);
            }
            else if (queue <= KMIN)
            {
                NS_TEST_EXPECT_MSG_EQ(ce, false, "up to Kmin none is marked, queue " << queue);
            }
            else
            {
                const double p = PMAX * (queue - KMIN) / (KMAX - KMIN);
                expected += p;
                variance += p * (1 - p);
                marked += ce;
            }
            counted += ce;
        }
        NS_TEST_EXPECT_MSG_EQ(device.GetPort(1).counters.markedFrames, counted, "the counter");
        counted = 0;
        Simulator::Destroy();
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(marked),
                              expected,
                              4 * std::sqrt(variance),
                              "marks between Kmin and Kmax");
}

/**
 * @ingroup distributed-training-fabric-tests
 * Priorities 6 and 7 go first; the others share the line by bytes, whatever their frame sizes.
 */
class FabricSchedulerTestCase : public TestCase
{
  public:
    /**
     * @param sizes frame size by priority, for those that have frames
     */
    explicit FabricSchedulerTestCase(std::map<uint8_t, uint32_t> sizes)
        : TestCase("scheduler of " + std::to_string(sizes.size()) + " classes"),
          m_sizes(std::move(sizes))
    {
    }

  private:
    void DoRun() override;

    std::map<uint8_t, uint32_t> m_sizes;
};

void
FabricSchedulerTestCase::DoRun()
{
    UsePicoseconds();
    constexpr uint64_t BACKLOG = 2000000;
    constexpr double QUANTUM = 9216;
    Recorder a;
    Recorder b;
    a.port.Connect(b.port, 100000000000, NanoSeconds(10));
    b.port.Connect(a.port, 100000000000, NanoSeconds(10));
    a.port.Send(MakeFrame(1500, 2)); // occupies the line while the queues fill
    uint64_t frames = 1;
    for (const auto& [priority, bytes] : m_sizes)
    {
        for (uint64_t sum = 0; sum < BACKLOG; sum += bytes)
        {
            a.port.Send(MakeFrame(bytes, priority));
            frames++;
        }
    }
    // Priorities 6 and 7 come late, in the middle of the others.
    In(50000000, [&]() {
        for (uint8_t priority : {6, 7, 6, 7})
        {
            a.port.Send(MakeFrame(9000, priority));
        }
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(b.arrivals.size(), frames + 4, "all arrive");
    std::map<uint8_t, double> sent;
    std::vector<uint8_t> strict;
    for (std::size_t i = 1; i < b.arrivals.size(); i++)
    {
        const Arrival& arrival = b.arrivals[i];
        if (arrival.priority >= 6)
        {
            strict.push_back(arrival.priority);
            // Behind at most the frame under way, then one by one.
            NS_TEST_EXPECT_MSG_LT_OR_EQ(arrival.time,
                                        50000000 + 10000 + LineTime(10000, 100000000000) +
                                            static_cast<int64_t>(strict.size()) *
                                                LineTime(9020, 100000000000),
                                        "strict priority");
            continue;
        }
        sent[arrival.priority] += arrival.bytes;
        if (sent[arrival.priority] + QUANTUM > BACKLOG)
        {
            break; // from here on one class has nothing left
        }
        double least = BACKLOG;
        double most = 0;
        for (const auto& [priority, bytes] : m_sizes)
        {
            least = std::min(least, sent[priority]);
            most = std::max(most, sent[priority]);
        }
        NS_TEST_ASSERT_MSG_LT_OR_EQ(most - least, 2 * QUANTUM, "bytes are shared equally");
    }
    const bool ordered = strict == std::vector<uint8_t>{7, 7, 6, 6};
    NS_TEST_EXPECT_MSG_EQ(ordered, true, "7 before 6, both before all others");
    NS_TEST_EXPECT_MSG_EQ_TOL(
        static_cast<double>(b.arrivals.back().time),
        static_cast<double>(
            LineTime(a.port.counters.transmittedBytes + 20 * (frames + 4), 100000000000)),
        20000.0,
        "the line never idles");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * A source of frames made on demand and the port's own queue of another class share the line.
 */
class FabricSourceSharingTestCase : public TestCase
{
  public:
    FabricSourceSharingTestCase()
        : TestCase("queued frames and frames on demand share a port by bytes")
    {
    }

  private:
    void DoRun() override;
};

void
FabricSourceSharingTestCase::DoRun()
{
    UsePicoseconds();
    Fabric fabric = FabricHelper().Install(MakeChain({Hop{100000000000, 1000}}));
    Arrivals arrivals;
    NoteArrivals(fabric.devices[1], arrivals);
    Blaster rdma(fabric.devices[0], 1, 4158, LOSSLESS, UINT64_MAX);
    rdma.Start(0);
    In(0, [&]() {
        for (uint32_t i = 0; i < 1000; i++)
        {
            fabric.devices[0]->GetPort().Send(MakeFrame(1500, LOSSY));
        }
    });
    Simulator::Stop(MicroSeconds(200));
    Simulator::Run();
    double bytes[2] = {};
    for (const Arrival& arrival : arrivals)
    {
        bytes[arrival.priority == LOSSLESS] += arrival.bytes;
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(bytes[0], bytes[1], 2 * 9216.0, "equal bytes");
    NS_TEST_EXPECT_MSG_EQ_TOL(bytes[0] + bytes[1] + 20.0 * arrivals.size(),
                              2500000.0,
                              5000.0,
                              "200 us of the line");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * ECMP: flows spread evenly over all shortest paths, independently at each tier, and a flow keeps
 * to one path.
 */
class FabricEcmpTestCase : public TestCase
{
  public:
    FabricEcmpTestCase()
        : TestCase("ECMP")
    {
    }

  private:
    void DoRun() override;
};

void
FabricEcmpTestCase::DoRun()
{
    UsePicoseconds();
    constexpr uint32_t FLOWS = 2000;
    constexpr uint32_t EACH = 5;
    for (const std::string& spec : {std::string("leaf-spine:leaves=2,spines=4,hosts-per-leaf=2"),
                                    std::string("fat-tree:k=4")})
    {
        const TopologyGraph graph = BuildTopology(spec, 4, DataRate("100Gbps"), NanoSeconds(100));
        Fabric fabric = FabricHelper().Install(graph);
        const uint32_t last = graph.hosts - 1; // in another leaf, or another pod
        Arrivals arrivals;
        NoteArrivals(fabric.devices[last], arrivals);
        for (uint32_t i = 0; i < FLOWS * EACH; i++)
        {
            In(int64_t{i} * 20000, [&fabric, last, i]() {
                Frame* frame = MakeFrame(100, LOSSLESS, 0, last);
                frame->flowHash = HashFlow(0, last, i % FLOWS);
                frame->psn = i;
                fabric.devices[0]->GetPort().Send(frame);
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), FLOWS * EACH, "all arrive");
        for (std::size_t i = 0; i < arrivals.size(); i++)
        {
            NS_TEST_ASSERT_MSG_EQ(arrivals[i].psn, i, "in order at this load");
        }
        // Spines, or cores: the last four switches.
        uint32_t used = 0;
        for (uint32_t i = graph.switches - 4; i < graph.switches; i++)
        {
            uint64_t frames = 0;
            SwitchDevice& device = *fabric.devicesOfSwitches[i];
            for (uint16_t port = 0; port < device.GetNPorts(); port++)
            {
                frames += device.GetPort(port).counters.receivedFrames;
            }
            NS_TEST_EXPECT_MSG_EQ(frames % EACH, 0, "a flow keeps to one path");
            // Binomial with p = 1/4; five standard deviations.
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(frames / EACH),
                                      FLOWS / 4.0,
                                      5 * std::sqrt(FLOWS * 0.25 * 0.75),
                                      "flows on path " << i << " of " << spec);
            used += frames > 0;
        }
        NS_TEST_EXPECT_MSG_EQ(used, 4, "all paths are used");
        Simulator::Destroy();
    }
}

/**
 * @ingroup distributed-training-fabric-tests
 * Random loss: its rate, both directions independent, repeatable for equal seeds and only for
 * these.
 */
class FabricLossTestCase : public TestCase
{
  public:
    FabricLossTestCase()
        : TestCase("random loss")
    {
    }

  private:
    void DoRun() override;

    /**
     * @param rate probability of loss
     * @return what arrived at hosts 0 and 1
     */
    std::vector<Arrivals> Exchange(double rate);

    static constexpr uint32_t FRAMES = 20000; ///< sent each way
};

std::vector<Arrivals>
FabricLossTestCase::Exchange(double rate)
{
    FabricHelper helper;
    helper.SetLoss(rate);
    Fabric fabric = helper.Install(MakeChain({Hop{100000000000, 1000000}}));
    std::vector<Arrivals> arrivals(2);
    for (uint32_t host = 0; host < 2; host++)
    {
        NoteArrivals(fabric.devices[host], arrivals[host]);
        for (uint32_t i = 0; i < FRAMES; i++)
        {
            Frame* frame = MakeFrame(100, LOSSLESS, host, 1 - host);
            frame->psn = i;
            fabric.devices[host]->GetPort().Send(frame);
        }
    }
    Simulator::Run();
    for (uint32_t host = 0; host < 2; host++)
    {
        NS_TEST_EXPECT_MSG_EQ(arrivals[host].size() +
                                  fabric.devices[1 - host]->GetPort().counters.lostFrames,
                              FRAMES,
                              "received or lost");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
    return arrivals;
}

void
FabricLossTestCase::DoRun()
{
    UsePicoseconds();
    const uint64_t run = RngSeedManager::GetRun();
    for (const double rate : {0.0, 0.01, 0.5, 1.0})
    {
        for (const Arrivals& arrivals : Exchange(rate))
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(FRAMES - arrivals.size()),
                                      FRAMES * rate,
                                      5 * std::sqrt(FRAMES * rate * (1 - rate)),
                                      "frames lost at rate " << rate);
        }
    }
    const auto first = Exchange(0.01);
    const auto again = Exchange(0.01);
    NS_TEST_EXPECT_MSG_EQ((first == again), true, "equal seeds, equal losses");
    std::vector<uint32_t> psns[2];
    for (uint32_t host = 0; host < 2; host++)
    {
        for (const Arrival& arrival : first[host])
        {
            psns[host].push_back(arrival.psn);
        }
    }
    NS_TEST_EXPECT_MSG_EQ((psns[0] == psns[1]), false, "directions are independent");
    RngSeedManager::SetRun(run + 1);
    const auto other = Exchange(0.01);
    RngSeedManager::SetRun(run);
    NS_TEST_EXPECT_MSG_EQ((first == other), false, "another run, other losses");
}

/**
 * @ingroup distributed-training-fabric-tests
 * Counts, distances and equal paths of a topology, and that its tables carry frames between all
 * pairs of hosts by shortest paths.
 */
class FabricTopologyTestCase : public TestCase
{
  public:
    /** What a topology must be. */
    struct Expected
    {
        uint32_t hosts;                   ///< number of hosts
        uint32_t switches;                ///< number of switches
        uint32_t links;                   ///< number of links
        std::map<uint32_t, uint32_t> far; ///< by hops of a pair: hosts at that distance from host 0
        uint32_t paths;                   ///< links on from the first switch to the last host
    };

    /**
     * @param spec what a user types
     * @param ranks number of ranks
     * @param expected what it must be
     */
    FabricTopologyTestCase(const std::string& spec, uint32_t ranks, Expected expected)
        : TestCase("topology " + spec),
          m_spec(spec),
          m_ranks(ranks),
          m_expected(std::move(expected))
    {
    }

  private:
    void DoRun() override;

    std::string m_spec;
    uint32_t m_ranks;
    Expected m_expected;
};

void
FabricTopologyTestCase::DoRun()
{
    UsePicoseconds();
    const Time delay = NanoSeconds(300);
    const TopologyGraph graph = BuildTopology(m_spec, m_ranks, DataRate("100Gbps"), delay);
    const ShortestPaths paths(graph);
    NS_TEST_ASSERT_MSG_EQ(graph.hosts, m_expected.hosts, "hosts");
    NS_TEST_EXPECT_MSG_EQ(graph.switches, m_expected.switches, "switches");
    NS_TEST_EXPECT_MSG_EQ(graph.links.size(), m_expected.links, "links");
    NS_TEST_EXPECT_MSG_EQ(graph.GetNodes(), m_expected.hosts + m_expected.switches, "nodes");
    for (const auto& link : graph.links)
    {
        NS_TEST_EXPECT_MSG_EQ(link.rate.GetBitRate(), 100000000000, "rate");
        NS_TEST_EXPECT_MSG_EQ(link.delay, delay, "delay");
    }
    const uint32_t longest = m_expected.far.empty() ? 0 : m_expected.far.rbegin()->first;
    NS_TEST_EXPECT_MSG_EQ(paths.GetDiameter(graph.hosts),
                          TimeStep(longest * delay.GetTimeStep()),
                          "diameter");
    NS_TEST_EXPECT_MSG_EQ(paths.GetLongestPath(graph.hosts), longest, "longest path");
    NS_TEST_EXPECT_MSG_EQ(paths.GetDiameter(1).GetTimeStep(), 0, "diameter of one host");
    std::map<uint32_t, uint32_t> far;
    uint64_t hops = 0;
    for (uint32_t b = 0; b < graph.hosts; b++)
    {
        const ShortestPaths::NextLinks next = paths.GetRoutes(b);
        uint32_t steps = 0;
        for (uint32_t a = 0; a < graph.hosts; a++)
        {
            uint32_t node = a;
            while (node != b)
            {
                NS_TEST_ASSERT_MSG_EQ(next[node].empty(), false, "there is a way on");
                const uint32_t link = next[node].front();
                NS_TEST_ASSERT_MSG_EQ((graph.links[link].a == node || graph.links[link].b == node),
                                      true,
                                      "connected");
                node = graph.links[link].a == node ? graph.links[link].b : graph.links[link].a;
                NS_TEST_ASSERT_MSG_EQ((node >= graph.hosts || node == b), true, "no third host");
                hops++;
                steps += a == 0;
            }
        }
        if (b != 0)
        {
            far[steps]++;
        }
    }
    NS_TEST_EXPECT_MSG_EQ((far == m_expected.far), true, "distances from host 0");

    Fabric fabric = FabricHelper().Install(graph);
    if (m_expected.paths > 0)
    {
        NS_TEST_EXPECT_MSG_EQ(fabric.devicesOfSwitches[0]->GetTable().Get(graph.hosts - 1).size(),
                              m_expected.paths,
                              "equal paths to the last host");
    }
    uint64_t delivered = 0;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        fabric.devices[host]->SetRdmaReceiver([&delivered, host](Frame* frame) {
            delivered += frame->destination == host;
            Frame::Free(frame);
        });
        for (uint32_t to = 0; to < graph.hosts; to++)
        {
            if (to != host)
            {
                fabric.devices[host]->GetPort().Send(MakeFrame(64, LOSSLESS, host, to));
            }
        }
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(delivered, uint64_t{graph.hosts} * (graph.hosts - 1), "all pairs");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetPacketHops(), hops, "every frame took a shortest path");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().droppedFrames, 0, "nothing is dropped");
    // No route: dropped and counted, never a crash.
    fabric.devices[0]->GetPort().Send(MakeFrame(64, LOSSLESS, 0, graph.hosts + 7));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().droppedFrames, 1, "no such endpoint");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * Bad topologies are refused by one line that names the value and what is allowed.
 */
class FabricRefusalTestCase : public TestCase
{
  public:
    FabricRefusalTestCase()
        : TestCase("bad topologies are refused")
    {
    }

  private:
    void DoRun() override;
};

void
FabricRefusalTestCase::DoRun()
{
    UsePicoseconds();

    struct Case
    {
        std::string spec;
        uint32_t ranks;
        std::vector<std::string> named; // pieces the text must hold
    };

    const std::vector<Case> cases{
        {"torus", 4, {"unknown topology 'torus'", "fat-tree, leaf-spine, single-switch"}},
        {"", 4, {"unknown topology ''", "allowed"}},
        {"fat-tree:k=3", 1, {"fat-tree:k=3", "allowed", "even"}},
        {"fat-tree:k=0", 1, {"'k=0' is not allowed", "k from 2 to 128"}},
        {"fat-tree:k=130", 1, {"'k=130' is not allowed", "k from 2 to 128"}},
        {"fat-tree:k=-4", 1, {"'k=-4' is not allowed"}},
        {"fat-tree:k=4.0", 1, {"'k=4.0' is not allowed"}},
        {"fat-tree:k", 1, {"'k' is not allowed", "key=value"}},
        {"fat-tree:", 1, {"'' is not allowed"}},
        {"fat-tree:k=4,", 1, {"'' is not allowed"}},
        {"fat-tree:k=4,k=4", 1, {"'k=4' is not allowed", "each once"}},
        {"fat-tree:K=4", 1, {"'K=4' is not allowed"}},
        {"fat-tree:leaves=4", 1, {"'leaves=4' is not allowed", "fat-tree takes k from 2 to 128"}},
        {"fat-tree:k=nan", 1, {"'k=nan' is not allowed"}},
        {"fat-tree:k= 4", 1, {"'k= 4' is not allowed"}},
        {"fat-tree:k=4", 17, {"17 ranks", "fat-tree:k=4", "allowed: 1 to 16"}},
        {"single-switch:hosts=4", 5, {"5 ranks", "allowed: 1 to 4"}},
        {"single-switch:hosts=0", 1, {"'hosts=0' is not allowed", "hosts from 1 to 4096"}},
        {"leaf-spine:leaves=0,spines=2", 2, {"'leaves=0' is not allowed"}},
        {"leaf-spine:leaves=2,spines=0", 2, {"'spines=0' is not allowed", "spines from 1 to 1024"}},
        {"leaf-spine:leaves=2,hosts-per-leaf=3", 7, {"7 ranks", "allowed: 1 to 6"}},
        {"leaf-spine:leaves=99999999999999999999", 2, {"is not allowed"}},
    };
    for (const Case& bad : cases)
    {
        const std::string error = GetError(
            [&]() { BuildTopology(bad.spec, bad.ranks, DataRate("100Gbps"), NanoSeconds(500)); });
        for (const std::string& piece : bad.named)
        {
            NS_TEST_EXPECT_MSG_NE(error.find(piece),
                                  std::string::npos,
                                  "'" << bad.spec << "' gives '" << error << "', wanted '" << piece
                                      << "'");
        }
        NS_TEST_EXPECT_MSG_EQ(error.find('\n'), std::string::npos, "one line");
    }

    TopologyGraph twice = MakeChain({Hop{1000000000, 1}, Hop{1000000000, 1}});
    twice.links.push_back(twice.links[0]);
    NS_TEST_EXPECT_MSG_NE(GetError([&]() {
                              FabricHelper().Install(twice);
                          }).find("host 0 has more than one link (allowed: one)"),
                          std::string::npos,
                          "a host with two links");
    TopologyGraph apart = MakeChain({Hop{1000000000, 1}, Hop{1000000000, 1}});
    apart.links.pop_back();
    NS_TEST_EXPECT_MSG_NE(
        GetError([&]() { FabricHelper().Install(apart); }).find("cannot reach host"),
        std::string::npos,
        "a host without a link");
    // Traffic must not pass through a host.
    TopologyGraph through;
    through.name = "through";
    through.hosts = 3;
    through.links = {{0, 1, DataRate("1Gbps"), NanoSeconds(1)}};
    NS_TEST_EXPECT_MSG_NE(
        GetError([&]() { FabricHelper().Install(through); }).find("cannot reach host"),
        std::string::npos,
        "three hosts, one link");
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * ns-3's own UDP and TCP over the fabric.
 */
class FabricInternetTestCase : public TestCase
{
  public:
    /**
     * @param tcp TCP, or else UDP
     * @param checksums whether ns-3 computes checksums
     */
    FabricInternetTestCase(bool tcp, bool checksums)
        : TestCase(std::string("stock ns-3 ") + (tcp ? "TCP" : "UDP") + " and ECN" +
                   (checksums ? ", with checksums" : "")),
          m_tcp(tcp),
          m_checksums(checksums)
    {
    }

  private:
    void DoRun() override;
    void RunUdp(Fabric& fabric);
    void RunTcp(Fabric& fabric);

    /**
     * Counts the ECN fields of packets that reach the IP layer of host 0.
     * @param packet with its IP header
     * @param ipv4 the layer
     * @param interface it came in by
     */
    void OnIp(Ptr<const Packet> packet, Ptr<Ipv4> ipv4, uint32_t interface);

    /**
     * @param socket a TCP socket of the receiver
     * @param from the sender
     */
    void OnAccept(Ptr<Socket> socket, const Address& from);

    /**
     * @param socket a receiver that has data
     */
    void OnData(Ptr<Socket> socket);

    /**
     * @param socket a TCP sender
     * @param space free bytes in its buffer
     */
    void OnSpace(Ptr<Socket> socket, uint32_t space);

    bool m_tcp;
    bool m_checksums;
    uint64_t m_ip[4]{};                   // packets by ECN field
    uint64_t m_received{0};               // bytes
    uint64_t m_wrong{0};                  // bytes that differ from what was sent
    int64_t m_lastReceived{0};            // ps
    std::map<Ptr<Socket>, uint64_t> m_at; // bytes so far, by socket
    std::vector<Ptr<Socket>> m_accepted;
};

void
FabricInternetTestCase::OnIp(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Ipv4Header header;
    packet->PeekHeader(header);
    m_ip[header.GetEcn()]++;
}

void
FabricInternetTestCase::OnAccept(Ptr<Socket> socket, const Address&)
{
    m_accepted.push_back(socket);
    socket->SetRecvCallback(MakeCallback(&FabricInternetTestCase::OnData, this));
}

void
FabricInternetTestCase::OnData(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        std::vector<uint8_t> bytes(packet->GetSize());
        packet->CopyData(bytes.data(), packet->GetSize());
        uint64_t& at = m_at[socket];
        for (uint8_t byte : bytes)
        {
            m_wrong += byte != static_cast<uint8_t>(at++ % 251);
        }
        m_received += bytes.size();
        m_lastReceived = PicosecondsNow();
    }
}

void
FabricInternetTestCase::OnSpace(Ptr<Socket> socket, uint32_t)
{
    constexpr uint64_t TOTAL = 1000000;
    uint64_t& at = m_at[socket];
    while (at < TOTAL && socket->GetTxAvailable() > 0)
    {
        std::vector<uint8_t> bytes(
            std::min<uint64_t>({TOTAL - at, socket->GetTxAvailable(), 10000}));
        for (std::size_t i = 0; i < bytes.size(); i++)
        {
            bytes[i] = static_cast<uint8_t>((at + i) % 251);
        }
        const int sent = socket->Send(bytes.data(), static_cast<uint32_t>(bytes.size()), 0);
        if (sent <= 0)
        {
            return;
        }
        at += static_cast<uint64_t>(sent);
    }
}

void
FabricInternetTestCase::DoRun()
{
    UsePicoseconds();
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(m_checksums));
    FabricHelper helper;
    helper.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(0));
    helper.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(0));
    Fabric fabric =
        helper.Install(BuildTopology("single-switch", 3, DataRate("10Gbps"), MicroSeconds(1)));
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.SetIpv6StackInstall(false);
    for (uint32_t host = 0; host < 3; host++)
    {
        stack.Install(fabric.hosts.Get(host));
        auto ipv4 = fabric.hosts.Get(host)->GetObject<Ipv4>();
        const uint32_t interface = ipv4->AddInterface(fabric.devices[host]);
        ipv4->AddAddress(interface,
                         Ipv4InterfaceAddress(HostDevice::GetIpv4Address(host), "255.0.0.0"));
        ipv4->SetUp(interface);
    }
    fabric.hosts.Get(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Rx",
        MakeCallback(&FabricInternetTestCase::OnIp, this));
    m_tcp ? RunTcp(fabric) : RunUdp(fabric);
    NS_TEST_EXPECT_MSG_EQ(m_wrong, 0, "bytes arrive as they were sent");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    m_accepted.clear();
    m_at.clear();
    Simulator::Destroy();
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
}

void
FabricInternetTestCase::RunUdp(Fabric& fabric)
{
    auto receiver = Socket::CreateSocket(fabric.hosts.Get(0), UdpSocketFactory::GetTypeId());
    receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    receiver->SetRecvCallback(MakeCallback(&FabricInternetTestCase::OnData, this));
    std::vector<uint8_t> bytes(20000);
    for (std::size_t i = 0; i < bytes.size(); i++)
    {
        bytes[i] = static_cast<uint8_t>(i % 251);
    }
    std::vector<Ptr<Socket>> senders;
    for (uint32_t host = 1; host < 3; host++)
    {
        auto sender = Socket::CreateSocket(fabric.hosts.Get(host), UdpSocketFactory::GetTypeId());
        sender->Bind();
        sender->Connect(InetSocketAddress(HostDevice::GetIpv4Address(0), 9));
        senders.push_back(sender);
    }
    // 100 bytes alone: 146 on the Ethernet, exactly two hops later.
    In(0, [&]() { senders[0]->Send(bytes.data(), 100, 0); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(m_received, 100, "one datagram");
    NS_TEST_EXPECT_MSG_EQ(m_lastReceived,
                          2 * (LineTime(100 + 28 + 18 + 8, 10000000000) + 1000000),
                          "time of a datagram");
    // A short one is padded to the minimum frame.
    m_at.clear();
    int64_t start = PicosecondsNow();
    In(0, [&]() { senders[0]->Send(bytes.data(), 1, 0); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(m_lastReceived - start,
                          2 * (LineTime(64 + 8, 10000000000) + 1000000),
                          "time of a shortest frame");
    NS_TEST_EXPECT_MSG_EQ(m_received, 101, "the padding is gone");
    // Larger than the MTU: IP fragments it.
    m_at.clear();
    In(0, [&]() { senders[0]->Send(bytes.data(), 20000, 0); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(m_received, 20101, "a datagram in fragments");
    NS_TEST_EXPECT_MSG_EQ((m_ip[0] > 0 && m_ip[1] + m_ip[2] + m_ip[3] == 0), true, "no ECN");

    // Two senders at once, so that a queue forms; host 1 is ECN capable, host 2 is not.
    m_at.clear();
    m_ip[0] = 0;
    senders[0]->SetIpTos(2);
    In(0, [&]() {
        for (uint32_t i = 0; i < 50; i++)
        {
            senders[0]->Send(bytes.data(), 1000, 0);
            senders[1]->Send(bytes.data(), 1000, 0);
        }
    });
    m_wrong = 0;
    Simulator::Run();
    m_wrong = 0; // two senders mix, so content is not looked at here
    NS_TEST_EXPECT_MSG_EQ(m_received, 120101, "all arrive");
    NS_TEST_EXPECT_MSG_EQ(m_ip[0], 50, "NOT_ECT stays");
    NS_TEST_EXPECT_MSG_EQ(m_ip[2] + m_ip[3], 50, "the others are ECN capable");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(m_ip[3], 40, "marked where a queue stood behind them");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().markedFrames, m_ip[3], "as the switch counts");
}

void
FabricInternetTestCase::RunTcp(Fabric& fabric)
{
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    auto listener = Socket::CreateSocket(fabric.hosts.Get(0), TcpSocketFactory::GetTypeId());
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                MakeCallback(&FabricInternetTestCase::OnAccept, this));
    std::vector<Ptr<Socket>> senders;
    for (uint32_t host = 1; host < 3; host++)
    {
        auto sender = Socket::CreateSocket(fabric.hosts.Get(host), TcpSocketFactory::GetTypeId());
        sender->Bind();
        sender->SetSendCallback(MakeCallback(&FabricInternetTestCase::OnSpace, this));
        sender->Connect(InetSocketAddress(HostDevice::GetIpv4Address(0), 9));
        senders.push_back(sender);
    }
    Simulator::Stop(Seconds(20));
    Simulator::Run();
    Config::Reset();
    NS_TEST_EXPECT_MSG_EQ(m_received, 2000000, "both streams are complete");
    NS_TEST_EXPECT_MSG_GT(m_ip[2], 0, "ECN was negotiated");
    NS_TEST_EXPECT_MSG_GT(m_ip[3], 0, "marks reach the receiver's IP header");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().markedFrames, m_ip[3], "as the switch counts");
}

/**
 * @ingroup distributed-training-fabric-tests
 * The frame pool over several simulations, some of which end with frames in flight.
 */
class FabricPoolTestCase : public TestCase
{
  public:
    FabricPoolTestCase()
        : TestCase("frame pool over several simulations")
    {
    }

  private:
    void DoRun() override;
};

void
FabricPoolTestCase::DoRun()
{
    UsePicoseconds();
    for (uint32_t cycle = 0; cycle < 5; cycle++)
    {
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "a simulation starts with none");
        Fabric fabric = FabricHelper().Install(
            BuildTopology("single-switch", 4, DataRate("100Gbps"), MicroSeconds(1)));
        auto buffer = Create<ByteBuffer>();
        buffer->bytes.resize(100);
        for (uint32_t i = 0; i < 1000; i++)
        {
            Frame* frame = MakeFrame(1000, LOSSLESS, i % 3, 3);
            frame->payload = buffer;
            fabric.devices[i % 3]->GetPort().Send(frame);
        }
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 1000, "all are in use");
        if (cycle % 2)
        {
            Simulator::Stop(MicroSeconds(10));
        }
        Simulator::Run();
        if (cycle % 2)
        {
            NS_TEST_EXPECT_MSG_GT(Frame::GetInUse(), 0, "it was cut short");
        }
        else
        {
            NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all are given back");
            NS_TEST_EXPECT_MSG_EQ(buffer->GetReferenceCount(), 1, "with their payload");
        }
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "none after the simulation");
    }
    // Last in, first out: the memory that is still in the cache.
    Frame* a = MakeFrame(64, LOSSY);
    Frame* b = MakeFrame(64, LOSSY);
    NS_TEST_EXPECT_MSG_NE(a, b, "two frames");
    b->ecn = Ecn::CE;
    b->ackRequest = true;
    b->payloadBytes = 7;
    Frame::Free(a);
    Frame::Free(b);
    Frame* c = Frame::Allocate(FrameKind::ROCE_ACK);
    NS_TEST_EXPECT_MSG_EQ(c, b, "the last one freed");
    NS_TEST_EXPECT_MSG_EQ((c->ecn == Ecn::NOT_ECT && !c->ackRequest && c->payloadBytes == 0),
                          true,
                          "nothing is left of its last use");
    Frame::Free(c);
    Simulator::Destroy();
}

/**
 * @ingroup distributed-training-fabric-tests
 * The suite.
 */
class FabricTestSuite : public TestSuite
{
  public:
    FabricTestSuite()
        : TestSuite("distributed-training-fabric", TestSuite::Type::UNIT)
    {
        constexpr uint64_t G = 1000000000;
        const auto add = [this](TestCase* test) { AddTestCase(test); };
        add(new FabricHopTimeTestCase("400G, 64 B", {{400 * G, 0}}, {64}));
        add(new FabricHopTimeTestCase("400G, 4158 B, 3 hops",
                                      {{400 * G, 500000}, {400 * G, 500000}, {400 * G, 500000}},
                                      {4158}));
        add(new FabricHopTimeTestCase("100G, 1500 B, 6 hops",
                                      std::vector<Hop>(6, {100 * G, 1234567}),
                                      {1500}));
        add(new FabricHopTimeTestCase("1 Mbit/s, 9216 B",
                                      {{1000000, 1}, {1000000, 999999999}},
                                      {9216}));
        add(new FabricHopTimeTestCase("odd rates",
                                      {{7 * G, 1}, {33333333333, 17}, {99999999977, 1000}},
                                      {1501}));
        add(new FabricHopTimeTestCase("odd rates, burst",
                                      {{7 * G, 1}, {3 * G, 17}},
                                      std::vector<uint32_t>(20, 777)));
        add(new FabricHopTimeTestCase("fast to slow, mixed sizes",
                                      {{400 * G, 100}, {100 * G, 2000}, {25 * G, 30000}},
                                      {64, 9216, 65, 1500, 4158, 64, 64, 9000, 333}));
        add(new FabricHopTimeTestCase("slow to fast, mixed sizes",
                                      {{10 * G, 100}, {40 * G, 2000}, {800 * G, 30000}},
                                      {9216, 64, 64, 64, 1500, 4158, 64, 9216, 64}));
        for (uint32_t hops : {1, 2, 5})
        {
            for (uint32_t frames : {1, 2, 1000})
            {
                add(new FabricBurstTestCase(hops, 400 * G, frames));
            }
        }
        add(new FabricConservationTestCase);
        for (uint32_t queues : {1, 2, 8})
        {
            add(new FabricThresholdTestCase(queues, 0.125));
            add(new FabricThresholdTestCase(queues, 1));
        }
        add(new FabricCongestedQueuesTestCase(1));
        add(new FabricCongestedQueuesTestCase(3));
        add(new FabricIncastTestCase(15, 100 * G, 1000000, 4158, 2000000, true));
        add(new FabricIncastTestCase(15, 400 * G, 1000000, 4158, 8000000, true));
        add(new FabricIncastTestCase(31, 400 * G, 100000, 9216, 4000000, true));
        add(new FabricIncastTestCase(3, 25 * G, 10000000, 1106, 1000000, true));
        add(new FabricIncastTestCase(15, 100 * G, 10000000, 4158, 100000, false));
        add(new FabricHeadroomTestCase(9216));
        add(new FabricHeadroomTestCase(1500));
        add(new FabricLongPauseTestCase);
        add(new FabricPauseTestCase(400 * G, 65535));
        add(new FabricPauseTestCase(100 * G, 1000));
        add(new FabricPauseTestCase(3 * G, 333));
        add(new FabricMarkingTestCase);
        add(new FabricSchedulerTestCase({{0, 1500}, {3, 500}}));
        add(new FabricSchedulerTestCase({{3, 9216}, {4, 64}}));
        add(new FabricSchedulerTestCase({{0, 64}, {1, 9216}, {3, 4158}, {5, 1499}}));
        add(new FabricSourceSharingTestCase);
        add(new FabricEcmpTestCase);
        add(new FabricLossTestCase);
        add(new FabricTopologyTestCase("single-switch", 1, {1, 1, 1, {}, 0}));
        add(new FabricTopologyTestCase("single-switch", 16, {16, 1, 16, {{2, 15}}, 1}));
        add(new FabricTopologyTestCase("single-switch:hosts=5", 2, {5, 1, 5, {{2, 4}}, 1}));
        add(new FabricTopologyTestCase("leaf-spine", 16, {16, 8, 32, {{2, 3}, {4, 12}}, 4}));
        add(new FabricTopologyTestCase("leaf-spine:leaves=3,spines=2",
                                       8,
                                       {9, 5, 15, {{2, 2}, {4, 6}}, 2}));
        add(new FabricTopologyTestCase("leaf-spine:leaves=1,spines=3,hosts-per-leaf=4",
                                       2,
                                       {4, 4, 7, {{2, 3}}, 1}));
        add(new FabricTopologyTestCase("fat-tree:k=2", 2, {2, 5, 6, {{6, 1}}, 1}));
        add(new FabricTopologyTestCase("fat-tree", 16, {16, 20, 48, {{2, 1}, {4, 2}, {6, 12}}, 2}));
        add(new FabricTopologyTestCase("fat-tree:k=8",
                                       16,
                                       {128, 80, 384, {{2, 3}, {4, 12}, {6, 112}}, 4}));
        add(new FabricRefusalTestCase);
        add(new FabricInternetTestCase(false, false));
        add(new FabricInternetTestCase(true, false));
        add(new FabricInternetTestCase(false, true));
        add(new FabricInternetTestCase(true, true));
        add(new FabricPoolTestCase);
    }
};

/// The suite, registered.
static FabricTestSuite g_fabricTestSuite;
