/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "innetwork-test-common.h"

#include "ns3/nvlink-packets.h"
#include "ns3/sharp-wire-format.h"

namespace ns3::training::tests::nvls_test
{

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& topology)
{
    ClusterOptions options;
    options.algorithm = "nvls";
    options.ranks = ranks;
    options.topology = topology;
    return options;
}

void
Check(const ClusterOptions& options, uint64_t count, bool integers)
{
    const std::string what = options.topology + ", " + std::to_string(options.ranks) + " ranks, " +
                             std::to_string(count) + " numbers, loss " +
                             std::to_string(options.loss);
    Trial trial(options, count, integers);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", what);
    NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the switch");
    NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, what);
    const auto& worker = trial.cluster->GetInNetworkCommunicators()[0];
    NS_TEST_EXPECT_MSG_LT_OR_EQ(trial.GetError(), worker->GetErrorBound(), what);
    if (options.loss == 0 && options.faults.empty())
    {
        NS_TEST_EXPECT_MSG_EQ(trial.CountResent(), 0, what << ": nothing is sent again");
        // A barrier, then reads and writes, one part of every packet per rank.
        const uint64_t parts = std::min<uint64_t>(options.ranks, count);
        if (count <= options.ranks)
        {
            uint64_t sent = 0;
            for (const auto& rank : trial.cluster->GetInNetworkCommunicators())
            {
                sent += rank->GetCounters().sent;
            }
            NS_TEST_EXPECT_MSG_EQ(sent, 3 * (options.ranks + parts * (options.ranks + 2)), what);
        }
    }
}

/**
 * Sums are exact, or equal those in the switch's order, under losses, duplicates and reordering.
 */
void
TestNvlsSum()
{
    const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
    for (const uint32_t ranks : {2, 3, 8, 16})
    {
        for (const std::string topology : {"single-switch", "rail-optimized:gpus=16,servers=2"})
        {
            ClusterOptions options = MakeOptions(ranks, topology);
            for (const double loss : {0.0, 0.001, 0.01, 0.05})
            {
                for (const bool integers : {true, false})
                {
                    const Default type("SharpEndpoint::DataType", integers ? "int32" : "bfloat16");
                    options.loss = loss;
                    options.faults.clear();
                    for (const uint64_t count : {uint64_t{1}, uint64_t{ranks}, uint64_t{9999}})
                    {
                        Check(options, count, integers);
                    }
                    options.faults = DoubleAndDelay("20us");
                    SetKey(options, "window", 3 * ranks); // slot numbers wrap around
                    Check(options, 9999, integers);
                    options.algorithm = "nvls";
                }
            }
        }
    }
}

/** More ranks than a switch chip has ports: 18 chips of a rack have the memory for their sums. */
void
TestNvlsRack()
{
    const Default type("SharpEndpoint::DataType", "int32");
    ClusterOptions options = MakeOptions(72, "rail-optimized:gpus=72,servers=1");
    for (const uint64_t count : {uint64_t{1}, uint64_t{72}, uint64_t{9999}})
    {
        Check(options, count, true);
    }
    SetKey(options, "elements-per-packet", 2048);
    SetKey(options, "slots", 144);
    ExpectRefusal(options, "program sharp needs 85085592 of register memory of a switch");
    options.topology += ",local-switches=18";
    ExpectRefusal(options, "");
    Check(options, 1 << 20, true);
}

/** The switch restarts in the middle of a tensor, or a rank fails. */
void
TestNvlsFailure()
{
    const Default failure("InNetworkCommunicator::FailureTimeout", "5ms");
    const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
    const Default retries("SharpEndpoint::RetryLimit", "3");
    for (uint32_t at = 5; at <= 95; at += 10)
    {
        Trial trial(Restart(MakeOptions(4, "single-switch"), at, 1), 50000, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(4), "", at << " us");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 4, at << " us: all, for good");
        NS_TEST_EXPECT_MSG_LT(trial.GetError(), 1e-8, at << " us: the tensor is intact");
    }
    CheckDeadWorker(MakeOptions(4, "single-switch"));
}

/** NCCL's hosts add their time. */
void
Hosts(const std::string& server)
{
    const double bit = 1 / 3600e9;
    // NCCL's hosts: 25 us, and copies of two loops, whose traffic begins behind the barrier.
    ClusterOptions options = MakeOptions(8, server);
    const double barrier = 2 * (250e-9 + 8 * bit * (64 + 8)) + 130e-9;
    for (const auto& [count, copies] : {std::pair{1 << 18, 2.0}, std::pair{1 << 21, 1.0}})
    {
        options.hostModel = "none";
        const double none = GetSeconds(options, count);
        options.hostModel = "nccl";
        NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(options, count) - none,
                                  25e-6 + copies * (none - barrier),
                                  1e-8,
                                  count << " numbers");
    }
}

/** The NVSwitch has credits, which all come back; nothing is dropped or paused. */
void
Credits()
{
    for (const std::string topology : {"rail-optimized:servers=1", "single-switch"})
    {
        Trial trial(MakeOptions(8, topology), 1 << 18, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(2), "", topology);
        const Fabric& fabric = trial.cluster->GetFabric();
        NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().droppedFrames, 0, topology << ": drops");
        NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().pausesSent, 0, topology << ": pauses");
        uint32_t ends = 0;
        for (const auto& channel : fabric.channels)
        {
            for (uint32_t end = 0; end < 2; end++)
            {
                const LinkCredits* credits = channel->GetPort(end).GetCredits();
                if (credits)
                {
                    // The class without traffic has what it had at the start.
                    NS_TEST_EXPECT_MSG_EQ(credits->GetBalance(3),
                                          credits->GetBalance(2),
                                          topology << ": credits");
                    NS_TEST_EXPECT_MSG_GT(credits->GetBalance(3), 0, topology);
                    ends++;
                }
            }
        }
        NS_TEST_EXPECT_MSG_EQ(ends, 16, topology << ": both ends of the GPUs' links");
    }
}

void
TestNvlsTime()
{
    const double bit = 1 / 3600e9;
    const std::string server = "rail-optimized:gpus=16,servers=1,local-delay=250ns";
    // Barrier, read, contributions and sum, write: each takes an uplink and a downlink.
    ClusterOptions options = MakeOptions(8, server);
    options.algorithm = "nvls:framing=ethernet";
    const double line =
        8 * bit * (4 * (GetSharpFrameBytes(0) + 8) + 4 * (GetSharpFrameBytes(4) + 8));
    NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(options, 1), 8 * 250e-9 + 4 * 130e-9 + line, 1e-10, "");
    options.algorithm = "nvls"; // of the shortest frames
    NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(options, 1),
                              8 * 250e-9 + 4 * 130e-9 + 8 * bit * 8 * (64 + 8),
                              1e-10,
                              "");
    Hosts(server);
    const Default latency("SharpProgram::Latency", "0ns");
    for (const uint32_t ranks : {4, 8, 16})
    {
        options = MakeOptions(ranks, "rail-optimized:gpus=16,servers=1");
        const double n = ranks;
        // A downlink carries a request and a written sum per packet of the tensor, and a sum
        // per packet of its own part. It also carries ACKs of the packets sent up, which are
        // equally many.
        const auto check = [&](uint32_t request, uint32_t sum, uint32_t write, double answers) {
            const uint64_t count = 4 << 20;
            const double packet = request + 20 + write + 20 + (sum + 20) / n + answers;
            const double expected = static_cast<double>(count) / 256 * packet * 8 * bit;
            // Without the latency of the first packets.
            const double seconds =
                GetSeconds(options, count + count / 4) - GetSeconds(options, count / 4);
            NS_TEST_EXPECT_MSG_EQ_TOL(seconds / expected, 1, 0.02, ranks);
        };
        options.algorithm = "nvls:framing=ethernet";
        check(GetSharpFrameBytes(0),
              GetSharpFrameBytes(1024),
              GetSharpFrameBytes(1024),
              (GetSharpAcknowledgeBytes() + 20) / 16.0 * (1 + 2 / n));
        // Eight packets of NVLink: 16 flits of 16 bytes, 72 and 80. On a rank's own connection
        // each third packet is a write of eight, on the others none is.
        options.algorithm = "nvls";
        check(236, 1132, 1260, 84 / 16.0 * (n - 1) / n + 8 * 16 / n);
    }
    NS_TEST_EXPECT_MSG_EQ(GetNvlinkFrameBytes(NvlinkPacket::READ, 1024), 236, "request");
    NS_TEST_EXPECT_MSG_EQ(GetNvlinkFrameBytes(NvlinkPacket::ANSWER, 1024), 1132, "sum");
    NS_TEST_EXPECT_MSG_EQ(GetNvlinkFrameBytes(NvlinkPacket::WRITE, 1024), 1260, "write");
    NS_TEST_EXPECT_MSG_EQ(GetNvlinkFrameBytes(NvlinkPacket::RESPONSE, 1024), 108, "response");
    NS_TEST_EXPECT_MSG_EQ(GetNvlinkFrameBytes(NvlinkPacket::WRITE, 100), 124, "7 + 2 flits");
    NS_TEST_EXPECT_MSG_EQ(GetNvlinkFrameBytes(NvlinkPacket::READ, 1), 64, "the shortest");
    Credits();
}

/** Named refusals of invalid requests. */
void
TestNvlsOptions()
{
    const std::string servers = "rail-optimized:gpus=8,servers=2";
    ExpectRefusal(MakeOptions(8, servers), "");
    ExpectRefusal(MakeOptions(1, servers), "");
    ExpectRefusal(MakeOptions(9, servers),
                  "nvls for 9 ranks, which 9 switches connect (allowed: ranks at one, such as "
                  "the NVSwitch of a server, or nvls-tree)");
    ClusterOptions options = MakeOptions(8, servers);
    SetKey(options, "frames", "rdma");
    ExpectRefusal(options, "'frames=rdma' (allowed: slots=");
    options = MakeOptions(8, "single-switch");
    options.hostModel = "nccl";
    ExpectRefusal(options,
                  "host model nccl with sums in a switch, servers=8,gpu=hopper,channels=16 "
                  "(allowed: one server with NVLink, gpu=hopper or blackwell, 2 channels or "
                  "more)");
    options.topology = servers;
    ExpectRefusal(options, "");
    options.hostModel = "nccl:gpu=ampere";
    ExpectRefusal(options, "servers=1,gpu=ampere,channels=16 (allowed: one server");
    options = MakeOptions(8, servers);
    SetKey(options, "framing", "rdma");
    ExpectRefusal(options,
                  "ns3::training::NvlsCommunicator::Framing='rdma' (allowed: nvlink, "
                  "ethernet)");
    options = MakeOptions(8, servers);
    SetKey(options, "window", 7);
    ExpectRefusal(options, "nvls job 0 with a window of 7 (allowed: from 8, its trees)");
}

std::string
Measure(const ClusterOptions& options)
{
    Trial trial(options, 4 << 20, true, false);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", options.algorithm);
    const auto warnings = GetWarnings(*trial.cluster);
    return warnings.empty() ? "" : warnings[0];
}

/** Few slots are reported, with a number that is enough; likewise credits of a streaming tree. */
void
TestNvlsLimit()
{
    for (const std::string key : {"slots", "credits"})
    {
        ClusterOptions options = MakeOptions(8, "rail-optimized:servers=1");
        options.algorithm = key == "slots" ? "nvls" : "sharp";
        SetKey(options, key, 32);
        std::string warning = Measure(options);
        ExpectPart(warning, key + "=32 limits " + (key == "slots" ? "nvls" : "sharp"));
        // Longer queues may take more than the first warning says.
        for (uint32_t attempt = 0; attempt < 4 && !warning.empty(); attempt++)
        {
            const std::size_t begin = warning.rfind('=') + 1;
            SetKey(options, key, warning.substr(begin, warning.find(" or more", begin) - begin));
            warning = Measure(options);
        }
        NS_TEST_EXPECT_MSG_EQ(warning, "", options.algorithm);
    }
}

const Suite g_suite("nvls",
                    Duration::EXTENSIVE,
                    {{"sums under loss, duplication and reordering", TestNvlsSum},
                     {"72 ranks of a rack", TestNvlsRack},
                     {"the switch restarts, a rank stops", TestNvlsFailure},
                     {"times are those of the closed forms", TestNvlsTime},
                     {"options that do not fit are refused", TestNvlsOptions},
                     {"a warning names slots or credits that limit the rate", TestNvlsLimit}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::nvls_test
