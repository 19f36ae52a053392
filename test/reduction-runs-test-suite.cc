/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "innetwork-test-common.h"

#include "ns3/reference-sums.h"
#include "ns3/roce-wire-format.h"

namespace ns3::training::tests::reduction_runs_test
{

/** @return a cluster whose NICs execute an algorithm */
ClusterOptions
MakeOptions(const std::string& algorithm,
            uint64_t ranks,
            const std::string& topology = "single-switch")
{
    ClusterOptions options;
    options.algorithm = algorithm;
    options.ranks = ranks;
    options.topology = topology;
    return options;
}

void
Check(const ClusterOptions& options, uint64_t count)
{
    Trial trial(options, count, false);
    const std::string what = options.algorithm + ", " + options.transport + ", loss " +
                             std::to_string(options.loss) + ", " + std::to_string(count) +
                             " numbers";
    NS_TEST_EXPECT_MSG_EQ(trial.Run(2), "", what);
    const auto sums = ReferenceSums(*trial.cluster).Get(0, 0, trial.inputs);
    for (const auto& tensor : trial.tensors)
    {
        NS_TEST_EXPECT_MSG_EQ(tensor->values, sums[0], what);
    }
}

/** Real numbers over real transports. */
void
TestRealSums()
{
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        for (double loss : {0.0, 0.01})
        {
            for (uint64_t mtu : {0, 700})
            {
                auto options = MakeOptions("nic-ring", 7);
                options.transport = transport;
                options.loss = loss;
                options.mtu = mtu;
                Check(options, 10007);
            }
        }
    }
    for (const std::string algorithm : {"nic-chain",
                                        "nic-chain:distribute=forward,own-buffer=5000",
                                        "nic-bidirectional-ring:reception-buffer=1000",
                                        "nic-multi-ring",
                                        "nic-double-binary-tree:dma-rate=10Gbps",
                                        "nic-recursive-doubling",
                                        "nic-multitree",
                                        "nic-multitree:lockstep=none,interfaces=1",
                                        "nic-multitree:interfaces=2",
                                        "nic-multitree:flow-control=packet,ports=1",
                                        "nic-multitree:flow-control=message,"
                                        "lockstep=oracle,sub-message=512",
                                        "nic-ring-2d:flow-control=packet,cut-through=false",
                                        "nic-multitree:cut-through=true,lockstep=none,"
                                        "own-buffer=100,reception-buffer=100",
                                        "nic-multitree:cut-through=true,lockstep=off"})
    {
        for (double loss : {0.0, 0.01})
        {
            auto options = MakeOptions(algorithm, 9, "torus:3x3");
            options.loss = loss;
            options.mtu = 1024;
            Check(options, 10007);
            Check(options, 1);
            options.faults = {"*:duplicate=0.02", "*:reorder=0.02/20us"};
            Check(options, 10007);
        }
    }
}

/** Times over RDMA on a ring of links against the closed form. */
void
TestRdmaTime()
{
    for (uint64_t ranks : {3, 4, 8})
    {
        for (uint64_t mtu : {1024, 4096})
        {
            // One direction of the links carries data, the other one acknowledgements.
            auto options = MakeOptions("nic-ring:reception-buffer=0,own-buffer=0",
                                       ranks,
                                       "ring:" + std::to_string(ranks));
            options.mtu = mtu;
            options.congestionControl = "none";
            constexpr uint64_t PACKETS = 100; // in each part
            const double seconds = GetSeconds(options, ranks * PACKETS * mtu / 4);
            const uint64_t bytes = GetDataFrameBytes(WRITE_ONLY_IMMEDIATE, mtu) +
                                   Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
            const double packet = static_cast<double>(bytes) * 8 / 100e9;
            // A host's link to its router has the rate of both others and 1 ns. A frame arrives
            // before the gap behind it, once on a link and twice on one of double rate.
            const double hosts = packet + 2e-9 - 2 * Frame::GAP_BYTES * 8 / 100e9;
            const double expected = static_cast<double>(2 * (ranks - 1) * PACKETS) * packet +
                                    options.delay.GetSeconds() + hosts;
            NS_TEST_EXPECT_MSG_EQ_TOL(seconds / expected,
                                      1,
                                      1e-6,
                                      ranks << " ranks, packets of " << mtu);
        }
    }
}

/** Links that die. */
void
TestDeadLink()
{
    ClusterOptions options = MakeOptions("nic-ring", 4);
    options.faults = {"host2:down,from=30us"};
    Trial trial(options, 1000000, false);
    const std::string text = trial.Run();
    ExpectPart(text, "waits in all-reduce 0 (nic-ring) at step ");
    ExpectPart(text, "from rank ");
    ExpectPart(text, "failed");
}

/** What does not go together. */
void
TestNicRefusal()
{
    auto options = MakeOptions("nic-ring", 4);
    options.hostLatency = MicroSeconds(1);
    ExpectRefusal(options, "host latency 1us with nic-ring (allowed: 0, as NICs send");
    options = MakeOptions("nic-ring", 4);
    options.hostModel = "nccl";
    ExpectRefusal(options, "host model nccl with nic-ring (allowed: none)");
    options = MakeOptions("nic-ring", 4);
    options.segments = 4;
    ExpectRefusal(options, "segments 4 with nic-ring (allowed: 0, as a segment is a packet)");
    ExpectRefusal(MakeOptions("nic-ring:lanes=x", 4), "lanes");
    ExpectRefusal(MakeOptions("nic-ring:order=id", 4), "order");
    ExpectRefusal(MakeOptions("nic-ring:lockstep=x", 4), "off, none, estimate, oracle");
    ExpectRefusal(MakeOptions("nic-ring:lockstep=a\nb", 4), "lockstep");
    ExpectRefusal(MakeOptions("nic-ring:flow-control=x", 4), "none, packet, message");
    ExpectRefusal(MakeOptions("nic-ring:flow-control=packet", 4),
                  "flow-control with cut-through=true (allowed: with cut-through=false");
    ExpectRefusal(MakeOptions("nic-ring:sub-message=64", 4),
                  "sub-message=64 with flow-control=none and lockstep=off (allowed: ");
    ExpectRefusal(MakeOptions("nic-multitree:sub-message=100", 4, "torus:2x2"),
                  "sub-message=100 (allowed: multiples of 16");
    options = MakeOptions("nic-multitree:flow-control=message", 4, "torus:2x2");
    options.nic = "inceptionn:ratio=4";
    ExpectRefusal(options, "flow-control with nic inceptionn:ratio=4 (allowed: without codecs");
    ExpectRefusal(MakeOptions("nic-ring:table-entries=5", 4), "table-entries=5 with lockstep=off");
    ExpectRefusal(MakeOptions("nic-multitree:table-entries=4", 4, "torus:2x2"),
                  "table-entries=4: the schedule of rank 0 has 5 entries");
    ExpectRefusal(MakeOptions("nic-multitree:interfaces=1,own-buffer=100", 4, "torus:2x2"),
                  "interfaces=1 with own-buffer=100 and reception-buffer=0 (allowed: with both");
    // As published: a table of 128 entries does for a torus of 64 nodes, and not for a mesh.
    NS_TEST_EXPECT_MSG_EQ(Refuse(MakeOptions("nic-multitree", 64, "torus:8x8")), "", "fits");
    ExpectRefusal(MakeOptions("nic-multitree", 64, "mesh:8x8"), "table-entries=128: ");
}

const Suite g_suite(
    "reduction-runs",
    Duration::EXTENSIVE,
    {{"sums over RDMA, TCP and Ultra Ethernet, with losses, bit for bit", TestRealSums},
     {"rings of NICs over RDMA take the time of their packets on the lines", TestRdmaTime},
     {"a dead link ends the run with rank, step and message", TestDeadLink},
     {"options of hosts, wrong keys and tables that are too small are refused", TestNicRefusal}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::reduction_runs_test
