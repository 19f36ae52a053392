/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "fabric/fault-plan.h"
#include "fabric/frame-wire-format.h"
#include "rdma/mrc-paths.h"
#include "test-case.h"

#include "ns3/boolean.h"
#include "ns3/cluster-options.h"
#include "ns3/shortest-paths.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"
#include "ns3/uec-connection.h"
#include "ns3/uec-helper.h"
#include "ns3/uec-nic.h"
#include "ns3/uec-wire-format.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ns3::training::tests::rdma_mrc_test
{

constexpr uint32_t MTU = 4096;
constexpr uint32_t PLANES = 4;
constexpr uint64_t LINE = 100 * GIGA; // bit/s, of a port
constexpr uint64_t MESSAGE = 1 << 20;
/// A packet with its route, preamble and gap.
constexpr double EFFICIENCY = 4096. / (4096 + 142 + 20);

/** Two hosts with a port in each of four planes, and a connection over all of them. */
class PlaneNetwork
{
  public:
    /**
     * @param isMrc whether the protocol is MRC with source routes
     * @param faults as for FaultPlan
     * @param planes of the network
     */
    explicit PlaneNetwork(bool isMrc,
                          const std::vector<std::string>& faults = {},
                          uint32_t planes = PLANES)
    {
        const TopologyGraph graph = BuildTopology(
            "leaf-spine:leaves=2,spines=2,hosts-per-leaf=1,planes=" + std::to_string(planes),
            2,
            DataRate(LINE),
            NanoSeconds(500));
        const auto path = ShortestPaths(graph).GetLongestPath(2);
        roundTrip = 2 * path.delay + Seconds(8. * (MTU + 300) * path.secondsPerBit);
        UecHelper uec;
        if (isMrc)
        {
            uec.UseMrc(true);
        }
        uec.SetCongestionControl("nscc");
        uec.SetNetwork(MTU, roundTrip);
        uec.SprayOverPorts();
        FabricHelper helper;
        uec.SetSwitches(helper);
        helper.SetSwitchAttribute("Path", StringValue(isMrc ? "source-route" : "ecmp"));
        fabric = helper.Install(graph);
        const auto nics = uec.Install(fabric, 2);
        for (uint32_t host = 0; host < 2; host++)
        {
            std::vector<UecPortPair> ports;
            for (uint32_t plane = 0; plane < planes; plane++)
            {
                ports.push_back(
                    {PeekPointer(nics[host][plane]), fabric.rails[1 - host][plane]->GetEndpoint()});
            }
            const uint32_t remote = ports[0].remoteEndpoint;
            if (planes == 1)
            {
                ports.clear();
            }
            connections.push_back(nics[host][0]->CreateConnection(1, remote, 1, ports));
            connections.back()->SetErrorHandler(
                [this](const std::string& reason) { errors.push_back(reason); });
        }
        connections[1]->SetMessageHandler([this](const Message& message) {
            arrived.push_back(PicosecondsNow());
            tags.insert(message.tag);
            bytes += message.bytes;
        });
        nics[0][0]->TraceConnectWithoutContext("Retransmission",
                                               MakeCallback(&PlaneNetwork::OnRepeat, this));
        for (const std::string& fault : faults)
        {
            m_faults.Add(fault);
        }
        m_faults.Apply(fabric, isMrc ? Time::Max() : MilliSeconds(1));
    }

    ~PlaneNetwork()
    {
        Simulator::Destroy();
    }

    /** @param count messages to send, and to wait for */
    void Run(uint32_t count)
    {
        for (uint32_t i = 0; i < count; i++)
        {
            Message message;
            message.bytes = MESSAGE;
            message.tag = i;
            connections[0]->Send(message);
        }
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrived.size(), count, "messages that arrive");
        NS_TEST_EXPECT_MSG_EQ(tags.size(), count, "each once");
        NS_TEST_EXPECT_MSG_EQ(bytes, count * MESSAGE, "bytes");
        NS_TEST_EXPECT_MSG_EQ(errors.size(), 0, "no failure");
    }

    /**
     * @param from us
     * @param until us
     * @return goodput of the messages that arrive in between, as part of that of all planes
     */
    double GetPart(double from, double until) const
    {
        const auto first = std::lower_bound(arrived.begin(), arrived.end(), from * 1e6);
        const auto last = std::lower_bound(arrived.begin(), arrived.end(), until * 1e6) - 1;
        const double seconds = 1e-12 * static_cast<double>(*last - *first);
        return 8. * MESSAGE * static_cast<double>(last - first) / seconds /
               (PLANES * LINE * EFFICIENCY);
    }

    /** @return bytes that the sender has sent in each plane */
    std::vector<double> GetSent() const
    {
        std::vector<double> sent;
        for (const auto& device : fabric.rails[0])
        {
            sent.push_back(static_cast<double>(device->GetPort().GetCounters().transmittedBytes));
        }
        return sent;
    }

    Time roundTrip;                              ///< longest one on the idle network
    Fabric fabric;                               ///< the network
    std::vector<Ptr<UecConnection>> connections; ///< by host
    std::vector<int64_t> arrived;                ///< when messages did, ps
    std::set<uint64_t> tags;                     ///< of these
    uint64_t bytes{0};                           ///< of these
    std::vector<int64_t> repeated;               ///< when packets were sent again, ps
    std::vector<std::string> errors;             ///< of connections

  private:
    void OnRepeat(uint32_t, uint64_t)
    {
        repeated.push_back(PicosecondsNow());
    }

    FaultPlan m_faults;
};

/** A message is spread over all planes, which carry equal parts and together have their rate. */
void
TestPlanes(bool isMrc)
{
    PlaneNetwork network(isMrc);
    network.Run(64);
    const std::vector<double> sent = network.GetSent();
    const double mean = (sent[0] + sent[1] + sent[2] + sent[3]) / PLANES;
    for (const double bytesOfPlane : sent)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(bytesOfPlane, mean, 0.02 * mean, "an equal part");
    }
    const double expected = isMrc ? 1 : 4096. / (4096 + 102 + 20) / EFFICIENCY;
    const double end = 1e-6 * static_cast<double>(network.arrived.back());
    NS_TEST_EXPECT_MSG_EQ_TOL(network.GetPart(50, end), expected, 0.03, "goodput of all planes");
    NS_TEST_EXPECT_MSG_EQ(network.repeated.size(), 0, "no packet is sent again");
}

/** A plane fails for a time: connections leave it within round trips, and come back. */
void
TestFailure(const std::vector<std::string>& faults, double part, double most)
{
    std::vector<std::string> timed;
    for (const std::string& fault : faults)
    {
        timed.push_back(fault + ":down,from=1ms,until=3ms");
    }
    PlaneNetwork network(true, timed);
    network.Run(240); // 5 ms at the rate of all planes
    NS_TEST_EXPECT_MSG_EQ_TOL(network.GetPart(200, 1000), 1, 0.03, "before");
    // A few tens of round trips later.
    NS_TEST_EXPECT_MSG_EQ_TOL(network.GetPart(1300, 3000), part, 0.03, "while the plane is down");
    NS_TEST_EXPECT_MSG_EQ_TOL(network.GetPart(3600, 4800), 1, 0.03, "after its return");
    const double trip = static_cast<double>(network.roundTrip.GetPicoSeconds());
    NS_TEST_EXPECT_MSG_EQ(network.repeated.empty(), false, "packets are lost");
    for (const int64_t time : network.repeated)
    {
        const double since = (static_cast<double>(time) - 1e9) / trip;
        NS_TEST_EXPECT_MSG_EQ((since > 0 && since < most),
                              true,
                              "a packet is sent again " << since << " round trips later");
    }
}

/** In a network of one plane, too, a link that fails is left, and used again. */
void
TestOnePlane()
{
    PlaneNetwork network(true, {"switch0-switch2:down,from=1ms,until=3ms"}, 1);
    network.Run(60); // 5 ms
    NS_TEST_EXPECT_MSG_EQ_TOL(PLANES * network.GetPart(1600, 5000), 1, 0.03, "the other link");
    NS_TEST_EXPECT_MSG_EQ(network.repeated.empty(), false, "packets are lost");
    SwitchDevice& spine = *network.fabric.devicesOfSwitches[2];
    const auto frames = spine.GetPort(1).GetCounters().transmittedFrames;
    NS_TEST_EXPECT_MSG_GT(frames, 60 * 256 / 4, "it carries a part before and after");
}

/** Values take turns, are skipped, replaced, probed and brought back. */
void
TestMrcPaths()
{
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(3);
    MrcPaths paths({2, 1, 2}, random, {3, 5});
    std::set<uint16_t> used;
    const auto draw = [&](uint32_t count) {
        used.clear();
        for (uint32_t i = 0; i < count; i++)
        {
            used.insert(paths.Next());
        }
        return used.size();
    };
    NS_TEST_ASSERT_MSG_EQ(draw(4), 4, "each once in a round");
    for (const uint16_t value : used)
    {
        NS_TEST_EXPECT_MSG_EQ(value / 2048, 5, "the plane is in the upper bits");
    }
    const std::vector<uint16_t> first(used.begin(), used.end());
    paths.Report(first[0], UecPaths::Outcome::MARKED);
    NS_TEST_EXPECT_MSG_EQ(draw(3), 3, "three others");
    NS_TEST_EXPECT_MSG_EQ(used.count(first[0]), 0, "the marked one is skipped");
    draw(8);
    NS_TEST_EXPECT_MSG_EQ(used.count(first[0]), 1, "once only");
    paths.Report(first[0], UecPaths::Outcome::LOST);
    draw(8);
    NS_TEST_EXPECT_MSG_EQ(used.size(), 4, "the reserve takes its place");
    NS_TEST_EXPECT_MSG_EQ(used.count(first[0]), 0, "a lost one is taken out");
    paths.Report(first[1], UecPaths::Outcome::LOST);
    NS_TEST_EXPECT_MSG_EQ(draw(8), 3, "there is no reserve left");
    const auto probe = [&](std::vector<uint16_t> answered) {
        std::vector<uint16_t> values;
        paths.BeginProbes(values);
        for (const uint16_t value : answered)
        {
            paths.ReportProbe(value);
        }
        return values.size();
    };
    NS_TEST_EXPECT_MSG_EQ(probe({first[1]}), 2, "both are probed");
    NS_TEST_EXPECT_MSG_EQ(probe({}), 2, "one answer is not enough");
    NS_TEST_EXPECT_MSG_EQ(probe({first[1], first[1]}), 2, "answers count in a row, and once");
    NS_TEST_EXPECT_MSG_EQ(probe({first[1]}), 2, "the second one");
    NS_TEST_EXPECT_MSG_EQ(probe({}), 1, "it is back");
    draw(8);
    NS_TEST_EXPECT_MSG_EQ(used.count(first[1]), 1, "in use");
    for (const uint16_t value : used)
    {
        paths.Report(value, UecPaths::Outcome::LOST);
    }
    NS_TEST_EXPECT_MSG_EQ(paths.HasPath(), false, "all are taken out");
    NS_TEST_EXPECT_MSG_EQ(draw(5), 5, "and all used in turns");
}

/** Frames have the sizes that their headers take, and captures as many bytes. */
void
TestWireSizes()
{
    const std::map<UecType, uint32_t> sizes{{UecType::REQUEST, 102},
                                            {UecType::ACK, 118},
                                            {UecType::NACK, 102},
                                            {UecType::PROBE, 98},
                                            {UecType::PORT_STATUS, 98}};
    for (const auto protocol : {UecProtocol::MRC, UecProtocol::MRC_ROUTED})
    {
        const uint32_t route = protocol == UecProtocol::MRC_ROUTED ? 40 : 0;
        for (const auto& [type, bytes] : sizes)
        {
            NS_TEST_EXPECT_MSG_EQ(GetUecBytes(protocol, type), bytes + route, "size");
            UecHeader header;
            header.type = type;
            header.flags = UEC_FIRST;
            Frame* frame = Frame::Make(header);
            frame->opcode = static_cast<uint8_t>(protocol);
            frame->payloadBytes = type == UecType::REQUEST ? 1001 : 0;
            frame->bytes = bytes + route + frame->payloadBytes;
            WireBytes out;
            PutFrame(out, *frame);
            NS_TEST_EXPECT_MSG_EQ(out.size() + FCS_BYTES, frame->bytes, "bytes on the wire");
            NS_TEST_EXPECT_MSG_EQ(GetNumber(out.data() + 12, 2), 0x86dd, "IPv6");
            Frame::Free(frame);
        }
    }
}

/** What does not fit together is refused. */
void
TestRefusal()
{
    UecHelper uec;
    uec.UseMrc(false);
    ExpectPart(GetRefusal([&] { uec.SetCongestionControl("rccc"); }),
               "congestion control rccc (allowed with mrc: without credit");
    ClusterOptions options;
    options.portPairs = "spray";
    ExpectPart(GetRefusal([&] { options.Check(); }),
               "port pairs spray with transport rdma (allowed: turns, stripe)");
    options.transport = "uec";
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { options.Check(); }), "", "uec can");
    options.portPairs = "auto";
    NS_TEST_EXPECT_MSG_EQ(options.GetPortPairs(), "turns", "uec does when asked");
    options.transport = "mrc";
    NS_TEST_EXPECT_MSG_EQ(options.GetPortPairs(), "spray", "mrc does");
    options.path = "source-route";
    NS_TEST_EXPECT_MSG_EQ(options.GetRerouteDelay(), Time::Max(), "static routes");
}

const Suite g_suite("rdma-mrc",
                    Duration::QUICK,
                    {{"a message over four planes, MRC", [] { TestPlanes(true); }},
                     {"a message over four planes, Ultra Ethernet", [] { TestPlanes(false); }},
                     {"a plane fails and returns", [] { TestFailure({"plane1"}, 0.75, 30); }},
                     {"the spines of a plane fail and return",
                      [] {
                          TestFailure({"plane1.switch2", "plane1.switch3"}, 0.75, 60);
                      }},
                     {"the receiver's leaf in a plane fails and returns",
                      [] { TestFailure({"plane1.switch1"}, 0.75, 30); }},
                     {"a link of a plane fails, others have room",
                      [] { TestFailure({"plane1.switch0-plane1.switch2"}, 1, 60); }},
                     {"a link of a network of one plane fails", TestOnePlane},
                     {"paths", TestMrcPaths},
                     {"sizes on the wire", TestWireSizes},
                     {"refused settings", TestRefusal}});

} // namespace ns3::training::tests::rdma_mrc_test
