/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator/nccl-chunks.h"
#include "innetwork-test-common.h"

#include "ns3/packet-size.h"

namespace ns3::training::tests::nvls_tree_test
{

ClusterOptions
MakeOptions(uint32_t servers, uint32_t gpus)
{
    ClusterOptions options;
    options.algorithm = "nvls-tree";
    options.ranks = servers * gpus;
    options.topology =
        "rail-optimized:gpus=" + std::to_string(gpus) + ",servers=" + std::to_string(servers);
    return options;
}

/** @return neighbors of each server in NCCL's first tree, or in its second one (trees.cc) */
std::vector<uint32_t>
CountNeighbors(uint32_t servers, bool isSecond)
{
    std::vector<uint32_t> count(servers, 0);
    const auto place = [&](uint32_t at) {
        return !isSecond ? at : servers % 2 == 0 ? servers - 1 - at : (at + 1) % servers;
    };
    for (uint32_t at = 1; at < servers; at++)
    {
        uint32_t bit = 1;
        while ((at & bit) == 0)
        {
            bit *= 2;
        }
        const uint32_t wide = (at ^ bit) | 2 * bit;
        count[place(at)]++;
        count[place(wide < servers ? wide : at ^ bit)]++;
    }
    return count;
}

void
Check(const ClusterOptions& options, uint64_t count, bool integers)
{
    const std::string what = options.topology + ", " + options.algorithm + ", " +
                             options.transport + ", " + std::to_string(count) + " numbers, loss " +
                             std::to_string(options.loss);
    Trial trial(options, count, integers);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(3), "", what);
    NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": not by the hosts alone");
    NS_TEST_EXPECT_MSG_EQ(trial.IsSumOfNetwork(), true, what);
    double bound = 0; // each rank knows the numbers of its server
    for (const auto& worker : trial.cluster->GetInNetworkCommunicators())
    {
        bound = std::max(bound, worker->GetErrorBound());
    }
    NS_TEST_EXPECT_MSG_LT_OR_EQ(trial.GetError(), bound, what);
    if (integers)
    {
        NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, what << ": exact");
    }
    if (count > 1000 || options.loss == 0)
    {
        CheckResent(trial, options, what);
    }
}

void
Empty()
{
    Trial trial(MakeOptions(2, 2), 0, true);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(2), "", "nothing to add");
    NS_TEST_EXPECT_MSG_EQ(trial.GetSeconds(), 0, "takes no time");
}

/**
 * Sums are those of the switches and trees, bit for bit, under losses, duplicates and reordering.
 */
void
TestNvlsTreeSum()
{
    const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
    for (const uint32_t servers : {2, 3, 4, 7})
    {
        for (const uint32_t gpus : {1, 2, 3, 8})
        {
            for (const double loss : {0.0, 0.01})
            {
                ClusterOptions options = MakeOptions(servers, gpus);
                options.loss = loss;
                for (const uint64_t count :
                     {uint64_t{1}, uint64_t{gpus}, uint64_t{3} * gpus + 1, uint64_t{9999}})
                {
                    options.algorithm = "nvls-tree";
                    Check(options, count, count % 2 == 0);
                }
                SetKey(options, "chunk-size", 1500); // many units, and no whole packets
                Check(options, 30011, false);
                options.faults = DoubleAndDelay("20us");
                Check(options, 9999, true);
            }
        }
    }
    ClusterOptions options = MakeOptions(3, 2);
    for (const std::string transport : {"tcp", "uec"})
    {
        options.transport = transport;
        Check(options, 9999, true);
    }
    options.transport = "rdma";
    options.queuePairs = 4; // units may overtake each other
    SetKey(options, "chunk-size", 1500);
    options.loss = 0.01;
    Check(options, 30011, false);
    Empty();
}

/** A switch restarts in the middle of a tensor, or a rank fails. */
void
TestNvlsTreeFailure()
{
    const Default failure("InNetworkCommunicator::FailureTimeout", "5ms");
    const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
    const Default retries("SharpEndpoint::RetryLimit", "3");
    for (uint32_t at = 5; at <= 95; at += 10)
    {
        Trial trial(Restart(MakeOptions(3, 4), at, 1), 200000, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(4), "", at << " us");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 12, at << " us: all, for good");
        NS_TEST_EXPECT_MSG_LT(trial.GetError(), 1e-7, at << " us: the tensor is intact");
    }
    ClusterOptions slow = MakeOptions(2, 4);
    slow.rate = DataRate(10000000000);
    CheckDeadWorker(slow);
}

/** Bytes on both networks, by conservation. */
struct NvlsTreeBytesTest
{
    void Run()
    {
        constexpr uint64_t CHUNK = 4096;
        constexpr uint64_t PACKET = 256; // numbers
        for (const uint32_t servers : {2, 3, 4, 5, 7, 8})
        {
            for (const uint32_t gpus : {1, 3, 8})
            {
                Check(servers, gpus, 2 * CHUNK / 4 * gpus * 5, CHUNK, PACKET); // whole units
                Check(servers, gpus, 30011, CHUNK, PACKET);
            }
        }
    }

    void Check(uint32_t servers, uint32_t gpus, uint64_t count, uint64_t chunk, uint64_t packet)
    {
        ClusterOptions options = MakeOptions(servers, gpus);
        SetKey(options, "chunk-size", chunk);
        Trial trial(options, count, true);
        const std::string what = options.topology + ", " + std::to_string(count) + " numbers";
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", what);
        const std::vector<uint32_t> neighbors[] = {CountNeighbors(servers, false),
                                                   CountNeighbors(servers, true)};
        uint64_t total = 0;
        for (uint32_t rank = 0; rank < options.ranks; rank++)
        {
            const uint64_t owner = rank % gpus;
            const uint64_t own = count * (owner + 1) / gpus - count * owner / gpus;
            uint64_t numbers[] = {0, 0}; // by tree
            for (uint64_t at = 0; at < own; at += 2 * chunk / 4)
            {
                const uint64_t unit = std::min(2 * chunk / 4, own - at);
                numbers[0] += unit / 2;
                numbers[1] += unit - unit / 2;
            }
            // A chunk comes once from each neighbor of the server in its tree.
            const uint64_t expected = 4 * (numbers[0] * neighbors[0][rank / gpus] +
                                           numbers[1] * neighbors[1][rank / gpus]);
            uint64_t received = 0;
            for (const auto& nic : trial.cluster->GetNics(rank))
            {
                for (const auto& [number, queuePair] : nic->GetQueuePairs())
                {
                    received += queuePair->GetCounters().receivedBytes;
                }
            }
            NS_TEST_EXPECT_MSG_EQ(received, expected, what << ", rank " << rank);
            total += received;
            // A barrier, a request and a write of each own packet, and an answer to each request.
            uint64_t packets = 0;
            for (uint64_t i = 0; i < gpus; i++)
            {
                packets += (count * (i + 1) / gpus - count * i / gpus + packet - 1) / packet;
            }
            const uint64_t mine = (own + packet - 1) / packet;
            NS_TEST_EXPECT_MSG_EQ(
                trial.cluster->GetInNetworkCommunicators()[rank]->GetCounters().sent,
                1 + 2 * mine + packets,
                what << ", rank " << rank);
        }
        NS_TEST_EXPECT_MSG_EQ(total, 2 * (servers - 1) * 4 * count, what << ": 2 (n - 1) S");
    }
};

/** A number takes NVLS in a server and an all-reduce between single GPUs. */
void
Latency(uint32_t servers)
{
    ClusterOptions server = MakeOptions(1, 4);
    server.algorithm = "nvls";
    ClusterOptions trees = MakeOptions(servers, 1);
    trees.algorithm = "double-binary-tree";
    Trial between(trees, 1, true, false);
    NS_TEST_EXPECT_MSG_EQ(between.Run(), "", servers);
    const double seconds = between.GetSeconds();
    Simulator::Destroy();
    NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(MakeOptions(servers, 4), 1),
                              GetSeconds(server, 1) + seconds,
                              1e-9,
                              servers);
}

/** The busiest NIC is busy all the time. */
void
Rate(uint32_t servers)
{
    constexpr uint32_t GPUS = 4;
    const uint64_t count = 2 << 20;
    ClusterOptions options = MakeOptions(servers, GPUS);
    options.congestionControl = "none"; // two children send to a parent at a time
    const auto first = CountNeighbors(servers, false);
    const auto second = CountNeighbors(servers, true);
    uint32_t most = 0;
    for (uint32_t server = 0; server < servers; server++)
    {
        most = std::max(most, first[server] + second[server]);
    }
    const double goodput =
        PacketSize::OfRdma(4096).GetGoodput() * static_cast<double>(options.rate.GetBitRate());
    const double expected = 8 * 4.0 * count / GPUS * most / 2 / goodput;
    const double seconds = GetSeconds(options, count + count / 4) -
                           GetSeconds(options, count / 4); // without the pipeline's filling
    NS_TEST_EXPECT_MSG_EQ_TOL(seconds / expected, 1, 0.05, servers);
    const Cluster cluster(options);
    const double bound = cluster.GetBounds().Get(CollectiveOperation::ALL_REDUCE, 4 * count);
    Simulator::Destroy();
    NS_TEST_EXPECT_MSG_GT_OR_EQ(GetSeconds(options, count), bound, servers);
}

double
GetSecondsOf(const ClusterOptions& options, uint64_t count)
{
    Trial trial(options, count, true, false);
    trial.Run();
    return trial.GetSeconds();
}

/** The switches add what NCCL's tuning gives them. */
void
Choice()
{
    ClusterOptions options = MakeOptions(2, 8);
    options.rate = DataRate(400000000000);
    options.hostModel = "nccl";
    NcclTuning::System system;
    system.ranks = 16;
    system.servers = 2;
    system.localRate = 3600e9 / 8;
    system.remoteRate = 8 * 400e9 / 8;
    const NcclTuning tuning(system);
    for (const uint64_t bytes : {uint64_t{4096}, uint64_t{8} << 20})
    {
        const auto expect = [&](NcclTuning::Algorithm algorithm) {
            const auto operation = CollectiveOperation::ALL_REDUCE;
            return tuning.GetSeconds(operation,
                                     algorithm,
                                     tuning.SelectProtocol(operation, algorithm, bytes),
                                     bytes);
        };
        const bool isTree =
            expect(NcclTuning::Algorithm::SWITCH_TREE) <
            std::min(expect(NcclTuning::Algorithm::RING), expect(NcclTuning::Algorithm::TREE));
        NS_TEST_EXPECT_MSG_EQ(isTree, (bytes > 4096), "small vectors have no use for it");
        options.algorithm = "nvls-tree:choice=tuning";
        const double chosen = GetSeconds(options, bytes / 4);
        options.algorithm = isTree ? "nvls-tree" : "ring";
        NS_TEST_EXPECT_MSG_EQ(chosen, GetSecondsOf(options, bytes / 4), bytes);
    }
}

/** NCCL's hosts add their start, their copies, and a latency to each message. */
void
Hosts()
{
    constexpr double US = 1e-6;
    for (const auto& [servers, hops] : {std::pair{2, 2}, std::pair{4, 4}, std::pair{8, 6}})
    {
        ClusterOptions options = MakeOptions(servers, 4);
        const double none = GetSeconds(options, 4);
        options.hostModel = "nccl";
        // In the latency of a message is that of the two links to the nearest server.
        const double copies = 2 * (1 + 1.0 / 4) * 16 / (3600e9 / 8);
        NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(options, 4) - none,
                                  25 * US + copies + hops * (20.9 * US - 1 * US),
                                  hops * 10e-9, // else messages follow acknowledgements
                                  servers);
    }
    Choice();
    // Chunks are those of NCCL (src/enqueue.cc), 8 ranks in a server and 16 channels.
    NcclTuning::System system;
    const std::vector<std::tuple<uint32_t, uint64_t, uint64_t>> chunks{
        {2, 64 << 20, 128 << 10},
        {2, (64 << 20) - 1, 64 << 10},
        {2, 8 << 20, 64 << 10},
        {2, (8 << 20) - 1, 32 << 10},
        {4, 256 << 20, 64 << 10},
        {16, 4 << 20, 32 << 10}};
    for (const auto& [servers, bytes, chunk] : chunks)
    {
        system.servers = servers;
        system.ranks = 8 * servers;
        NS_TEST_EXPECT_MSG_EQ(NcclChunks(system).GetSwitchTreeChunk(bytes), chunk, bytes);
    }
}

void
TestNvlsTreeTime()
{
    for (const uint32_t servers : {2, 3, 4, 7})
    {
        Latency(servers);
        Rate(servers);
    }
    Hosts();
}

/** Named refusals of invalid requests. */
void
TestNvlsTreeOptions()
{
    ClusterOptions options = MakeOptions(2, 8);
    ExpectRefusal(options, "");
    options.hostModel = "nccl";
    ExpectRefusal(options, "");
    options.hostModel = "nccl:gpu=ampere";
    ExpectRefusal(options,
                  "host model nccl with sums in a switch, servers=2,gpu=ampere,channels=16 "
                  "(allowed: several servers with NVLink, gpu=hopper or blackwell, 2 channels "
                  "or more)");
    options = MakeOptions(2, 8);
    options.ranks = 8;
    ExpectRefusal(options, "nvls-tree with one server (allowed: two or more; in one, nvls)");
    options.ranks = 9;
    ExpectRefusal(options,
                  "nvls-tree with servers of 8 and 1 ranks (allowed: equally many ranks in "
                  "each server)");
    options.ranks = 16;
    options.topology = "single-switch";
    ExpectRefusal(options,
                  "topology 'single-switch' with nvls-tree: host0 has no scale-up switch "
                  "(allowed: servers with a scale-up switch and NICs, such as rail-optimized)");
    options = MakeOptions(2, 8);
    SetKey(options, "data-type", "float16");
    ExpectRefusal(options,
                  "nvls-tree with ns3::training::SharpEndpoint::DataType=float16 (allowed: "
                  "float32, which hosts add)");
    options = MakeOptions(2, 8);
    SetKey(options, "choice", "tuning");
    ExpectRefusal(options,
                  "ns3::training::NvlsCommunicator::Choice tuning with host model none "
                  "(allowed: with a host model)");
    options = MakeOptions(2, 8);
    SetKey(options, "window", 7);
    ExpectRefusal(options, "nvls-tree job 0 with a window of 7 (allowed: from 8, its trees)");
}

const Suite g_suite(
    "nvls-tree",
    Duration::EXTENSIVE,
    {{"sums under loss, duplication and reordering", TestNvlsTreeSum},
     {"a server's switch restarts, a rank stops", TestNvlsTreeFailure},
     {"bytes of each rank between servers, packets within them", RunTest<NvlsTreeBytesTest>},
     {"times are those of the closed forms, and not below the bound", TestNvlsTreeTime},
     {"options that do not fit are refused", TestNvlsTreeOptions}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::nvls_tree_test
