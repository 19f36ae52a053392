/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/collective-measurement.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"

#include <cmath>
#include <map>

namespace ns3::training::tests::tcp_controls_test
{

using Operation = CollectiveOperation;

/** A collective over TCP on 100 Gbit/s. */
struct Pattern
{
    uint32_t ranks;
    std::string topology;
    std::string algorithm;
    Operation operation;
    uint64_t bytes;

    ClusterOptions MakeOptions(const std::string& control) const
    {
        ClusterOptions options;
        options.ranks = ranks;
        options.topology = topology;
        options.algorithm = algorithm;
        options.transport = "tcp";
        options.congestionControl = control;
        return options;
    }
};

/** @return time of an operation, s */
double
Measure(const ClusterOptions& options, Operation operation, uint64_t bytes)
{
    double seconds = 0;
    {
        const Cluster cluster(options);
        GuardedRun guard(cluster);
        const auto result = MeasureCollective(cluster, guard, operation, bytes, false, 1);
        seconds = result.seconds;
    }
    Simulator::Destroy();
    return seconds;
}

/** BBR holds the rate of Cubic with delayed acknowledgements, where ns-3's up to 3.40 stands still.
 */
void
TestBbr()
{
    const std::string leaves = "leaf-spine:leaves=4,spines=2,hosts-per-leaf=2";
    for (const Pattern& pattern :
         std::vector<Pattern>{{2, "single-switch", "binomial", Operation::BROADCAST, 8 << 20},
                              {4, "single-switch", "ring", Operation::ALL_REDUCE, 8 << 20},
                              {8, "single-switch", "direct", Operation::REDUCE, 2 << 20},
                              {8, leaves, "binomial", Operation::BROADCAST, 8 << 20},
                              {8, leaves, "ring", Operation::ALL_REDUCE, 8 << 20},
                              {8, leaves, "direct", Operation::ALL_TO_ALL, 8 << 20},
                              {8, leaves, "parameter-server", Operation::ALL_REDUCE, 2 << 20}})
    {
        const auto measure = [&](const std::string& control) {
            return Measure(pattern.MakeOptions(control), pattern.operation, pattern.bytes);
        };
        // A host's line is shared by paced flows, but first come, first served by windows. A tree
        // whose root sends to several ranks at once loses by sharing.
        const bool isTree = pattern.algorithm == "binomial" && pattern.ranks > 2;
        NS_TEST_EXPECT_MSG_GT(measure("ns3::TcpCubic") / measure("ns3::TcpBbr"),
                              (isTree ? 0.75 : 0.9),
                              pattern.algorithm << " on " << pattern.topology);
    }
}

/**
 * With random losses Cubic has at least the rate of Reno, 1.22 segments / sqrt(p) in a round trip
 * (Mathis et al. 1997); without any it fills a path of 2 ms soon.
 */
void
TestCubic()
{
    Pattern pattern{2, "single-switch", "binomial", Operation::BROADCAST, 30 << 20};
    ClusterOptions options = pattern.MakeOptions("ns3::TcpCubic");
    options.mtu = 1500;
    options.delay = MicroSeconds(500);
    const double segment = 8 * 1460;
    const double loss = 1e-3;
    options.faults = {"host0-switch0:loss=0.001"};
    const double rate = segment / 2e-3 * std::sqrt(1.5 / loss);
    const double got =
        8.0 * pattern.bytes / Measure(options, pattern.operation, pattern.bytes) / rate;
    NS_TEST_EXPECT_MSG_GT(got, 1 / 1.3, "of Mathis's rate");
    NS_TEST_EXPECT_MSG_LT(got, 1.3, "of Mathis's rate");

    options.faults.clear();
    options.mtu = 9000;
    options.rate = DataRate("10Gbps");
    const uint64_t bytes = 100 << 20;
    // Slow start takes some 8 round trips up to half of the path, then windows grow by a twentieth.
    const double most = 8.0 * bytes / 10e9 + 16 * 2e-3;
    NS_TEST_EXPECT_MSG_LT(Measure(options, pattern.operation, bytes), most, "after slow start");
}

/** Every control of ns-3 and of this module is accepted, under the name that the user gives. */
void
TestNames()
{
    const std::map<std::string, std::string> own{
        {"ns3::TcpBbr", "ns3::training::TcpBbr"},
        {"ns3::TcpBbr:HighGain=2.8", "ns3::training::TcpBbr:HighGain=2.8"},
        {"ns3::TcpCubic", "ns3::training::TcpCubic"},
        {"ns3::TcpBbr:original", "ns3::TcpBbr:original"},
        {"ns3::TcpCubic:original,Beta=0.5", "ns3::TcpCubic:original,Beta=0.5"},
        {"ns3::training::TcpBbr", "ns3::training::TcpBbr"}};
    std::vector<std::string> given;
    for (const auto& [name, used] : own)
    {
        given.push_back(name);
    }
    std::size_t ofNs3 = 0;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type.IsChildOf(TcpCongestionOps::GetTypeId()) && type.HasConstructor())
        {
            given.push_back(type.GetName());
            ofNs3++;
        }
    }
    NS_TEST_EXPECT_MSG_GT(ofNs3, 15, "all of ns-3");
    Pattern pattern{2, "single-switch", "ring", Operation::ALL_REDUCE, 1 << 20};
    const double cubic = Measure(pattern.MakeOptions("auto"), pattern.operation, pattern.bytes);
    for (const std::string& name : given)
    {
        const auto found = own.find(name);
        const std::string used = found == own.end() ? name : found->second;
        const ClusterOptions options = pattern.MakeOptions(name);
        {
            const Cluster cluster(options);
            NS_TEST_EXPECT_MSG_EQ(cluster.GetOptions().congestionControl, used, name);
            const std::string notes = cluster.GetNotes().empty() ? "" : cluster.GetNotes()[0];
            const std::string line = "congestion control: " + used + " in place of " + name;
            NS_TEST_EXPECT_MSG_EQ((notes == line), (used != name), notes);
        }
        Simulator::Destroy();
        if (name.find("original") == std::string::npos)
        {
            NS_TEST_EXPECT_MSG_GT(cubic / Measure(options, pattern.operation, pattern.bytes),
                                  0.7,
                                  name);
        }
    }
    const std::string refusal =
        GetRefusal([&] { const Cluster cluster(pattern.MakeOptions("ns3::TcpTahoe")); });
    ExpectPart(refusal, "ns3::TcpTahoe (allowed with tcp: the TypeId of a TcpCongestionOps: ");
    ExpectPart(refusal, "ns3::training::TcpBbr");
    Simulator::Destroy();
}

const Suite g_suite("tcp-controls",
                    Duration::QUICK,
                    {{"BBR holds the rate of Cubic", TestBbr},
                     {"Cubic after losses and after slow start", TestCubic},
                     {"names of controls of ns-3 and of this module", TestNames}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::tcp_controls_test
