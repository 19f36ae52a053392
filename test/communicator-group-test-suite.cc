/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator/nccl-chunks.h"
#include "test-case.h"

#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/guarded-run.h"
#include "ns3/host-model.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"
#include "ns3/training-cluster.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace ns3::training::tests::communicator_group_test
{

using Operation = CollectiveOperation;
using Group = std::vector<uint32_t>;

/** @return numbers that differ by rank, collective and index, with exact sums */
std::vector<float>
MakeNumbers(uint32_t rank, uint32_t collective, uint32_t count)
{
    std::vector<float> numbers(count);
    for (uint32_t i = 0; i < count; i++)
    {
        numbers[i] = static_cast<float>((rank * 37 + collective * 101 + i * 11) % 1009);
    }
    return numbers;
}

/** Concurrent collectives of a cluster's ranks. */
class Traffic
{
  public:
    explicit Traffic(const ClusterOptions& options)
        : cluster(std::make_unique<Cluster>(options)),
          run(std::make_unique<GuardedRun>(*cluster))
    {
        for (uint32_t rank = 0; rank < cluster->GetRanks(); rank++)
        {
            Watch(cluster->GetHostCommunicator(rank));
        }
    }

    ~Traffic()
    {
        run.reset();
        cluster.reset();
        Simulator::Destroy();
    }

    /** Counts the completions of a communicator. */
    void Watch(Ptr<ScheduledCommunicator> communicator)
    {
        communicator->TraceConnectWithoutContext("Collective",
                                                 MakeCallback(&Traffic::OnCollective, this));
    }

    /** Starts a collective at one member of a group, with numbers derived from `seed`. */
    void Start(Ptr<ScheduledCommunicator> member,
               uint32_t rank,
               Operation operation,
               uint32_t count,
               uint32_t seed,
               int32_t priority = 0,
               Time delay = Time(0))
    {
        auto tensor = Create<Tensor>();
        tensor->values = MakeNumbers(rank, seed, count);
        tensor->bytes = count * sizeof(float);
        tensor->priority = priority;
        tensors[{seed, rank}] = tensor;
        left++;
        Simulator::ScheduleWithContext(cluster->GetFabric().hosts.Get(rank)->GetId(),
                                       delay,
                                       &Traffic::DoStart,
                                       this,
                                       member,
                                       operation,
                                       tensor);
    }

    /** Runs a collective of all ranks, with the numbers of seed 1. */
    void RunAll(Operation operation, uint32_t count)
    {
        for (uint32_t rank = 0; rank < cluster->GetRanks(); rank++)
        {
            Start(cluster->GetHostCommunicator(rank), rank, operation, count, 1);
        }
        run->Run();
    }

    /** @return when the last rank completed its last collective */
    Time GetEnd() const
    {
        Time end;
        for (const CollectiveRecord& record : records)
        {
            end = std::max(end, record.finished);
        }
        return end;
    }

    /** @return whether every member of a group has the sum */
    bool ReturnsSum(const Group& group, uint32_t seed, uint32_t count) const
    {
        std::vector<float> sum(count);
        for (uint32_t rank : group)
        {
            const auto numbers = MakeNumbers(rank, seed, count);
            std::transform(sum.begin(), sum.end(), numbers.begin(), sum.begin(), std::plus<>());
        }
        return std::all_of(group.begin(), group.end(), [&](uint32_t rank) {
            return tensors.at({seed, rank})->values == sum;
        });
    }

    std::unique_ptr<Cluster> cluster;
    std::unique_ptr<GuardedRun> run;
    std::map<std::pair<uint32_t, uint32_t>, Ptr<Tensor>> tensors; ///< by seed and rank
    std::vector<CollectiveRecord> records;
    uint32_t left{0}; ///< collectives not complete yet, summed over ranks

  private:
    void DoStart(Ptr<ScheduledCommunicator> member, Operation operation, Ptr<Tensor> tensor)
    {
        member->Start(operation, tensor, 0, MakeCallback(&Traffic::OnDone, this));
    }

    void OnDone()
    {
        if (--left == 0)
        {
            run->End();
        }
    }

    void OnCollective(const CollectiveRecord& record)
    {
        records.push_back(record);
    }
};

/** @return a planner of rings of so many ranks */
ScheduledCommunicator::Planner
MakeRingPlanner(uint32_t ranks)
{
    return [ranks](Operation operation, uint64_t, uint32_t) {
        CollectiveRequest request;
        request.operation = operation;
        request.ranks = ranks;
        return std::make_shared<const CollectiveSchedule>(BuildSchedule("ring", request));
    };
}

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& transport = "rdma")
{
    ClusterOptions options;
    options.ranks = ranks;
    options.transport = transport;
    return options;
}

void
Run(const std::string& transport, uint32_t limit)
{
    constexpr uint32_t COLUMNS = 4;
    constexpr uint32_t ROWS = 3;
    constexpr uint32_t N = COLUMNS * ROWS;
    constexpr uint32_t COUNT = 5000;
    Config::SetDefault("ns3::training::ScheduledCommunicator::ActiveCollectives",
                       UintegerValue(limit));
    ClusterOptions options = MakeOptions(N, transport);
    options.loss = 0.01;
    Traffic traffic(options);
    std::vector<Group> rows(ROWS);
    std::vector<Group> columns(COLUMNS);
    for (uint32_t rank = 0; rank < N; rank++)
    {
        rows[rank / COLUMNS].push_back(rank);
        columns[rank % COLUMNS].insert(columns[rank % COLUMNS].begin(), rank); // reversed
    }
    const auto inRow = traffic.cluster->GetCommunicators().Split(rows, 1);
    const auto inColumn = traffic.cluster->GetCommunicators().Split(columns, 255);
    for (uint32_t rank = 0; rank < N; rank++)
    {
        const uint32_t column = rank % COLUMNS;
        NS_TEST_ASSERT_MSG_EQ(inRow[rank]->GetRank(), column, "rank in its row");
        NS_TEST_ASSERT_MSG_EQ(inColumn[rank]->GetRank(),
                              ROWS - 1 - rank / COLUMNS,
                              "rank in its column");
        NS_TEST_ASSERT_MSG_EQ(inColumn[rank]->GetSize(), ROWS, "size of a column");
        traffic.Watch(inRow[rank]);
        traffic.Watch(inColumn[rank]);
        // Half of a row, split off from the row: ranks are numbered as in the row.
        const uint32_t first = column / 2 * 2;
        const auto half = inRow[rank]->Split({first + 1, first}, MakeRingPlanner(COLUMNS / 2), 2);
        NS_TEST_ASSERT_MSG_EQ(half->GetRank(), 1 - column % 2, "rank in half a row");

        for (uint32_t i = 0; i < 3; i++)
        {
            traffic.Start(inRow[rank], rank, Operation::ALL_REDUCE, COUNT, 10 + i);
            traffic.Start(inColumn[rank], rank, Operation::ALL_REDUCE, COUNT, 20 + i);
            traffic.Start(half, rank, Operation::ALL_REDUCE, COUNT, 30 + i);
            traffic.Start(traffic.cluster->GetHostCommunicator(rank),
                          rank,
                          Operation::ALL_REDUCE,
                          COUNT,
                          40 + i);
        }
        traffic.Start(inColumn[rank], rank, Operation::SEND_RECEIVE, COUNT, 50);
    }
    traffic.run->Run();
    Group all(N);
    std::iota(all.begin(), all.end(), 0);
    for (uint32_t i = 0; i < 3; i++)
    {
        for (const Group& row : rows)
        {
            NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum(row, 10 + i, COUNT), true, "row");
            const Group left{row[0], row[1]};
            const Group right{row[2], row[3]};
            NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum(left, 30 + i, COUNT), true, "half a row");
            NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum(right, 30 + i, COUNT), true, "half a row");
        }
        for (const Group& column : columns)
        {
            NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum(column, 20 + i, COUNT), true, "column");
        }
        NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum(all, 40 + i, COUNT), true, "all");
    }
    for (uint32_t rank = 0; rank < N; rank++)
    {
        // A column is reversed: the previous rank is one row further on.
        const bool same =
            traffic.tensors.at({50, rank})->values == MakeNumbers((rank + COLUMNS) % N, 50, COUNT);
        NS_TEST_EXPECT_MSG_EQ(same, true, "send-receive in a column");
    }
    NS_TEST_EXPECT_MSG_EQ(traffic.records.size(), N * 10, "collectives that were traced");
    for (const CollectiveRecord& record : traffic.records)
    {
        const uint32_t most = record.communicator == 255 ? 4 : 3;
        NS_TEST_EXPECT_MSG_LT(record.collective, most, "number in its communicator");
        NS_TEST_EXPECT_MSG_LT(record.rank, N, "rank among all");
    }
    NS_TEST_EXPECT_MSG_EQ(traffic.cluster->GetHostCommunicator(0)->GetWaitingFor(), "", "idle");
}

/**
 * Every rank is a member of the group of all, of a row, of a column, and of part of its row. All
 * run collectives concurrently, on lossy networks.
 */
void
TestGroupsAtOnce()
{
    for (const std::string transport : {"rdma", "tcp"})
    {
        for (uint32_t limit : {1, 3})
        {
            Run(transport, limit);
        }
    }
    Config::Reset();
}

/**
 * Waiting collectives start in the configured order, the same at every rank, even if ranks issue
 * them at different times.
 */
struct OrderTest
{
    void Run()
    {
        const std::vector<int32_t> priorities{3, 1, -2, 7, 1};
        const std::map<std::string, std::vector<uint64_t>> expected{{"fifo", {0, 1, 2, 3, 4}},
                                                                    {"lifo", {4, 3, 2, 1, 0}},
                                                                    {"priority", {3, 0, 1, 4, 2}}};
        for (const auto& [order, numbers] : expected)
        {
            for (uint32_t limit : {1, 2, 5})
            {
                for (const auto& started : Run(order, limit, priorities, Time(0)))
                {
                    for (uint32_t i = 0; i + 1 < numbers.size(); i++)
                    {
                        const Time first = started[numbers[i]];
                        const Time next = started[numbers[i + 1]];
                        NS_TEST_EXPECT_MSG_EQ((limit == 1 ? first < next : first <= next),
                                              true,
                                              order << ", " << limit << " at a time: " << i);
                    }
                }
            }
            // The waiting collectives differ between ranks.
            std::vector<std::vector<uint64_t>> orders;
            for (const auto& started : Run(order, 1, priorities, MicroSeconds(3)))
            {
                std::vector<uint64_t> sorted(started.size());
                std::iota(sorted.begin(), sorted.end(), 0);
                std::sort(sorted.begin(), sorted.end(), [&started = started](auto a, auto b) {
                    return started[a] < started[b];
                });
                orders.push_back(sorted);
                NS_TEST_EXPECT_MSG_EQ(sorted, orders[0], order << ": all ranks do the same");
            }
            NS_TEST_EXPECT_MSG_EQ((orders[0] == expected.at("fifo")),
                                  (order == "fifo"),
                                  order << ": order of issue");
        }
        // An object that ns-3 makes with a refused value would leak.
        const auto communicator = CreateObject<ScheduledCommunicator>();
        const auto set = [&] { communicator->SetAttribute("Order", StringValue("random")); };
        NS_TEST_EXPECT_MSG_EQ(GetRefusal(set),
                              "ns3::training::ScheduledCommunicator::Order='random' (allowed: "
                              "fifo, lifo, priority)",
                              "no such order");
        Config::Reset();
    }

    /** @return start time of each collective, by rank */
    std::vector<std::vector<Time>> Run(const std::string& order,
                                       uint32_t limit,
                                       const std::vector<int32_t>& priorities,
                                       Time lag)
    {
        constexpr uint32_t N = 4;
        constexpr uint32_t COUNT = 30000;
        Config::SetDefault("ns3::training::ScheduledCommunicator::Order", StringValue(order));
        Config::SetDefault("ns3::training::ScheduledCommunicator::ActiveCollectives",
                           UintegerValue(limit));
        Traffic traffic(MakeOptions(N));
        for (uint32_t i = 0; i < priorities.size(); i++)
        {
            for (uint32_t rank = 0; rank < N; rank++)
            {
                traffic.Start(traffic.cluster->GetHostCommunicator(rank),
                              rank,
                              Operation::ALL_REDUCE,
                              COUNT,
                              i,
                              priorities[i],
                              lag * (i * (1 + rank)));
            }
        }
        traffic.run->Run();
        std::vector<std::vector<Time>> started(N, std::vector<Time>(priorities.size()));
        for (const CollectiveRecord& record : traffic.records)
        {
            started[record.rank].at(record.collective) = record.started;
        }
        for (uint32_t i = 0; i < priorities.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum({0, 1, 2, 3}, i, COUNT),
                                  true,
                                  order << " " << i);
        }
        return started;
    }
};

void
Start(Traffic* traffic, uint32_t rank)
{
    const auto pair =
        traffic->cluster->GetHostCommunicator(rank)->Split({0, 1}, MakeRingPlanner(2), 5);
    traffic->Start(pair, rank, Operation::ALL_REDUCE, 1000, 9);
    traffic->left -= rank;
}

/**
 * Communicators of a rank share its adder. Messages wait for a communicator that does not exist
 * yet. A waiting rank reports its communicator.
 */
void
TestSharedRank()
{
    // Each rank adds 4000 bytes at 1 MB/s per collective.
    Config::SetDefault("ns3::training::ScheduledCommunicator::ReduceRate",
                       DataRateValue(DataRate(8000000)));
    for (uint32_t groups : {1, 2, 3})
    {
        Traffic traffic(MakeOptions(2));
        for (uint32_t number = 1; number <= groups; number++)
        {
            const auto group = traffic.cluster->GetCommunicators().Split({{1, 0}}, number);
            for (uint32_t rank : {0, 1})
            {
                traffic.Start(group[rank], rank, Operation::ALL_REDUCE, 2000, number);
            }
        }
        traffic.run->Run();
        NS_TEST_EXPECT_MSG_EQ_TOL(Simulator::Now().GetSeconds(),
                                  groups * 4e-3,
                                  0.1e-3,
                                  groups << " communicators add one after the other");
    }
    Config::Reset();
    {
        Traffic traffic(MakeOptions(2));
        Start(&traffic, 0);
        Simulator::Schedule(MilliSeconds(1), &Start, &traffic, 1);
        traffic.left++; // until rank 1 has started too
        traffic.run->Run();
        NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum({0, 1}, 9, 1000),
                              true,
                              "a communicator made late");
        NS_TEST_EXPECT_MSG_GT(Simulator::Now(), MilliSeconds(1), "not before");
    }
    {
        Traffic traffic(MakeOptions(3));
        const auto group = traffic.cluster->GetCommunicators().Split({{2, 0}}, 7);
        NS_TEST_EXPECT_MSG_EQ(group[1], nullptr, "rank 1 is in no group");
        traffic.Start(group[2], 2, Operation::ALL_REDUCE, 1000, 1);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(traffic.cluster->GetHostCommunicator(2)->GetWaitingFor(),
                              "communicator 7, rank 0 waits in all-reduce 0 (ring) at step 0 "
                              "for chunk 0 (2000 bytes) from rank 1",
                              "what it waits for");
    }
    {
        Config::SetDefault("ns3::training::ScheduledCommunicator::Order", StringValue("lifo"));
        Traffic traffic(MakeOptions(2));
        traffic.Start(traffic.cluster->GetHostCommunicator(1), 1, Operation::ALL_REDUCE, 1000, 1);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(traffic.cluster->GetHostCommunicator(1)->GetWaitingFor(),
                              "rank 1 waits for rank 0 to announce the next collective",
                              "what it waits for");
    }
    {
        ClusterOptions options = MakeOptions(4);
        options.algorithm = "parameter-server:servers=4";
        Traffic traffic(options); // more servers than a group has ranks
        const auto group = traffic.cluster->GetCommunicators().Split({{0, 1}, {3, 2}}, 1);
        for (uint32_t rank = 0; rank < 4; rank++)
        {
            traffic.Start(group[rank], rank, Operation::ALL_REDUCE, 1000, 1);
        }
        traffic.run->Run();
        NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum({0, 1}, 1, 1000), true, "first group");
        NS_TEST_EXPECT_MSG_EQ(traffic.ReturnsSum({2, 3}, 1, 1000), true, "second group");
    }
    Config::Reset();
}

/** NCCL's cost by protocol, algorithm and location, and a collective with this cost. */
struct HostModelTest
{
    void Run()
    {
        // Two servers of two GPUs; delays of 2 * 25 ns within and at least 2 * 500 ns between them.
        const auto topology = BuildTopology("rail-optimized:servers=2,gpus=2",
                                            4,
                                            DataRate(100000000000),
                                            NanoSeconds(500));
        const auto& nccl = Registry<HostModelEntry>::Find("nccl");
        KeyValues keys;
        keys.Check("host model", nccl.keys);
        const auto all = nccl.make({topology, {}, 4, keys});
        const HostModel& model = *all;
        // us; s per GB. A ring posts to the network at each step (1 us); LL copies at 39 GB/s of
        // bus bandwidth, twice that of a tree's messages, LL128 at 36.7 GB/s for each of 8
        // channels; NVLink has 450 GB/s, the network 12.5.
        CheckCost(model, "ring", 8, 6.6, 0.95, 1.7, 2, 1.0 / 39 - 2.0 / 450);
        CheckCost(model, "double-binary-tree", 8, 6.8, 0.55, 4.0, 2, 4.0 / 39 - 2.0 / 450);
        CheckCost(model,
                  "ring",
                  1 << 20,
                  14,
                  1.85,
                  3.0,
                  128.0 / 120,
                  1 / (8 * 36.7) - 128.0 / 120 / 450);
        CheckCost(model, "ring", 1 << 28, 8.4, 3.35, 13.0, 1, 0);
        // Two rings share the channels, and so NVLink.
        CheckCost(model, "multi-ring", 1 << 28, 8.4, 3.35, 13.0, 1, 1.0 / 450);
        // One server: the limit of LL is that of the GPU.
        const auto inside = nccl.make({topology, {2, 3}, 2, keys});
        CollectiveRequest request;
        request.ranks = 2;
        const HostCost cost = inside->GetCost(BuildSchedule("ring", request), 8);
        NS_TEST_EXPECT_MSG_EQ_TOL(cost.localSecondsPerByte * 1e9,
                                  1.0 / 141 - 2.0 / 450,
                                  1e-12,
                                  "LL in a server");
        NS_TEST_EXPECT_MSG_EQ(inside->IsLocal(2, 3), true, "the same server");
        NS_TEST_EXPECT_MSG_EQ(inside->IsLocal(1, 2), false, "two servers");

        CheckWindow(nccl);
        NS_TEST_EXPECT_MSG_EQ(
            training::tests::GetRefusal([&] { model.GetSwitchCost(8); }),
            "host model nccl with sums in a switch, servers=2,gpu=hopper,channels=16 (allowed: "
            "one server with NVLink, gpu=hopper or blackwell, 2 channels or more)",
            "the switches of two servers");

        // Servers on a topology without any: ranks 0 to 2 and 3 to 5.
        auto three = KeyValues::Split("nccl:ranks-per-server=3,protocol=simple");
        three.Check("host model", nccl.keys);
        const auto flat =
            BuildTopology("single-switch", 6, DataRate(100000000000), NanoSeconds(500));
        const auto grouped = nccl.make({flat, {}, 6, three});
        NS_TEST_EXPECT_MSG_EQ(grouped->IsLocal(0, 2), true, "the first server");
        NS_TEST_EXPECT_MSG_EQ(grouped->IsLocal(2, 3), false, "two servers");
        request.ranks = 6;
        const HostCost pci = grouped->GetCost(BuildSchedule("ring", request), 8);
        NS_TEST_EXPECT_MSG_EQ_TOL(pci.localHop.GetSeconds() * 1e6, 5.7 - 1, 1e-9, "PCIe");
        NS_TEST_EXPECT_MSG_EQ_TOL(pci.remoteHop.GetSeconds() * 1e6, 14.0 - 1, 1e-9, "network");

        // Two ranks on a switch: start, and two steps with one network hop each. LL sends 400 bytes
        // more, which two links serialize.
        for (const std::string transport : {"rdma", "tcp"})
        {
            const Time none = Run("none", transport);
            const Time nccl = Run("nccl", transport);
            const Time perHop = NanoSeconds(4000) + Seconds(2 * 400 / 12.5e9);
            NS_TEST_EXPECT_MSG_EQ_TOL((nccl - none).GetSeconds(),
                                      (NanoSeconds(6600) + 2 * perHop).GetSeconds(),
                                      (transport == "rdma" ? 1e-8 : 1e-7), // acknowledgements
                                      transport);
        }
    }

    /** 8 slots in flight for each of 16 channels limit the rate on a path of 10 ms. */
    void CheckWindow(const HostModelEntry& nccl)
    {
        const auto far = BuildTopology("single-switch", 2, DataRate(100000000000), MilliSeconds(5));
        const double roundTrip = 20e-3;
        const double line = 12.5e9;
        const std::vector<std::tuple<std::string, Operation, double, double>> cases{
            {"simple", Operation::ALL_REDUCE, 4 << 20, 1},
            {"ll128", Operation::ALL_REDUCE, 8 * 576000, 128.0 / 120},
            {"ll", Operation::ALL_REDUCE, 256 << 10, 2},
            {"simple", Operation::ALL_TO_ALL, 1 << 20, 1}};
        for (const auto& [protocol, operation, window, wireFactor] : cases)
        {
            auto keys = KeyValues::Split("nccl:protocol=" + protocol);
            keys.Check("host model", nccl.keys);
            CollectiveRequest request;
            request.ranks = 2;
            request.operation = operation;
            const HostCost cost =
                nccl.make({far, {}, 2, keys})->GetCost(BuildSchedule("direct", request), 1 << 30);
            const double bytes = 16 * window;
            const std::string what = protocol + ", " + training::GetName(operation);
            NS_TEST_EXPECT_MSG_EQ(cost.windowBytes, bytes, what);
            const double copy = protocol == "ll" ? 39e9 : protocol == "ll128" ? 8 * 36.7e9 : line;
            NS_TEST_EXPECT_MSG_EQ_TOL(cost.perWindow.GetSeconds() * 1e6,
                                      (roundTrip - bytes * std::max(wireFactor / line, 1 / copy)) *
                                          1e6,
                                      1e-6,
                                      what);
        }
        const auto near =
            BuildTopology("single-switch", 2, DataRate(100000000000), NanoSeconds(500));
        KeyValues keys;
        keys.Check("host model", nccl.keys);
        CollectiveRequest request;
        request.ranks = 2;
        NS_TEST_EXPECT_MSG_EQ(
            nccl.make({near, {}, 2, keys})->GetCost(BuildSchedule("ring", request), 8).perWindow,
            Time(0),
            "a short path");
        // 2 MiB from each rank to the other: two windows of one channel.
        const auto getSeconds = [](const std::string& hostModel) {
            ClusterOptions options = MakeOptions(2);
            options.hostModel = hostModel;
            options.algorithm = "direct";
            options.delay = MilliSeconds(5);
            Traffic traffic(options);
            traffic.RunAll(Operation::ALL_TO_ALL, 1 << 20);
            return traffic.records.front().finished.GetSeconds();
        };
        NS_TEST_EXPECT_MSG_EQ_TOL(getSeconds("nccl:channels=1") - getSeconds("none"),
                                  8.4e-6 + roundTrip - (1 << 20) / line,
                                  1e-9,
                                  "two windows");
    }

    void CheckCost(const HostModel& model,
                   const std::string& algorithm,
                   uint64_t bytes,
                   double start,
                   double local,
                   double remote,
                   double wireFactor,
                   double localSeconds)
    {
        CollectiveRequest request;
        request.ranks = 4;
        request.segments = 1;
        const auto topology = BuildTopology("rail-optimized:servers=2,gpus=2",
                                            4,
                                            DataRate(100000000000),
                                            NanoSeconds(500));
        request.topology = &topology;
        const HostCost cost = model.GetCost(BuildSchedule(algorithm, request), bytes);
        const std::string what = algorithm + " " + std::to_string(bytes);
        NS_TEST_EXPECT_MSG_EQ_TOL(cost.start.GetSeconds() * 1e6, start, 1e-9, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(cost.localHop.GetSeconds() * 1e6, local, 1e-9, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(cost.remoteHop.GetSeconds() * 1e6, remote, 1e-9, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(cost.wireFactor, wireFactor, 1e-12, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(cost.localSecondsPerByte * 1e9, localSeconds, 1e-12, what);
        NS_TEST_EXPECT_MSG_EQ(cost.remoteSecondsPerByte, 0, what << ": the network is slower");
    }

    static Time Run(const std::string& hostModel, const std::string& transport)
    {
        ClusterOptions options = MakeOptions(2, transport);
        options.hostModel = hostModel;
        Traffic traffic(options);
        traffic.RunAll(Operation::ALL_REDUCE, 200);
        const Group both{0, 1};
        NS_ABORT_MSG_UNLESS(traffic.ReturnsSum(both, 1, 200), "wrong sum");
        return traffic.GetEnd();
    }
};

using Algorithm = NcclTuning::Algorithm;
using Protocol = NcclTuning::Protocol;

void
Check(const NcclTuning& tuning, Algorithm algorithm, Protocol protocol, double seconds)
{
    const double expected =
        tuning.GetSeconds(CollectiveOperation::ALL_REDUCE, algorithm, protocol, 64 << 20);
    NS_TEST_EXPECT_MSG_EQ_TOL(expected * 1e6, seconds * 1e6, 1e-6, "NCCL's formula");
}

/** NCCL's expected times, against its formulas evaluated by hand. */
void
TestNcclTuning()
{
    NcclTuning::System system;
    system.ranks = 16;
    system.servers = 2;
    system.localRate = 480e9;
    system.remoteRate = 384e9;
    const uint64_t bytes = 64 << 20;
    const double moved = 64.0 * 1048576 * 30 / 16; // of a ring
    {
        // 30 steps, 2 of them between servers.
        const NcclTuning intel(system);
        Check(intel, Algorithm::RING, Protocol::SIMPLE, 1.4 * 131.6e-6 + moved / 384e9);
        // 8 channels of the search, which run twice.
        Check(intel, Algorithm::RING, Protocol::LL128, 75.2e-6 + moved / (8 * 36.7e9));
        Check(intel, Algorithm::RING, Protocol::LL, 40e-6 + moved / 39e9);
        // 14 local steps and 2 between servers; 64 MiB is the 21st entry of the corrections.
        Check(intel,
              Algorithm::TREE,
              Protocol::SIMPLE,
              (8.4 + 2 * (7 * 4.0 + 14)) * 1e-6 + 2.0 * bytes / (0.8 * 8 * 41.4e9));
        Check(intel,
              Algorithm::SWITCH_TREE,
              Protocol::SIMPLE,
              (25 + 2 * 20.9) * 1e-6 + moved / (2 * 480e9 * 0.85 * 15 / 16));
        const auto best = [&](uint64_t size) {
            return intel.SelectProtocol(CollectiveOperation::ALL_REDUCE, Algorithm::RING, size);
        };
        NS_TEST_EXPECT_MSG_EQ(best(1024), Protocol::LL, "1 KiB");
        NS_TEST_EXPECT_MSG_EQ(best(bytes), Protocol::LL128, "64 MiB");
        NS_TEST_EXPECT_MSG_EQ(best(uint64_t{1} << 30), Protocol::SIMPLE, "1 GiB");
        NS_TEST_EXPECT_MSG_EQ(std::isinf(intel.GetSeconds(CollectiveOperation::ALL_REDUCE,
                                                          Algorithm::SWITCH,
                                                          Protocol::SIMPLE,
                                                          bytes)),
                              true,
                              "one server");
    }
    system.cpu = 1;
    const NcclTuning amd(system);
    Check(amd, Algorithm::RING, Protocol::SIMPLE, 1.4 * (36.4 + 28 * 6) * 1e-6 + moved / 384e9);
    Check(amd, Algorithm::RING, Protocol::LL, (6.6 + 28 * 2 + 5.4) * 1e-6 + moved / 22.5e9);
    system.servers = 1;
    system.ranks = 8;
    const NcclTuning inside(system);
    Check(inside,
          Algorithm::SWITCH,
          Protocol::SIMPLE,
          25e-6 + 64.0 * 1048576 * 14 / 8 / (2 * 480e9 * 0.85 * 15 / 16));
    Check(inside,
          Algorithm::RING,
          Protocol::LL,
          (6.6 + 14 * 0.6) * 1e-6 + 64.0 * 1048576 * 14 / 8 / 141e9);
    // 16 channels and 8 ranks: 128 chunks of 16, 32, 64 or 128 KiB.
    const std::vector<std::pair<uint64_t, uint64_t>>
        loops{{0, 0}, {1, 1}, {2, 2}, {7, 2}, {8, 4}, {63, 4}, {64, 8}, {1023, 8}, {1024, 16}};
    for (const auto& [mebibytes, loop] : loops)
    {
        NS_TEST_EXPECT_MSG_EQ(NcclChunks(system).GetSwitchLoop(mebibytes << 20),
                              loop << 20,
                              mebibytes << " MiB");
    }
    // With one rank in a server, a ring has the network latency of a tree.
    system.servers = 8;
    const NcclTuning single(system);
    Check(single,
          Algorithm::RING,
          Protocol::LL,
          (6.6 + 14 * 5.0) * 1e-6 + 64.0 * 1048576 * 14 / 8 / 19e9);
}

/** A rank's socket threads copy what it sends and what it receives. */
struct NcclSocketTest
{
    static constexpr double COPY = 28e9 / 8;
    static constexpr double LINE = 25e9;

    void Run()
    {
        const uint64_t bytes = 4 << 20;
        const double hop = 18.8e-6 - 1e-6;
        const double slot = 12e-6;
        const double exchange = 8.9e-6;
        // One message: the receiver copies what the line has not hidden; 8 slots.
        const double alone = Run("none", "direct", Operation::BROADCAST, bytes);
        NS_TEST_EXPECT_MSG_EQ_TOL(Run("nccl-socket", "direct", Operation::BROADCAST, bytes) - alone,
                                  bytes * (1 / COPY - 1 / LINE) + 8 * slot + hop,
                                  1e-9,
                                  "one message");
        // Two steps: copy half of the vector out, then half of it in; 4 slots each.
        NS_TEST_EXPECT_MSG_EQ_TOL(Run("nccl-socket", "ring", Operation::ALL_REDUCE, bytes),
                                  bytes * 2 / COPY + 16 * slot + 2 * hop,
                                  1e-9,
                                  "all-reduce");
        // LL sends twice the bytes in slots of 32 KiB.
        NS_TEST_EXPECT_MSG_EQ_TOL(Run("nccl-socket", "ring", Operation::ALL_REDUCE, bytes / 8),
                                  bytes / 4 * 2 / COPY + 32 * slot + 2 * hop,
                                  1e-9,
                                  "LL");
        // Sends and receives have slots of 128 KiB, and smaller ones for small messages.
        for (const auto& [message, slots] : {std::pair{4 << 20, 32}, {512 << 10, 8}, {64 << 10, 2}})
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(
                Run("nccl-socket", "direct", Operation::ALL_TO_ALL, 2 * message),
                message * 2 / COPY + 2 * slots * slot + 2 * exchange + hop,
                1e-9,
                "exchange of " << message << " bytes");
        }
        // Four ranks share the rate of their server, in which slots are included: a message to each
        // of the four others out, then as many in.
        const uint64_t message = 4 << 20;
        const double share = 4 / (82.4e9 / 8);
        NS_TEST_EXPECT_MSG_EQ_TOL(
            Run("nccl-socket:ranks-per-server=4", "direct", Operation::ALL_TO_ALL, 8 * message, 8),
            8 * (message * share + exchange) + hop,
            1e-6,
            "a server's threads");
    }

    static double Run(const std::string& hostModel,
                      const std::string& algorithm,
                      Operation operation,
                      uint64_t bytes,
                      uint32_t ranks = 2)
    {
        ClusterOptions options = MakeOptions(ranks);
        options.hostModel = hostModel;
        options.algorithm = algorithm;
        options.rate = DataRate(200000000000);
        Traffic traffic(options);
        traffic.RunAll(operation, static_cast<uint32_t>(bytes / sizeof(float)));
        return traffic.GetEnd().GetSeconds();
    }
};

const Suite g_suite("communicator-group",
                    Duration::EXTENSIVE,
                    {{"several groups and collectives at once give the right numbers",
                      TestGroupsAtOnce},
                     {"order of collectives that wait", RunTest<OrderTest>},
                     {"what communicators of a rank share", TestSharedRank},
                     {"latencies of hosts", RunTest<HostModelTest>},
                     {"NCCL's tuning", TestNcclTuning},
                     {"NCCL over sockets", RunTest<NcclSocketTest>}});

} // namespace ns3::training::tests::communicator_group_test
