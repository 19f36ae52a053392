/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/event-id.h"
#include "ns3/fabric-helper.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rdma-dcqcn.h"
#include "ns3/rdma-line-rate.h"
#include "ns3/rdma-nic.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-builder.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::training;

/**
 * @ingroup distributed-training-tests
 * @defgroup distributed-training-rdma-tests Tests of RoCEv2 queue pairs and their congestion
 * control
 */

namespace
{

constexpr uint64_t GIGA = 1000000000;       ///< bit/s
constexpr int64_t MICROSECOND = 1000000;    ///< ps
constexpr int64_t MILLISECOND = 1000000000; ///< ps

/**
 * @ingroup distributed-training-rdma-tests
 * @param action to be run
 */
void
Invoke(std::function<void()> action)
{
    action();
}

/**
 * @ingroup distributed-training-rdma-tests
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
 * @ingroup distributed-training-rdma-tests
 * @return simulated time, ps
 */
int64_t
PicosecondsNow()
{
    return Simulator::Now().GetTimeStep();
}

/**
 * @ingroup distributed-training-rdma-tests
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
 * @ingroup distributed-training-rdma-tests
 * The packets of a WRITE by transport.md 4.1 and 4.3, written down independently of the queue pair.
 * @param bytes size of the message
 * @param mtu payload of a full packet
 * @param immediate whether it carries immediate data
 * @return size of each packet's frame, without preamble and gap
 */
std::vector<uint32_t>
GetFrames(uint64_t bytes, uint32_t mtu, bool immediate = false)
{
    const uint64_t packets = std::max<uint64_t>(1, (bytes + mtu - 1) / mtu);
    std::vector<uint32_t> frames;
    for (uint64_t i = 0; i < packets; i++)
    {
        const uint64_t payload = std::min<uint64_t>(mtu, bytes - i * mtu);
        uint64_t size = 14 + 20 + 8 + 12 + (payload + 3) / 4 * 4 + 4 + 4;
        size += i == 0 ? 16 : 0;
        size += immediate && i + 1 == packets ? 4 : 0;
        frames.push_back(static_cast<uint32_t>(std::max<uint64_t>(size, 64)));
    }
    return frames;
}

/**
 * @ingroup distributed-training-rdma-tests
 * @param values non-negative
 * @return Jain's fairness index: 1 if all are equal
 */
double
GetJain(const std::vector<double>& values)
{
    double sum = 0;
    double squares = 0;
    for (double value : values)
    {
        sum += value;
        squares += value * value;
    }
    return sum * sum / (static_cast<double>(values.size()) * squares);
}

/** @ingroup distributed-training-rdma-tests A rate and a window that a test sets. */
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

    void Initialize(double lineRate) override
    {
        rate = lineRate;
    }

    double GetRate(int64_t) override
    {
        return rate;
    }

    uint64_t GetWindow() const override
    {
        return window;
    }

    bool WantsCnp() const override
    {
        return wantsCnp;
    }

    void OnCnp(int64_t now) override
    {
        cnps.push_back(now);
    }

    double rate{0};                                        ///< bit/s
    uint64_t window{std::numeric_limits<uint64_t>::max()}; ///< bytes
    bool wantsCnp{false};                                  ///< whether it asks for CNPs
    std::vector<int64_t> cnps;                             ///< when they came, ps
};

/** @ingroup distributed-training-rdma-tests A message that has arrived. */
struct Delivery
{
    int64_t time;        ///< ps
    RdmaMessage message; ///< what came
};

/**
 * @ingroup distributed-training-rdma-tests
 * Hosts with NICs on a fabric, queue pairs between them, and taps that may look at, change or lose
 * what arrives at a host.
 */
class RdmaNetwork
{
  public:
    /** Looks at a frame that has arrived; true loses it. */
    using Tap = std::function<bool(Frame&)>;

    /**
     * @param topology the fabric
     * @param congestionControl class of every queue pair's
     * @param configure sets attributes of each NIC before it is attached
     * @param loss probability of loss on each link
     */
    explicit RdmaNetwork(const TopologyGraph& topology,
                         TypeId congestionControl = RdmaLineRate::GetTypeId(),
                         const std::function<void(RdmaNic&)>& configure = nullptr,
                         double loss = 0)
    {
        UsePicoseconds();
        FabricHelper helper;
        helper.SetLoss(loss);
        fabric = helper.Install(topology);
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
     * @param a host
     * @param b host
     * @param number of the queue pair on both
     * @return the one on `a`; the one on `b` notes messages in `deliveries`
     */
    RdmaQueuePair& Connect(uint32_t a, uint32_t b, uint32_t number)
    {
        auto sender = nics[a]->CreateQueuePair(number, b, number);
        auto receiver = nics[b]->CreateQueuePair(number, a, number);
        receiver->SetMessageHandler([this](const RdmaMessage& message) {
            deliveries.push_back({PicosecondsNow(), message});
        });
        return *sender;
    }

    /**
     * @param host of the queue pair
     * @param number of the queue pair
     * @return the queue pair
     */
    RdmaQueuePair& Get(uint32_t host, uint32_t number)
    {
        return *nics[host]->GetQueuePairs().at(number);
    }

    /**
     * @param host of the queue pair
     * @param number of the queue pair
     * @return its congestion control, if that is what a test sets
     */
    FixedRate& GetFixedRate(uint32_t host, uint32_t number)
    {
        return *DynamicCast<FixedRate>(Get(host, number).GetCongestionControl());
    }

    /**
     * @param host where to listen
     * @param tap sees every RoCE frame that arrives there
     */
    void SetTap(uint32_t host, Tap tap)
    {
        fabric.devices[host]->SetRdmaReceiver([this, host, tap](Frame* frame) {
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
    std::vector<Delivery> deliveries; ///< messages complete, in order
    uint64_t initialEvents{0};        ///< events before anything is sent
};

/**
 * @ingroup distributed-training-rdma-tests
 * Posts a WRITE with virtual payload and without immediate data.
 * @param queuePair the sender
 * @param bytes size
 */
void
Write(RdmaQueuePair& queuePair, uint64_t bytes)
{
    queuePair.Write(0, bytes, nullptr, 0, 0, false);
}

/**
 * @ingroup distributed-training-rdma-tests
 * @param hops number of links between two hosts, switches between them
 * @param rate of each, bit/s
 * @param delay of each, ps
 * @return the topology
 */
TopologyGraph
MakeChain(uint32_t hops, uint64_t rate, int64_t delay)
{
    TopologyGraph graph;
    graph.name = "chain";
    graph.hosts = 2;
    graph.switches = hops - 1;
    for (uint32_t i = 0; i < hops; i++)
    {
        graph.links.push_back(
            {i == 0 ? 0 : i + 1, i + 1 == hops ? 1 : i + 2, DataRate(rate), TimeStep(delay)});
    }
    return graph;
}

} // namespace

/**
 * @ingroup distributed-training-rdma-tests
 * Bytes on the wire against table 4.3 of the reference: computed sizes, and what a port counts.
 */
class RdmaWireSizeTestCase : public TestCase
{
  public:
    RdmaWireSizeTestCase()
        : TestCase("bytes on the wire")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaWireSizeTestCase::DoRun()
{
    NS_TEST_EXPECT_MSG_EQ(GetWriteFrameBytes(WRITE_MIDDLE, 4096) + 20, 4096 + 82, "MIDDLE");
    NS_TEST_EXPECT_MSG_EQ(GetWriteFrameBytes(WRITE_FIRST, 4096) + 20, 4096 + 98, "FIRST");
    NS_TEST_EXPECT_MSG_EQ(GetWriteFrameBytes(WRITE_LAST, 4093) + 20, 4096 + 82, "LAST, padded");
    NS_TEST_EXPECT_MSG_EQ(GetWriteFrameBytes(WRITE_LAST_IMMEDIATE, 4096) + 20,
                          4096 + 86,
                          "LAST with immediate");
    NS_TEST_EXPECT_MSG_EQ(GetWriteFrameBytes(WRITE_ONLY, 4096) + 20, 4096 + 98, "ONLY");
    NS_TEST_EXPECT_MSG_EQ(GetWriteFrameBytes(WRITE_ONLY_IMMEDIATE, 4096) + 20,
                          4096 + 102,
                          "ONLY with immediate");
    NS_TEST_EXPECT_MSG_EQ(GetWriteFrameBytes(WRITE_ONLY, 0), 78, "zero-length WRITE");
    NS_TEST_EXPECT_MSG_EQ(GetWriteFrameBytes(WRITE_LAST, 0), 64, "no shorter frame");
    NS_TEST_EXPECT_MSG_EQ(GetFrameBytes(ROCE_BYTES + AETH_BYTES) + 20, 86, "ACK");
    NS_TEST_EXPECT_MSG_EQ(GetFrameBytes(ROCE_BYTES + CNP_BYTES) + 20, 98, "CNP");
    NS_TEST_EXPECT_MSG_EQ(Frame::MINIMUM_BYTES + 20, 84, "PFC");

    struct Row
    {
        uint64_t bytes;
        uint32_t mtu;
        uint64_t wire;
        uint64_t packets;
    };

    const std::vector<Row> rows{{1, 4096, 102, 1},
                                {1, 1024, 102, 1},
                                {0, 4096, 98, 1},
                                {4096, 4096, 4194, 1},
                                {4096, 1024, 4440, 4},
                                {65536, 4096, 66864, 16},
                                {65536, 1024, 70800, 64},
                                {524288, 4096, 534800, 128},
                                {524288, 1024, 566288, 512},
                                {1048576, 4096, 1069584, 256},
                                {1048576, 1024, 1132560, 1024}};
    for (const Row& row : rows)
    {
        for (const bool immediate : {false, true})
        {
            RdmaNetwork network(
                MakeChain(1, 400 * GIGA, 1000),
                RdmaLineRate::GetTypeId(),
                [&](RdmaNic& nic) { nic.SetAttribute("Mtu", UintegerValue(row.mtu)); });
            network.Connect(0, 1, 1).Write(0, row.bytes, nullptr, 0, 5, immediate);
            Simulator::Run();
            const PortCounters& data = network.fabric.devices[0]->GetPort().counters;
            NS_TEST_EXPECT_MSG_EQ(data.transmittedFrames, row.packets, "packets");
            NS_TEST_EXPECT_MSG_EQ(data.transmittedBytes + 20 * data.transmittedFrames,
                                  row.wire + (immediate ? 4 : 0),
                                  row.bytes << " bytes at MTU " << row.mtu);
            const PortCounters& acks = network.fabric.devices[1]->GetPort().counters;
            NS_TEST_EXPECT_MSG_EQ(acks.transmittedFrames,
                                  (row.packets + 15) / 16,
                                  "acknowledgements: every 16 packets and at the end");
            NS_TEST_EXPECT_MSG_EQ(acks.transmittedBytes,
                                  66 * acks.transmittedFrames,
                                  "their bytes");
            NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
        }
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * Goodput of a long WRITE on one link against table 4.3, by MTU and rate.
 */
class RdmaGoodputTestCase : public TestCase
{
  public:
    RdmaGoodputTestCase()
        : TestCase("goodput of a long WRITE")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaGoodputTestCase::DoRun()
{
    struct Row
    {
        uint32_t mtu;
        double efficiency; // percent
        double gbps[3];    // at 100, 200, 400 Gbit/s
    };

    const std::vector<Row> rows{{256, 75.74, {75.7, 151.5, 303.0}},
                                {512, 86.20, {86.2, 172.4, 344.8}},
                                {1024, 92.59, {92.6, 185.2, 370.3}},
                                {2048, 96.15, {96.2, 192.3, 384.6}},
                                {4096, 98.04, {98.0, 196.1, 392.1}}};
    constexpr uint64_t RATES[] = {100 * GIGA, 200 * GIGA, 400 * GIGA};
    constexpr uint32_t PACKETS = 3000;
    for (const Row& row : rows)
    {
        for (uint32_t i = 0; i < 3; i++)
        {
            // DCQCN: without congestion it must not be in the way.
            RdmaNetwork network(
                MakeChain(1, RATES[i], 500000),
                RdmaDcqcn::GetTypeId(),
                [&](RdmaNic& nic) { nic.SetAttribute("Mtu", UintegerValue(row.mtu)); });
            int64_t first = -1;
            network.Connect(0, 1, 1);
            network.SetTap(1, [&](Frame&) {
                first = first < 0 ? PicosecondsNow() : first;
                return false;
            });
            Write(network.Get(0, 1), uint64_t{PACKETS} * row.mtu);
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "it arrives");
            const auto time = static_cast<double>(network.deliveries[0].time - first);
            const double gbps = 8e3 * row.mtu * (PACKETS - 1) / time;
            NS_TEST_EXPECT_MSG_EQ_TOL(gbps, row.gbps[i], 0.0501, "Gbit/s at MTU " << row.mtu);
            NS_TEST_EXPECT_MSG_EQ_TOL(1e11 * gbps / static_cast<double>(RATES[i]),
                                      row.efficiency,
                                      0.00501,
                                      "percent at MTU " << row.mtu);
            // Within one packet: time is exactly that of the bytes.
            NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time - first,
                                  (PACKETS - 1) * LineTime(row.mtu + 82, RATES[i]),
                                  "not a picosecond lost");
        }
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * One WRITE over h store-and-forward hops without contention: complete at the receiver at the very
 * picosecond an independent recursion says.
 */
class RdmaMessageTimeTestCase : public TestCase
{
  public:
    /**
     * @param hops number of links
     * @param rate of each, bit/s
     * @param mtu payload of a full packet
     */
    RdmaMessageTimeTestCase(uint32_t hops, uint64_t rate, uint32_t mtu)
        : TestCase("time of a WRITE over " + std::to_string(hops) + " hops at " +
                   std::to_string(rate / GIGA) + " Gbit/s, MTU " + std::to_string(mtu)),
          m_hops(hops),
          m_rate(rate),
          m_mtu(mtu)
    {
    }

  private:
    void DoRun() override;

    uint32_t m_hops;
    uint64_t m_rate;
    uint32_t m_mtu;
};

void
RdmaMessageTimeTestCase::DoRun()
{
    constexpr int64_t DELAY = 600000;
    for (const uint64_t bytes : std::vector<uint64_t>{0,
                                                      1,
                                                      m_mtu - 1,
                                                      m_mtu,
                                                      m_mtu + 1,
                                                      2 * m_mtu,
                                                      2 * m_mtu + 1,
                                                      65536,
                                                      100001,
                                                      1048576})
    {
        RdmaNetwork network(
            MakeChain(m_hops, m_rate, DELAY),
            RdmaDcqcn::GetTypeId(),
            [this](RdmaNic& nic) { nic.SetAttribute("Mtu", UintegerValue(m_mtu)); });
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        Write(sender, bytes);
        Simulator::Run();
        const std::vector<uint32_t> frames = GetFrames(bytes, m_mtu);
        std::vector<int64_t> free(m_hops, 0);
        int64_t expected = 0;
        for (uint32_t frame : frames)
        {
            int64_t time = 0;
            for (uint32_t hop = 0; hop < m_hops; hop++)
            {
                const int64_t begin = std::max(time, free[hop]);
                free[hop] = begin + LineTime(frame + 20, m_rate);
                time = begin + LineTime(frame + 8, m_rate) + DELAY;
            }
            expected = time;
        }
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "it arrives");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time, expected, bytes << " bytes");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].message.bytes, bytes, "size");
        if (bytes > 2 * m_mtu && bytes % m_mtu == 0)
        {
            // The reference's closed form: the first packet over every hop, then the rest behind
            // it.
            uint64_t rest = 0;
            for (std::size_t i = 1; i < frames.size(); i++)
            {
                rest += frames[i] + 20;
            }
            const int64_t wait = LineTime(16, m_rate) * (m_hops - 1); // only the first has a RETH
            NS_TEST_EXPECT_MSG_EQ_TOL(expected,
                                      m_hops * (LineTime(frames[0] + 8, m_rate) + DELAY) +
                                          LineTime(rest, m_rate),
                                      wait,
                                      "closed form");
        }
        const QueuePairCounters& counters = sender.GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.sentPackets, frames.size(), "packets sent");
        NS_TEST_EXPECT_MSG_EQ(counters.retransmittedPackets, 0, "none twice");
        NS_TEST_EXPECT_MSG_EQ(counters.timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * DCQCN after one isolated CNP, and the closed form of alpha (transport.md 7.2).
 */
class RdmaDcqcnOracleTestCase : public TestCase
{
  public:
    RdmaDcqcnOracleTestCase()
        : TestCase("DCQCN after single notifications")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaDcqcnOracleTestCase::DoRun()
{
    UsePicoseconds();
    constexpr double LINE = 100e9;
    constexpr int64_t T0 = 123456789;
    constexpr int64_t CUT = T0 + 4 * MICROSECOND + 1000; // the decrease timer, 1 ns behind alpha's
    auto dcqcn = CreateObject<RdmaDcqcn>();
    dcqcn->Initialize(LINE);
    NS_TEST_EXPECT_MSG_EQ(dcqcn->WantsCnp(), true, "it lives by notifications");
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetRate(0), LINE, "starts at line rate");
    dcqcn->OnCnp(T0);
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetRate(T0), LINE, "no cut before the period");
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetRate(CUT - 1), LINE, "not a picosecond early");
    const double rate = dcqcn->GetRate(CUT);
    const double alpha = std::pow(255.0 / 256, 4);
    NS_TEST_EXPECT_MSG_EQ_TOL(rate, LINE * (1 - alpha / 2), 1.0, "the cut");
    NS_TEST_EXPECT_MSG_EQ_TOL(alpha, 0.98447, 0.000005, "as in the reference");
    NS_TEST_EXPECT_MSG_EQ_TOL(rate / LINE, 0.50777, 0.000005, "as in the reference");
    const double expected[] = {0.75388, 0.87694, 0.93847};
    for (int64_t i = 0; i < 3; i++)
    {
        const int64_t time = CUT + (i + 1) * 300 * MICROSECOND;
        NS_TEST_EXPECT_MSG_EQ_TOL(dcqcn->GetRate(time - 1) / LINE,
                                  (i == 0 ? 0.50777 : expected[i - 1]),
                                  0.000006,
                                  "before increase " << i);
        NS_TEST_EXPECT_MSG_EQ_TOL(dcqcn->GetRate(time) / LINE,
                                  expected[i],
                                  0.000006,
                                  "increase " << i);
    }
    for (int64_t i = 4; i < 60; i++)
    {
        const double before = dcqcn->GetRate(CUT + (i - 1) * 300 * MICROSECOND);
        const double after = dcqcn->GetRate(CUT + i * 300 * MICROSECOND);
        NS_TEST_EXPECT_MSG_EQ((after >= before && after <= LINE), true, "never above line rate");
    }
    NS_TEST_EXPECT_MSG_EQ(dcqcn->GetRate(CUT + 60 * 300 * MICROSECOND), LINE, "recovers wholly");

    // Alpha decays by the closed form, whether it is looked at or not.
    auto quiet = CreateObject<RdmaDcqcn>();
    auto watched = CreateObject<RdmaDcqcn>();
    quiet->Initialize(LINE);
    watched->Initialize(LINE);
    quiet->OnCnp(T0);
    watched->OnCnp(T0);
    for (int64_t tick = 0; tick <= 2000; tick++)
    {
        const double decayed = std::pow(255.0 / 256, static_cast<double>(tick));
        NS_TEST_EXPECT_MSG_EQ_TOL(watched->GetAlpha(T0 + tick * MICROSECOND),
                                  decayed,
                                  1e-12,
                                  "alpha after " << tick << " us");
        NS_TEST_EXPECT_MSG_EQ_TOL(watched->GetAlpha(T0 + (tick + 1) * MICROSECOND - 1),
                                  decayed,
                                  1e-12,
                                  "alpha just before the next tick");
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(quiet->GetAlpha(T0 + 2000 * MICROSECOND),
                              std::pow(255.0 / 256, 2000),
                              1e-12,
                              "looked at once");

    // A second CNP in the same decrease period cuts no more; one in the next period does.
    auto twice = CreateObject<RdmaDcqcn>();
    twice->Initialize(LINE);
    twice->OnCnp(T0);
    twice->OnCnp(T0 + 3900000);
    NS_TEST_EXPECT_MSG_EQ_TOL(twice->GetRate(CUT),
                              LINE * (1 - (alpha + 1.0 / 256) / 2),
                              1.0,
                              "one cut, alpha raised by the second");
    const double once = twice->GetRate(CUT);
    NS_TEST_EXPECT_MSG_EQ(twice->GetRate(CUT + 100 * MICROSECOND), once, "no second cut");
    twice->OnCnp(CUT + 100 * MICROSECOND);
    NS_TEST_EXPECT_MSG_EQ(twice->GetRate(CUT + 104 * MICROSECOND - 1), once, "a period starts");
    NS_TEST_EXPECT_MSG_LT(twice->GetRate(CUT + 104 * MICROSECOND), once, "and ends with a cut");

    // Under a CNP every period alpha tends to 1 and the rate to the minimum, no lower.
    auto flooded = CreateObject<RdmaDcqcn>();
    flooded->SetAttribute("MinimumRate", DataRateValue(DataRate("250Mbps")));
    flooded->Initialize(LINE);
    for (int64_t i = 0; i < 5000; i++)
    {
        flooded->OnCnp(T0 + i * MICROSECOND);
        NS_TEST_EXPECT_MSG_GT_OR_EQ(flooded->GetRate(T0 + i * MICROSECOND), 250e6, "minimum");
    }
    NS_TEST_EXPECT_MSG_EQ(flooded->GetRate(T0 + 5000 * MICROSECOND), 250e6, "at the minimum");
    NS_TEST_EXPECT_MSG_EQ_TOL(flooded->GetAlpha(T0 + 5000 * MICROSECOND), 1.0, 1e-9, "alpha");
    // A line slower than the minimum rate stays at its own.
    auto slow = CreateObject<RdmaDcqcn>();
    slow->Initialize(1e6);
    slow->OnCnp(T0);
    NS_TEST_EXPECT_MSG_EQ(slow->GetRate(CUT + MICROSECOND), 1e6, "never above the line");
}

/**
 * @ingroup distributed-training-rdma-tests
 * The lazy DCQCN against a plain simulation of its three timers, tick by tick, for random CNPs.
 */
class RdmaDcqcnReferenceTestCase : public TestCase
{
  public:
    /** Parameters of DCQCN; times in ps. */
    struct Parameters
    {
        double gain;      ///< weight of a new observation
        uint32_t stages;  ///< of fast recovery
        bool clamp;       ///< target follows every cut
        double minimum;   ///< rate, bit/s
        double additive;  ///< part of the line rate
        double hyper;     ///< part of the line rate
        int64_t alpha;    ///< period
        int64_t decrease; ///< period
        int64_t increase; ///< period
        double meanGap;   ///< between CNPs, ps
    };

    /**
     * @param name what is special
     * @param parameters of DCQCN
     */
    RdmaDcqcnReferenceTestCase(const std::string& name, Parameters parameters)
        : TestCase("DCQCN against its timers: " + name),
          m_parameters(parameters)
    {
    }

  private:
    void DoRun() override;

    Parameters m_parameters;
};

void
RdmaDcqcnReferenceTestCase::DoRun()
{
    UsePicoseconds();
    const Parameters& p = m_parameters;
    constexpr double LINE = 400e9;
    constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(7);
    for (uint32_t round = 0; round < 5; round++)
    {
        auto watched = CreateObject<RdmaDcqcn>(); // asked for its rate at every step
        auto quiet = CreateObject<RdmaDcqcn>();   // asked at the end alone
        for (const auto& dcqcn : {watched, quiet})
        {
            dcqcn->SetAttribute("Gain", DoubleValue(p.gain));
            dcqcn->SetAttribute("FastRecoveryStages", UintegerValue(p.stages));
            dcqcn->SetAttribute("ClampTarget", BooleanValue(p.clamp));
            dcqcn->SetAttribute("MinimumRate",
                                DataRateValue(DataRate(static_cast<uint64_t>(p.minimum))));
            dcqcn->SetAttribute("AdditiveIncrease", DoubleValue(p.additive));
            dcqcn->SetAttribute("HyperIncrease", DoubleValue(p.hyper));
            dcqcn->SetAttribute("AlphaPeriod", TimeValue(TimeStep(p.alpha)));
            dcqcn->SetAttribute("DecreasePeriod", TimeValue(TimeStep(p.decrease)));
            dcqcn->SetAttribute("IncreasePeriod", TimeValue(TimeStep(p.increase)));
            dcqcn->Initialize(LINE);
        }
        double rate = LINE;
        double target = LINE;
        double alpha = 1;
        uint32_t stage = 0;
        bool sawAlpha = false;
        bool sawDecrease = false;
        int64_t nextAlpha = NEVER;
        int64_t nextDecrease = NEVER;
        int64_t nextIncrease = NEVER;
        int64_t now = random->GetInteger(0, 1000000);
        bool started = false;
        uint32_t cuts = 0;
        for (uint32_t cnp = 0; cnp < 400; cnp++)
        {
            // The timers, up to now; at the same time alpha's goes first, then the cut.
            for (int64_t tick; (tick = std::min({nextAlpha, nextDecrease, nextIncrease})) <= now;)
            {
                if (tick == nextAlpha)
                {
                    alpha = (1 - p.gain) * alpha + (sawAlpha ? p.gain : 0);
                    sawAlpha = false;
                    nextAlpha += p.alpha;
                }
                else if (tick == nextDecrease)
                {
                    if (sawDecrease)
                    {
                        target = p.clamp || stage > 0 ? rate : target;
                        rate = std::max(p.minimum, rate * (1 - alpha / 2));
                        stage = 0;
                        sawDecrease = false;
                        nextIncrease = tick + p.increase;
                        cuts++;
                    }
                    nextDecrease += p.decrease;
                }
                else
                {
                    target += stage < p.stages    ? 0
                              : stage == p.stages ? p.additive * LINE
                                                  : p.hyper * LINE;
                    target = std::min(target, LINE);
                    rate = (rate + target) / 2;
                    stage++;
                    nextIncrease += p.increase;
                }
            }
            NS_TEST_ASSERT_MSG_EQ_TOL(watched->GetRate(now),
                                      rate,
                                      1 + 1e-9 * rate,
                                      "rate at CNP " << cnp << " at " << now << " ps");
            if (started)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(watched->GetAlpha(now), alpha, 1e-9, "alpha");
            }
            // The CNP itself, behind timers of the same time.
            watched->OnCnp(now);
            quiet->OnCnp(now);
            sawAlpha = started;
            sawDecrease = true;
            if (!started)
            {
                started = true;
                alpha = 1;
                nextAlpha = now + p.alpha;
                nextDecrease = now + p.decrease + 1000;
            }
            // Bursts, pauses long enough to recover, and round numbers that meet the ticks.
            const double gap = p.meanGap * std::pow(10, random->GetValue(-2, 1.7));
            now += random->GetInteger(0, 3) ? static_cast<int64_t>(gap)
                                            : static_cast<int64_t>(gap / p.alpha) * p.alpha;
        }
        NS_TEST_EXPECT_MSG_GT(cuts, 10, "the test must reach cuts");
        NS_TEST_EXPECT_MSG_EQ_TOL(watched->GetRate(now),
                                  quiet->GetRate(now),
                                  1e-9 * LINE,
                                  "asking changes nothing");
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * CNPs: one per interval and queue pair at most, only for marked packets, and only if wanted.
 */
class RdmaCnpTestCase : public TestCase
{
  public:
    RdmaCnpTestCase()
        : TestCase("congestion notification packets")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaCnpTestCase::DoRun()
{
    constexpr int64_t INTERVAL = 4 * MICROSECOND;
    for (const bool wants : {false, true})
    {
        for (const bool marks : {false, true})
        {
            RdmaNetwork network(MakeChain(1, 100 * GIGA, 500000), FixedRate::GetTypeId());
            network.Connect(0, 1, 1);
            network.Connect(0, 1, 2);
            std::map<uint32_t, int64_t> next;
            uint64_t expected = 0;
            network.SetTap(1, [&](Frame& frame) {
                NS_TEST_EXPECT_MSG_EQ((frame.ecn == Ecn::ECT), true, "data is ECN capable");
                if (marks)
                {
                    frame.ecn = Ecn::CE;
                    if (wants && PicosecondsNow() >= next[frame.destinationQp])
                    {
                        expected++;
                        next[frame.destinationQp] = PicosecondsNow() + INTERVAL;
                    }
                }
                return false;
            });
            uint64_t cnpFrames = 0;
            network.SetTap(0, [&](Frame& frame) {
                NS_TEST_EXPECT_MSG_EQ((frame.ecn == Ecn::NOT_ECT), true, "answers are not");
                NS_TEST_EXPECT_MSG_EQ(+frame.priority, 6, "answers go first");
                if (frame.kind == FrameKind::ROCE_CNP)
                {
                    cnpFrames++;
                    NS_TEST_EXPECT_MSG_EQ(frame.bytes, 78, "size of a CNP");
                    NS_TEST_EXPECT_MSG_EQ(+frame.opcode, 0x81, "opcode of a CNP");
                }
                return false;
            });
            for (uint32_t number : {1, 2})
            {
                network.GetFixedRate(1, number).wantsCnp = wants;
                Write(network.Get(0, number), 1000 * 4096);
            }
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ((expected > 100), (wants && marks), "the oracle itself");
            uint64_t sent = 0;
            uint64_t received = 0;
            for (uint32_t number : {1, 2})
            {
                sent += network.Get(1, number).GetCounters().sentCnps;
                received += network.Get(0, number).GetCounters().receivedCnps;
                NS_TEST_EXPECT_MSG_EQ(network.GetFixedRate(0, number).cnps.size(),
                                      network.Get(0, number).GetCounters().receivedCnps,
                                      "the algorithm learns of each");
            }
            NS_TEST_EXPECT_MSG_EQ(sent, expected, "sent");
            NS_TEST_EXPECT_MSG_EQ(received, expected, "received");
            NS_TEST_EXPECT_MSG_EQ(cnpFrames, expected, "on the wire");
        }
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * Go-back-N with exactly one packet lost in a window: one NAK, no more sent again than the window.
 */
class RdmaGoBackNTestCase : public TestCase
{
  public:
    /**
     * @param packets in the message, all in flight at once or not
     * @param delay of the link, ps
     * @param lost the packets to lose, once each
     */
    RdmaGoBackNTestCase(uint32_t packets, int64_t delay, std::vector<uint32_t> lost)
        : TestCase("go-back-N: " + std::to_string(packets) + " packets, delay " +
                   std::to_string(delay / MICROSECOND) + " us, " + std::to_string(lost.size()) +
                   " lost from " + std::to_string(lost.front())),
          m_packets(packets),
          m_delay(delay),
          m_lost(std::move(lost))
    {
    }

  private:
    void DoRun() override;

    uint32_t m_packets;
    int64_t m_delay;
    std::vector<uint32_t> m_lost;
};

void
RdmaGoBackNTestCase::DoRun()
{
    constexpr uint32_t MTU = 4096;
    RdmaNetwork network(MakeChain(1, 100 * GIGA, m_delay));
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    std::set<uint32_t> lose(m_lost.begin(), m_lost.end());
    network.SetTap(1, [&](Frame& frame) { return lose.erase(frame.psn) > 0; });
    Write(sender, uint64_t{m_packets} * MTU);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(lose.size(), 0, "all that was to be lost has been");
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives, once");
    const QueuePairCounters& sent = sender.GetCounters();
    const QueuePairCounters& received = network.Get(1, 1).GetCounters();
    const bool last = m_lost.back() + 1 == m_packets; // nothing behind it could show the gap
    NS_TEST_EXPECT_MSG_EQ(received.sentNaks, m_lost.size() - (last ? 1 : 0), "one NAK per gap");
    NS_TEST_EXPECT_MSG_EQ(sent.timeouts, (last ? 1 : 0), "timeouts");
    NS_TEST_EXPECT_MSG_EQ(received.receivedPackets, m_packets, "accepted");
    NS_TEST_EXPECT_MSG_EQ(sent.sentPackets, m_packets + sent.retransmittedPackets, "sent");
    // Nothing is sent again but what was in flight when the NAK came: a round trip of packets.
    const auto window = static_cast<uint64_t>(2 * m_delay / LineTime(MTU + 82, 100 * GIGA) + 4);
    uint64_t most = last ? 16 : 0; // since the last acknowledgement
    uint64_t least = 0;
    for (uint32_t psn : m_lost)
    {
        most += std::min<uint64_t>(window, m_packets - psn);
        least++;
    }
    NS_TEST_EXPECT_MSG_LT_OR_EQ(sent.retransmittedPackets, most, "no more than the window");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(sent.retransmittedPackets, least, "all that was lost");
    NS_TEST_EXPECT_MSG_EQ(sent.sentPackets,
                          received.receivedPackets + received.duplicatePackets +
                              received.outOfOrderPackets + m_lost.size(),
                          "every packet is accounted for");
    if (!last)
    {
        NS_TEST_EXPECT_MSG_EQ(received.duplicatePackets, 0, "the NAK says where to go back to");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/**
 * @ingroup distributed-training-rdma-tests
 * What only the timer can repair, to the picosecond: lost last packets, acknowledgements and NAKs,
 * with doubling; and giving up.
 */
class RdmaTimeoutTestCase : public TestCase
{
  public:
    RdmaTimeoutTestCase()
        : TestCase("retransmission timeout")
    {
    }

  private:
    void DoRun() override;

    static constexpr int64_t DELAY = 1000000;           ///< of the link, ps
    static constexpr int64_t TIMEOUT = 4 * MILLISECOND; ///< the default, ps
};

void
RdmaTimeoutTestCase::DoRun()
{
    const TopologyGraph graph = MakeChain(1, 100 * GIGA, DELAY);
    const int64_t oneWay = LineTime(1000 + 78 + 8, 100 * GIGA) + DELAY;

    // The only packet is lost 0 to 3 times.
    for (uint32_t losses = 0; losses <= 3; losses++)
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = losses;
        network.SetTap(1, [&](Frame&) { return left > 0 ? left-- > 0 : false; });
        Write(sender, 1000);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time,
                              TIMEOUT * ((1 << losses) - 1) + oneWay,
                              "doubling timeouts, " << losses << " losses");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, losses, "timeouts");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, losses, "sent again");
    }

    // The acknowledgement is lost: the packet comes again, is acknowledged and not delivered twice.
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = 2;
        network.SetTap(0, [&](Frame&) { return left > 0 ? left-- > 0 : false; });
        Write(sender, 1000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered once");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 2, "timeouts");
        const QueuePairCounters& received = network.Get(1, 1).GetCounters();
        NS_TEST_EXPECT_MSG_EQ(received.duplicatePackets, 2, "duplicates");
        NS_TEST_EXPECT_MSG_EQ(received.sentAcks, 3, "are acknowledged");
        NS_TEST_EXPECT_MSG_EQ(received.sentNaks, 0, "and no gap");
        // The queue pair works on.
        Write(sender, 5000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 2, "the next message");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 2, "without another timeout");
    }

    // An acknowledgement inside a message is lost: a later one covers it.
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        bool lose = true;
        network.SetTap(0, [&](Frame&) { return std::exchange(lose, false); });
        Write(sender, 64 * 4096);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, 0, "nothing again");
    }

    // The NAK is lost: the receiver says it once only, the timer does the rest.
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        bool lose = true;
        network.SetTap(1, [&](Frame& frame) {
            return frame.psn == 20 ? std::exchange(lose, false) : false;
        });
        network.SetTap(0, [&](Frame& frame) { return frame.syndrome == SYNDROME_NAK_SEQUENCE; });
        Write(sender, 64 * 4096);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered");
        NS_TEST_EXPECT_MSG_EQ(network.Get(1, 1).GetCounters().sentNaks, 1, "one NAK");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "one timeout");
        NS_TEST_EXPECT_MSG_GT(network.deliveries[0].time, TIMEOUT, "after the timeout");
        NS_TEST_EXPECT_MSG_LT(network.deliveries[0].time, TIMEOUT + 100 * MICROSECOND, "at once");
    }

    // After progress the timeout is short again, not what it had been doubled to.
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = 3;
        network.SetTap(1, [&](Frame&) { return left > 0 ? left-- > 0 : false; });
        Write(sender, 1000); // arrives after 4 + 8 + 16 ms
        In(30 * MILLISECOND, [&]() {
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "the first has arrived");
            left = 1;
            Write(sender, 1000);
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 2, "the second as well");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[1].time,
                              30 * MILLISECOND + TIMEOUT + oneWay,
                              "after one plain timeout");
    }

    // Nothing comes through: an error after all retries, and silence.
    for (const uint32_t limit : {7u, 2u, 0u})
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), [&](RdmaNic& nic) {
            nic.SetAttribute("RetryLimit", UintegerValue(limit));
        });
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.SetTap(1, [](Frame&) { return true; });
        std::string error;
        int64_t when = 0;
        uint32_t errors = 0;
        sender.SetErrorHandler([&](const std::string& text) {
            error = text;
            when = PicosecondsNow();
            errors++;
            Write(sender, 1000); // is ignored
        });
        Write(sender, 1000);
        Write(sender, 1000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(errors, 1, "one error");
        NS_TEST_EXPECT_MSG_EQ(when, TIMEOUT * ((int64_t{2} << limit) - 1), "when");
        NS_TEST_EXPECT_MSG_EQ(error,
                              "queue pair 1 to endpoint 1: retry limit of " +
                                  std::to_string(limit) + " reached",
                              "what");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().sentPackets,
                              2 * (uint64_t{limit} + 1),
                              "no more is sent");
        NS_TEST_EXPECT_MSG_EQ(sender.CanSend(), false, "ever");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 0, "nothing has arrived");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * A queue pair that has not asked for an acknowledgement yet does not time out for want of one:
 * slow pace, a long pause, a small window.
 */
class RdmaSlowSenderTestCase : public TestCase
{
  public:
    RdmaSlowSenderTestCase()
        : TestCase("no timeout before an acknowledgement is due")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaSlowSenderTestCase::DoRun()
{
    constexpr uint32_t PACKETS = 40;
    // 16 packets at this pace take twice the timeout.
    {
        constexpr double RATE = 16 * (4096 + 82) * 8 / 0.008;
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.GetFixedRate(0, 1).rate = RATE;
        Write(sender, PACKETS * 4096);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, 0, "nothing twice");
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(network.deliveries[0].time),
                                  8e12 * ((PACKETS - 1) * (4096 + 82) + 16) / RATE,
                                  2.0 * MICROSECOND,
                                  "at its pace");
    }
    // The same, if the first packet that asks is lost.
    {
        constexpr double RATE = 16 * (4096 + 82) * 8 / 0.008;
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.GetFixedRate(0, 1).rate = RATE;
        bool lose = true;
        network.SetTap(1, [&](Frame& frame) {
            return frame.psn == 0 ? std::exchange(lose, false) : false;
        });
        network.SetTap(0, [&](Frame& frame) { return frame.syndrome != SYNDROME_ACK; });
        Write(sender, PACKETS * 4096);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "one timeout");
    }
    // A line shared by many queue pairs is as slow for each.
    {
        RdmaNetwork network(MakeChain(1, GIGA, MICROSECOND));
        for (uint32_t number = 0; number < 32; number++)
        {
            Write(network.Connect(0, 1, number), PACKETS * 4096);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 32, "all arrive");
        for (uint32_t number = 0; number < 32; number++)
        {
            const QueuePairCounters& counters = network.Get(0, number).GetCounters();
            NS_TEST_EXPECT_MSG_EQ(counters.timeouts, 0, "no timeout");
            NS_TEST_EXPECT_MSG_EQ(counters.sentPackets, PACKETS, "nothing twice");
        }
    }
    // A window of fewer packets than an acknowledgement is asked for.
    for (const uint32_t packets : {1u, 3u, 15u, 16u, 17u, 40u})
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.GetFixedRate(0, 1).window = packets * 4096;
        Write(sender, 5 * PACKETS * 4096);
        uint64_t most = 0;
        uint64_t acknowledged = 0;
        uint64_t sent = 0;
        network.SetTap(1, [&](Frame&) {
            sent++;
            most = std::max(most, sent - acknowledged);
            return false;
        });
        network.SetTap(0, [&](Frame& frame) {
            acknowledged = frame.psn + 1;
            return false;
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives, window " << packets);
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "without the timer's help");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(most, packets, "the window holds");
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * Packet sequence numbers wrap at 2^24, with losses on both sides of the wrap.
 */
class RdmaPsnWrapTestCase : public TestCase
{
  public:
    RdmaPsnWrapTestCase()
        : TestCase("packet sequence numbers wrap at 2^24")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaPsnWrapTestCase::DoRun()
{
    // 16.8 million frames: handed over directly, past the links, to take less than a second. The
    // answers travel.
    constexpr uint64_t WRAP = 1 << 24;
    constexpr uint64_t PACKETS = WRAP + 1000;
    RdmaNetwork network(MakeChain(1, GIGA, 1000), RdmaLineRate::GetTypeId(), [](RdmaNic& nic) {
        nic.SetAttribute("Mtu", UintegerValue(1));
        nic.SetAttribute("AckInterval", UintegerValue(1 << 16));
    });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    RdmaQueuePair& receiver = network.Get(1, 1);
    Frame* pause = Frame::Allocate(FrameKind::PAUSE);
    pause->bytes = Frame::MINIMUM_BYTES;
    pause->pauseClasses = 1 << 3;
    pause->pauseQuanta = 65535; // 33 ms
    network.fabric.devices[0]->GetPort().Arrive(pause);
    Write(sender, PACKETS);
    std::set<uint64_t> lose{WRAP - 3, WRAP, WRAP + 70};
    uint64_t index = 0; // of the next packet, unwrapped
    uint64_t wrong = 0;
    const auto step = [&]() {
        // Small steps about the wrap, so that not much is out of order.
        const uint64_t end = index + (index < WRAP - 200 ? WRAP - 100 - index : 50);
        while (sender.CanSend() && index < end)
        {
            Frame* frame = sender.MakeFrame(PicosecondsNow());
            wrong += frame->psn != index % WRAP;
            if (lose.erase(index))
            {
                Frame::Free(frame);
            }
            else
            {
                receiver.Receive(frame);
            }
            index++;
        }
    };
    network.SetTap(0, [&](Frame& frame) {
        if (frame.syndrome == SYNDROME_NAK_SEQUENCE)
        {
            // It goes back to the number the NAK names.
            index -= (index - frame.psn) % WRAP;
        }
        return false;
    });
    for (int64_t i = 0; i < 100; i++)
    {
        In(i * 50 * MICROSECOND, step);
    }
    Simulator::Stop(MilliSeconds(20));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(wrong, 0, "the wire carries the low 24 bits, in order");
    NS_TEST_EXPECT_MSG_EQ(lose.size(), 0, "all that was to be lost has been");
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives");
    NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].message.bytes, PACKETS, "whole");
    NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().receivedPackets, PACKETS, "accepted");
    NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().sentNaks, 3, "a NAK for each gap");
    NS_TEST_EXPECT_MSG_EQ(receiver.GetCounters().duplicatePackets, 0, "nothing taken for old");
    NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
    NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().sentPackets,
                          PACKETS + sender.GetCounters().retransmittedPackets,
                          "sent");
}

/**
 * @ingroup distributed-training-rdma-tests
 * Acknowledgements are asked for every n packets and at the end of each message.
 */
class RdmaAckIntervalTestCase : public TestCase
{
  public:
    RdmaAckIntervalTestCase()
        : TestCase("acknowledgement coalescing")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaAckIntervalTestCase::DoRun()
{
    for (const uint32_t interval : {1u, 2u, 16u, 64u, 1000u})
    {
        for (const std::vector<uint32_t>& messages :
             std::vector<std::vector<uint32_t>>{{1}, {16}, {17}, {1, 1, 1}, {64, 3, 61, 200}})
        {
            RdmaNetwork network(
                MakeChain(1, 100 * GIGA, MICROSECOND),
                RdmaLineRate::GetTypeId(),
                [&](RdmaNic& nic) { nic.SetAttribute("AckInterval", UintegerValue(interval)); });
            RdmaQueuePair& sender = network.Connect(0, 1, 1);
            uint64_t expected = 0;
            uint64_t psn = 0;
            for (uint32_t packets : messages)
            {
                Write(sender, uint64_t{packets} * 4096);
                for (uint32_t i = 0; i < packets; i++)
                {
                    psn++;
                    expected += psn % interval == 0 || i + 1 == packets;
                }
            }
            uint32_t previous = 0;
            network.SetTap(0, [&](Frame& frame) {
                NS_TEST_EXPECT_MSG_EQ((frame.psn >= previous && frame.psn < psn), true, "in order");
                NS_TEST_EXPECT_MSG_EQ(+frame.syndrome, 0x1f, "syndrome of an ACK");
                NS_TEST_EXPECT_MSG_EQ(+frame.opcode, 0x11, "opcode of an ACK");
                NS_TEST_EXPECT_MSG_EQ(frame.bytes, 66, "size of an ACK");
                previous = frame.psn;
                return false;
            });
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(network.Get(1, 1).GetCounters().sentAcks,
                                  expected,
                                  "interval " << interval);
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), messages.size(), "messages");
            NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        }
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * Messages of all sizes arrive once, whole, in order, with what the sender said of them.
 */
class RdmaMessagesTestCase : public TestCase
{
  public:
    RdmaMessagesTestCase()
        : TestCase("messages of all sizes in order")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaMessagesTestCase::DoRun()
{
    for (const double loss : {0.0, 0.02})
    {
        RdmaNetwork network(
            MakeChain(2, 100 * GIGA, MICROSECOND),
            RdmaLineRate::GetTypeId(),
            [](RdmaNic& nic) {
                nic.SetAttribute("RetransmissionTimeout", TimeValue(MicroSeconds(50)));
            },
            loss);
        RdmaQueuePair& sender = network.Connect(0, 1, 7);
        std::vector<uint64_t> sizes{0, 1, 4095, 4096, 4097, 0, 0, 8191, 8192, 8193, 1000000, 3};
        auto random = CreateObject<UniformRandomVariable>();
        random->SetStream(3);
        for (uint32_t i = 0; i < 500; i++)
        {
            sizes.push_back(random->GetInteger(0, 20000));
        }
        for (uint32_t i = 0; i < sizes.size(); i++)
        {
            sender.Write(0x100000000 * i, sizes[i], nullptr, 0, ~i, i % 3 == 0);
        }
        // Some more later, when the queue has run empty.
        In(MILLISECOND * 100, [&]() { sender.Write(5, 6, nullptr, 0, 7, true); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), sizes.size() + 1, "each arrives once");
        for (uint32_t i = 0; i < sizes.size(); i++)
        {
            const RdmaMessage& message = network.deliveries[i].message;
            NS_TEST_EXPECT_MSG_EQ(message.bytes, sizes[i], "size of message " << i);
            NS_TEST_EXPECT_MSG_EQ(message.address, 0x100000000 * i, "address of message " << i);
            NS_TEST_EXPECT_MSG_EQ(message.hasImmediate, (i % 3 == 0), "immediate data or not");
            NS_TEST_EXPECT_MSG_EQ((!message.hasImmediate || message.immediate == ~i),
                                  true,
                                  "immediate data");
            NS_TEST_EXPECT_MSG_EQ((message.payload == nullptr), true, "virtual payload");
        }
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.back().message.address, 5, "the late one");
        NS_TEST_EXPECT_MSG_EQ((network.fabric.GetTotal().lostFrames > 0), (loss > 0), "losses");
        NS_TEST_EXPECT_MSG_EQ(network.fabric.GetTotal().droppedFrames, 0, "drops");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }

    // The longest request, one byte less, and more than 4 GiB in all.
    RdmaNetwork network(MakeChain(1, 400 * GIGA, MICROSECOND),
                        RdmaLineRate::GetTypeId(),
                        [](RdmaNic& nic) { nic.SetAttribute("Mtu", UintegerValue(9000)); });
    RdmaQueuePair& sender = network.Connect(0, 1, 7);
    const std::vector<uint64_t> sizes{LONGEST_REQUEST,
                                      LONGEST_REQUEST - 1,
                                      LONGEST_REQUEST,
                                      1,
                                      LONGEST_REQUEST,
                                      LONGEST_REQUEST};
    uint64_t packets = 0;
    for (uint64_t bytes : sizes)
    {
        Write(sender, bytes);
        packets += (bytes + 8999) / 9000;
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), sizes.size(), "each arrives once");
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[i].message.bytes, sizes[i], "size");
    }
    NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().sentPackets, packets, "packets");
}

/**
 * @ingroup distributed-training-rdma-tests
 * Real payload arrives byte by byte, both ways, under loss.
 */
class RdmaPayloadTestCase : public TestCase
{
  public:
    /**
     * @param loss probability on each link
     */
    explicit RdmaPayloadTestCase(double loss)
        : TestCase("real payload, loss " + std::to_string(loss)),
          m_loss(loss)
    {
    }

  private:
    void DoRun() override;

    double m_loss;
};

void
RdmaPayloadTestCase::DoRun()
{
    RdmaNetwork network(
        MakeChain(2, 100 * GIGA, MICROSECOND),
        RdmaDcqcn::GetTypeId(),
        [](RdmaNic& nic) {
            nic.SetAttribute("Mtu", UintegerValue(1024));
            nic.SetAttribute("RetransmissionTimeout", TimeValue(MicroSeconds(50)));
        },
        m_loss);
    constexpr uint32_t MESSAGES = 60;
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(4);
    std::vector<std::vector<uint8_t>> expected[2];
    std::vector<RdmaMessage> received[2];
    for (uint32_t host = 0; host < 2; host++)
    {
        network.nics[host]
            ->CreateQueuePair(1, 1 - host, 1)
            ->SetMessageHandler([&received, host](const RdmaMessage& message) {
                received[host].push_back(message);
            });
    }
    for (uint32_t host = 0; host < 2; host++)
    {
        auto buffer = Create<ByteBuffer>();
        for (uint32_t i = 0; i < 100000; i++)
        {
            buffer->bytes.push_back(static_cast<uint8_t>(random->GetInteger(0, 255)));
        }
        for (uint32_t i = 0; i < MESSAGES; i++)
        {
            const uint32_t from = random->GetInteger(0, 50000);
            const uint32_t bytes = random->GetInteger(0, i % 3 ? 50000 : 3000);
            network.Get(host, 1).Write(0, bytes, buffer, from, i, true);
            expected[1 - host].emplace_back(buffer->bytes.begin() + from,
                                            buffer->bytes.begin() + from + bytes);
        }
    }
    Simulator::Run();
    for (uint32_t host = 0; host < 2; host++)
    {
        NS_TEST_ASSERT_MSG_EQ(received[host].size(), MESSAGES, "each arrives once");
        for (uint32_t i = 0; i < MESSAGES; i++)
        {
            NS_TEST_ASSERT_MSG_EQ((received[host][i].payload != nullptr), true, "with payload");
            const bool same = received[host][i].payload->bytes == expected[host][i];
            NS_TEST_EXPECT_MSG_EQ(same, true, "message " << i << ", byte by byte");
            NS_TEST_EXPECT_MSG_EQ(received[host][i].immediate, i, "in order");
        }
        const QueuePairCounters& counters = network.Get(host, 1).GetCounters();
        NS_TEST_EXPECT_MSG_EQ((counters.retransmittedPackets > 0),
                              (m_loss > 0),
                              "sent again, if lost");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/**
 * @ingroup distributed-training-rdma-tests
 * Queue pairs of a NIC take turns.
 */
class RdmaFairnessTestCase : public TestCase
{
  public:
    RdmaFairnessTestCase()
        : TestCase("queue pairs share the line")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaFairnessTestCase::DoRun()
{
    for (const uint32_t pairs : {2u, 16u, 100u})
    {
        constexpr uint64_t PACKETS = 64;
        RdmaNetwork network(
            BuildTopology("single-switch", 5, DataRate("100Gbps"), NanoSeconds(500)));
        std::map<uint32_t, double> half;
        uint64_t seen = 0;
        int64_t last = 0;
        for (uint32_t number = 0; number < pairs; number++)
        {
            Write(network.Connect(0, 1 + number % 4, number), PACKETS * 4096);
        }
        for (uint32_t host = 1; host < 5; host++)
        {
            network.SetTap(host, [&](Frame& frame) {
                half[frame.destinationQp] += ++seen <= pairs * PACKETS / 2 ? 1 : 0;
                last = PicosecondsNow();
                return false;
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), pairs, "all arrive");
        std::vector<double> shares;
        for (const auto& [number, packets] : half)
        {
            shares.push_back(packets);
            NS_TEST_EXPECT_MSG_EQ_TOL(packets, PACKETS / 2, 1.0, "half of each, at half-time");
        }
        NS_TEST_EXPECT_MSG_GT(GetJain(shares), 0.999, "Jain's fairness index");
        NS_TEST_EXPECT_MSG_EQ(last,
                              LineTime(pairs * (PACKETS * (4096 + 82) + 16), 100 * GIGA) -
                                  LineTime(12, 100 * GIGA) + LineTime(4096 + 62 + 8, 100 * GIGA) +
                                  2 * 500000,
                              "the line never idles");
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * Many senders to one receiver: nothing is dropped, nothing hangs, the line stays nearly full.
 */
class RdmaIncastTestCase : public TestCase
{
  public:
    /**
     * @param senders number of them
     * @param congestionControl class
     * @param leastGoodput part of the line's best
     * @param leastJain fairness when half has arrived
     */
    RdmaIncastTestCase(uint32_t senders,
                       TypeId congestionControl,
                       double leastGoodput,
                       double leastJain)
        : TestCase("incast of " + std::to_string(senders) + ", " + congestionControl.GetName()),
          m_senders(senders),
          m_congestionControl(congestionControl),
          m_leastGoodput(leastGoodput),
          m_leastJain(leastJain)
    {
    }

  private:
    void DoRun() override;

    uint32_t m_senders;
    TypeId m_congestionControl;
    double m_leastGoodput;
    double m_leastJain;
};

void
RdmaIncastTestCase::DoRun()
{
    constexpr uint64_t BYTES = 8 << 20;
    RdmaNetwork network(
        BuildTopology("single-switch", m_senders + 1, DataRate("100Gbps"), MicroSeconds(1)),
        m_congestionControl);
    std::map<uint32_t, double> half;
    uint64_t seen = 0;
    for (uint32_t host = 1; host <= m_senders; host++)
    {
        Write(network.Connect(host, 0, host), BYTES);
    }
    network.SetTap(0, [&](Frame& frame) {
        half[frame.source] += ++seen <= m_senders * BYTES / 4096 / 2 ? 1 : 0;
        return false;
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), m_senders, "all arrive");
    const double best = 8e12 * static_cast<double>(m_senders * BYTES) * (4096 + 82) / 4096 / 100e9;
    const double goodput = best / static_cast<double>(network.deliveries.back().time);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(goodput, 1.0, "no more than the line can carry");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(goodput, m_leastGoodput, "goodput, of the best there is");
    std::vector<double> shares;
    for (const auto& [source, packets] : half)
    {
        shares.push_back(packets);
    }
    NS_TEST_EXPECT_MSG_GT_OR_EQ(GetJain(shares), m_leastJain, "Jain's fairness index at half-time");
    const PortCounters total = network.fabric.GetTotal();
    NS_TEST_EXPECT_MSG_EQ(total.droppedFrames, 0, "nothing is dropped");
    NS_TEST_EXPECT_MSG_GT(total.markedFrames, 0, "the queue is marked");
    uint64_t cnps = 0;
    for (uint32_t host = 1; host <= m_senders; host++)
    {
        const QueuePairCounters& counters = network.Get(host, host).GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.retransmittedPackets, 0, "nothing is sent again");
        NS_TEST_EXPECT_MSG_EQ(counters.timeouts, 0, "no timeout");
        cnps += counters.receivedCnps;
    }
    NS_TEST_EXPECT_MSG_EQ((cnps > 0), (m_congestionControl == RdmaDcqcn::GetTypeId()), "CNPs");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/**
 * @ingroup distributed-training-rdma-tests
 * A queue pair sends at the rate its congestion control says, alone and beside others of other
 * rates.
 */
class RdmaPacingTestCase : public TestCase
{
  public:
    /**
     * @param rates of the queue pairs of one NIC, bit/s
     */
    explicit RdmaPacingTestCase(std::vector<double> rates)
        : TestCase("pacing of " + std::to_string(rates.size()) + " queue pairs, the first at " +
                   std::to_string(rates.front()) + " bit/s"),
          m_rates(std::move(rates))
    {
    }

  private:
    void DoRun() override;

    std::vector<double> m_rates;
};

void
RdmaPacingTestCase::DoRun()
{
    constexpr double DURATION = 0.002; // s
    // The queue pairs start one after the other, the slowest first, or the other way round.
    for (const bool reverse : {false, true})
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
        std::map<uint32_t, uint64_t> packets;
        std::map<uint32_t, int64_t> first;
        std::map<uint32_t, int64_t> last;
        for (uint32_t number = 0; number < m_rates.size(); number++)
        {
            network.Connect(0, 1, number);
            network.GetFixedRate(0, number).rate = m_rates[number];
            const int64_t start = reverse ? static_cast<int64_t>(m_rates.size()) - number : number;
            In(start * 3 * MICROSECOND,
               [&network, number]() { Write(network.Get(0, number), LONGEST_REQUEST); });
        }
        network.SetTap(1, [&](Frame& frame) {
            packets[frame.destinationQp]++;
            first.emplace(frame.destinationQp, PicosecondsNow());
            last[frame.destinationQp] = PicosecondsNow();
            return false;
        });
        Simulator::Stop(Seconds(DURATION));
        Simulator::Run();
        for (uint32_t number = 0; number < m_rates.size(); number++)
        {
            NS_TEST_ASSERT_MSG_GT(packets[number], 5, "it sends");
            const double rate = 8e12 * static_cast<double>(packets[number] - 1) * (4096 + 82) /
                                static_cast<double>(last[number] - first[number]);
            NS_TEST_EXPECT_MSG_EQ_TOL(rate, m_rates[number], 0.01 * m_rates[number], "rate");
            NS_TEST_EXPECT_MSG_GT(
                last[number],
                static_cast<int64_t>(1e12 * (DURATION - 3 * 33424 / m_rates[number])),
                "to the end");
        }
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * Events per packet do not grow with the number of queue pairs.
 */
class RdmaCostTestCase : public TestCase
{
  public:
    RdmaCostTestCase()
        : TestCase("cost of a packet with 1 and 256 queue pairs")
    {
    }

  private:
    void DoRun() override;

    /**
     * @param pairs number of queue pairs
     * @param rate of all together, bit/s
     * @return events of the run
     */
    uint64_t CountEvents(uint32_t pairs, double rate);

    static constexpr uint64_t PACKETS = 16384; ///< in all
};

uint64_t
RdmaCostTestCase::CountEvents(uint32_t pairs, double rate)
{
    RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
    for (uint32_t number = 0; number < pairs; number++)
    {
        RdmaQueuePair& sender = network.Connect(0, 1, number);
        network.GetFixedRate(0, number).rate = rate / pairs;
        Write(sender, PACKETS / pairs * 4096);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), pairs, "all arrive");
    return Simulator::GetEventCount() - network.initialEvents;
}

void
RdmaCostTestCase::DoRun()
{
    // An acknowledgement for 16 packets either way. A queue pair's timer looks in vain once or
    // more.
    constexpr uint64_t ACKS = PACKETS / 16;
    const uint64_t one = CountEvents(1, 100e9);
    const uint64_t many = CountEvents(256, 25600e9); // each could fill the line
    NS_TEST_EXPECT_MSG_LT_OR_EQ(one, 2 * PACKETS + ACKS + 10, "two events a packet");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(one, PACKETS + ACKS, "and no less than one");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(many, one + 2 * 256, "no more with many, but for their timers");
    const uint64_t pacedOne = CountEvents(1, 50e9);
    const uint64_t pacedMany = CountEvents(256, 50e9);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(pacedOne, 2 * PACKETS + ACKS + 10, "paced");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(pacedMany, pacedOne + 4 * 256 + PACKETS / 20, "paced, many");
}

/**
 * @ingroup distributed-training-rdma-tests
 * Frames for queue pairs that do not exist.
 */
class RdmaListenerTestCase : public TestCase
{
  public:
    RdmaListenerTestCase()
        : TestCase("queue pairs made on demand, or refused")
    {
    }

  private:
    void DoRun() override;
};

void
RdmaListenerTestCase::DoRun()
{
    for (const bool accepts : {false, true})
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND));
        auto sender = network.nics[0]->CreateQueuePair(5, 1, 9);
        std::string error;
        sender->SetErrorHandler([&](const std::string& text) { error = text; });
        uint32_t asked = 0;
        uint32_t delivered = 0;
        network.nics[1]->SetListener([&](uint32_t number) -> RdmaQueuePair* {
            asked++;
            NS_TEST_EXPECT_MSG_EQ(number, 9, "the number on the wire");
            if (!accepts)
            {
                return nullptr;
            }
            auto made = network.nics[1]->CreateQueuePair(number, 0, 5);
            made->SetMessageHandler([&](const RdmaMessage&) { delivered++; });
            return PeekPointer(made);
        });
        Write(*sender, 10000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(delivered, (accepts ? 1 : 0), "delivered, if accepted");
        NS_TEST_EXPECT_MSG_EQ(error.empty(), accepts, "an error, if not");
        NS_TEST_EXPECT_MSG_EQ(asked, (accepts ? 1 : 3 * 8), "asked once, or for each packet");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

/**
 * @ingroup distributed-training-rdma-tests
 * The suite.
 */
class RdmaTestSuite : public TestSuite
{
  public:
    RdmaTestSuite()
        : TestSuite("distributed-training-rdma", TestSuite::Type::UNIT)
    {
        const auto add = [this](TestCase* test) { AddTestCase(test); };
        add(new RdmaWireSizeTestCase);
        add(new RdmaGoodputTestCase);
        for (uint32_t hops : {1, 2, 3, 6})
        {
            add(new RdmaMessageTimeTestCase(hops, 400 * GIGA, 4096));
            add(new RdmaMessageTimeTestCase(hops, 25 * GIGA, 1024));
        }
        add(new RdmaDcqcnOracleTestCase);
        const RdmaDcqcnReferenceTestCase::Parameters defaults{1.0 / 256,
                                                              1,
                                                              false,
                                                              100e6,
                                                              0.0002,
                                                              0.002,
                                                              MICROSECOND,
                                                              4 * MICROSECOND,
                                                              300 * MICROSECOND,
                                                              20e6};
        add(new RdmaDcqcnReferenceTestCase("defaults", defaults));
        auto clamped = defaults;
        clamped.clamp = true;
        clamped.meanGap = 100e6;
        add(new RdmaDcqcnReferenceTestCase("target clamped", clamped));
        add(new RdmaDcqcnReferenceTestCase("SIGCOMM 2015",
                                           {1.0 / 256,
                                            5,
                                            false,
                                            1e9,
                                            0.001,
                                            0.005,
                                            55 * MICROSECOND,
                                            50 * MICROSECOND,
                                            55 * MICROSECOND,
                                            50e6}));
        add(new RdmaDcqcnReferenceTestCase(
            "odd periods",
            {0.1, 0, false, 1e6, 0.01, 0.1, 1300007, 3700011, 101000003, 30e6}));
        add(new RdmaCnpTestCase);
        // 5 us each way at 100 Gbit/s are 30 packets; 1000 us hold all of them.
        for (int64_t delay : {0, 5, 1000})
        {
            for (const std::vector<uint32_t>& lost :
                 std::vector<std::vector<uint32_t>>{{0}, {1}, {31}, {62}, {63}})
            {
                add(new RdmaGoBackNTestCase(64, delay * MICROSECOND, lost));
            }
        }
        add(new RdmaGoBackNTestCase(1000, 5 * MICROSECOND, {100, 300, 500, 900}));
        add(new RdmaGoBackNTestCase(1000, 5 * MICROSECOND, {0, 100, 999}));
        add(new RdmaTimeoutTestCase);
        add(new RdmaSlowSenderTestCase);
        add(new RdmaPsnWrapTestCase);
        add(new RdmaAckIntervalTestCase);
        add(new RdmaMessagesTestCase);
        add(new RdmaPayloadTestCase(0));
        add(new RdmaPayloadTestCase(0.01));
        add(new RdmaFairnessTestCase);
        add(new RdmaIncastTestCase(8, RdmaDcqcn::GetTypeId(), 0.65, 0.9));
        add(new RdmaIncastTestCase(8, RdmaLineRate::GetTypeId(), 0.995, 0.97));
        add(new RdmaPacingTestCase({37e9}));
        add(new RdmaPacingTestCase({99e9}));
        add(new RdmaPacingTestCase({200e6}));
        add(new RdmaPacingTestCase({200e6, 50e9}));
        add(new RdmaPacingTestCase({1e9, 2e9, 5e9, 10e9, 30e9}));
        add(new RdmaCostTestCase);
        add(new RdmaListenerTestCase);
    }
};

/// The suite, registered.
static RdmaTestSuite g_rdmaTestSuite;
