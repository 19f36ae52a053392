/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator/nccl-tuning.h"
#include "innetwork-test-common.h"

#include "ns3/sharp-program.h"

#include <numeric>
#include <set>

namespace ns3::training::tests::nvls_groups_test
{

using Groups = std::vector<std::vector<uint32_t>>;

/// Two servers of eight GPUs.
const std::string SERVERS = "rail-optimized:gpus=8,servers=2,local-delay=250ns";

/** @return ranks from `first` on */
std::vector<uint32_t>
MakeRange(uint32_t first, uint32_t count)
{
    std::vector<uint32_t> ranks(count);
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
}

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& algorithm = "nvls")
{
    ClusterOptions options = MakeCluster(ranks, algorithm, SERVERS);
    options.sumsInGroups = true;
    options.sumsOfAll = false;
    return options;
}

/** All-reduces of groups at the same time, with whole numbers. */
class GroupTrial
{
  public:
    /**
     * @param groups disjoint groups of ranks, by parallelism
     * @param bytes of each all-reduce; real payload if they are numbers
     */
    GroupTrial(const ClusterOptions& options,
               const std::vector<Groups>& groups,
               uint64_t bytes,
               bool isReal = true)
        : cluster(options)
    {
        std::mt19937 random(1);
        std::uniform_int_distribution<int32_t> whole(-30000, 30000);
        for (uint32_t kind = 0; kind < groups.size(); kind++)
        {
            const auto hosts = cluster.GetCommunicators().Split(groups[kind], kind + 1);
            for (const auto& ranks : groups[kind])
            {
                SummingGroup group{kind, kind + 1, ranks, {}, {bytes}};
                std::vector<Ptr<Tensor>> ofGroup;
                for (uint32_t rank : ranks)
                {
                    group.hosts.push_back(hosts[rank]);
                    ofGroup.push_back(Create<Tensor>());
                    ofGroup.back()->bytes = bytes;
                    for (uint64_t i = 0; isReal && i < bytes / sizeof(float); i++)
                    {
                        ofGroup.back()->values.push_back(static_cast<float>(whole(random)));
                    }
                }
                summing.push_back(group);
                tensors.push_back(ofGroup);
            }
        }
        workers = cluster.GetCommunicators().Divide(summing, notes);
    }

    ~GroupTrial()
    {
        Simulator::Destroy();
    }

    /** @return why it is stuck, or empty */
    std::string Run()
    {
        GuardedRun run(cluster);
        for (const auto& group : tensors)
        {
            m_sums.emplace_back(group[0]->values.size());
            for (const auto& tensor : group)
            {
                for (std::size_t i = 0; i < tensor->values.size(); i++)
                {
                    m_sums.back()[i] += tensor->values[i];
                }
            }
        }
        ends.assign(tensors.size(), Time());
        for (std::size_t group = 0; group < tensors.size(); group++)
        {
            for (std::size_t place = 0; place < tensors[group].size(); place++)
            {
                const Ptr<Communicator> member =
                    workers[group].empty() ? Ptr<Communicator>(summing[group].hosts[place])
                                           : Ptr<Communicator>(workers[group][place]);
                member->TraceConnectWithoutContext("Collective",
                                                   MakeCallback(&GroupTrial::OnRecord, this));
                m_left++;
                Simulator::ScheduleWithContext(
                    cluster.GetFabric().hosts.Get(summing[group].ranks[place])->GetId(),
                    Time(0),
                    [this, member, group, place, &run] {
                        member->AllReduce(
                            tensors[group][place],
                            MakeBoundCallback(&GroupTrial::OnDone, this, group, &run));
                    });
            }
        }
        return GetStuck([&run] { run.Run(); });
    }

    /** @return whether all ranks have the exact sums */
    bool IsExact() const
    {
        for (std::size_t group = 0; group < tensors.size(); group++)
        {
            for (const auto& tensor : tensors[group])
            {
                if (tensor->values != m_sums[group])
                {
                    return false;
                }
            }
        }
        return true;
    }

    /** @return groups that switches serve */
    std::size_t CountServed() const
    {
        return std::count_if(workers.begin(), workers.end(), [](const auto& of) {
            return !of.empty();
        });
    }

    /** @return counters of all workers */
    InNetworkFigures GetFigures() const
    {
        return SumFigures(cluster.GetInNetworkCommunicators());
    }

    /** @return the program in the switch of a server */
    Ptr<SharpProgram> GetProgram(uint32_t server) const
    {
        const auto& switches = cluster.GetTopology().scaleUpSwitches;
        const uint32_t index = *std::next(switches.begin(), server);
        return DynamicCast<SharpProgram>(
            cluster.GetFabric().devicesOfSwitches[index]->GetProgram(0));
    }

    Cluster cluster;
    std::vector<std::string> notes;
    std::vector<SummingGroup> summing;
    std::vector<std::vector<Ptr<Tensor>>> tensors; ///< by group and rank in it
    std::vector<std::vector<Ptr<InNetworkCommunicator>>> workers;
    std::vector<Time> ends; ///< by group, of its last rank
    std::vector<CollectiveRecord> records;

  private:
    void OnRecord(const CollectiveRecord& record)
    {
        records.push_back(record);
    }

    static void OnDone(GroupTrial* self, std::size_t group, GuardedRun* run)
    {
        self->ends[group] = Simulator::Now();
        if (--self->m_left == 0)
        {
            run->End();
        }
    }

    std::vector<std::vector<float>> m_sums; // by group
    uint32_t m_left{0};
};

/** @return when an all-reduce of all ranks of a server ends */
Time
GetEndOfWhole(uint32_t ranks, const std::string& hostModel, uint64_t bytes)
{
    ClusterOptions options = MakeCluster(ranks, "nvls", SERVERS);
    options.hostModel = hostModel;
    Trial trial(options, bytes / sizeof(float), true, false);
    NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "whole cluster");
    return trial.end;
}

/** A group of a server takes the time of a cluster of its ranks, whoever else sums there. */
void
TestTimes()
{
    for (const std::string hostModel : {"none", "nccl"})
    {
        for (const uint64_t bytes : {4ULL, 400000ULL, 2ULL << 20})
        {
            for (const uint32_t size : {2, 3, 4, 8})
            {
                const Time whole = GetEndOfWhole(size, hostModel, bytes);
                Groups groups;
                for (uint32_t first = 0; first + size <= 8; first += size)
                {
                    groups.push_back(MakeRange(first, size));
                    groups.push_back(MakeRange(8 + first, size));
                }
                ClusterOptions options = MakeOptions(16);
                options.hostModel = hostModel;
                GroupTrial trial(options, {groups}, bytes, false);
                NS_TEST_EXPECT_MSG_EQ(trial.CountServed(), groups.size(), size);
                NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", size);
                for (const Time& end : trial.ends)
                {
                    NS_TEST_EXPECT_MSG_EQ(end,
                                          whole,
                                          size << " ranks, " << bytes << ", " << hostModel);
                }
                NS_TEST_EXPECT_MSG_EQ(trial.GetFigures().resent, 0, "resent");
                NS_TEST_EXPECT_MSG_EQ(trial.cluster.GetFabric().GetTotal().droppedFrames, 0, "");
                NS_TEST_EXPECT_MSG_EQ(trial.cluster.GetFabric().GetTotal().pausesSent, 0, "");
            }
        }
    }
}

/** Sums of two groups of a server are exact, and packets are conserved. */
void
TestPackets()
{
    for (const uint64_t count : {1, 3, 4, 9999})
    {
        GroupTrial trial(MakeOptions(8), {{MakeRange(0, 4), {7, 5, 6, 4}}}, count * sizeof(float));
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", count);
        NS_TEST_EXPECT_MSG_EQ(trial.IsExact(), true, count << " numbers");
        NS_TEST_EXPECT_MSG_EQ(trial.ends[0], trial.ends[1], "no interference");
        // Each rank: a barrier, and its packet of each part; each owner: a read and a write.
        uint64_t parts = 0;
        for (uint64_t owner = 0; owner < 4; owner++)
        {
            const uint64_t numbers = count * (owner + 1) / 4 - count * owner / 4;
            parts += (numbers + 255) / 256;
        }
        const InNetworkFigures figures = trial.GetFigures();
        NS_TEST_EXPECT_MSG_EQ(figures.sent, 2 * (4 + parts * (4 + 2)), "sent by ranks");
        const SharpCounters& counters = trial.GetProgram(0)->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.added, 2 * 4 * (1 + parts), "added by the switch");
        NS_TEST_EXPECT_MSG_EQ(counters.completed, 2 * (1 + parts), "sums of four");
        NS_TEST_EXPECT_MSG_EQ(counters.resent + counters.refused + counters.duplicates, 0, "");
        NS_TEST_EXPECT_MSG_EQ(figures.received, 2 * (4 + parts * (1 + 4)), "read and written");
        NS_TEST_EXPECT_MSG_EQ(trial.records.size(), 8, "a record for each rank");
        std::set<uint32_t> ranks;
        for (const CollectiveRecord& record : trial.records)
        {
            ranks.insert(record.rank);
            NS_TEST_EXPECT_MSG_EQ(record.communicator, 1, "number of the groups");
            NS_TEST_EXPECT_MSG_EQ(record.algorithm, "nvls", "algorithm");
        }
        NS_TEST_EXPECT_MSG_EQ(ranks.size(), 8, "ranks of the cluster");
    }
}

/** Groups of the same ranks divide the memory of the switch, and sum at the same time. */
void
TestOverlap()
{
    const std::vector<Groups> kinds{{MakeRange(0, 4), MakeRange(4, 4)},
                                    {{0, 4}, {1, 5}, {2, 6}, {3, 7}},
                                    {MakeRange(0, 8)}};
    GroupTrial trial(MakeOptions(8), kinds, 100000);
    NS_TEST_EXPECT_MSG_EQ(trial.CountServed(), 7, "all");
    NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "");
    NS_TEST_EXPECT_MSG_EQ(trial.IsExact(), true, "sums");
    NS_TEST_EXPECT_MSG_EQ(trial.GetFigures().resent, 0, "resent");
    // A third of 1024 packets of 1 KiB for each group of each rank, and state of 24 bytes.
    const uint64_t addends = uint64_t{1024 / 3} * 3 * 8;
    const uint64_t states = uint64_t{1024 / 3} * 7 * 24;
    NS_TEST_EXPECT_MSG_EQ(trial.GetProgram(0)->GetResources().registerBytes,
                          (addends << 10) + states + 2048 * 8 + 24,
                          "memory");
}

/** Pairs of a large switch, and all its ranks. */
void
TestPairs()
{
    ClusterOptions options = MakeOptions(32);
    options.topology = "rail-optimized:gpus=32,servers=1";
    Groups pairs;
    for (uint32_t first = 0; first < 32; first += 2)
    {
        pairs.push_back(MakeRange(first, 2));
    }
    options.topology += ",local-switches=4";
    GroupTrial many(options, {pairs, {MakeRange(0, 32)}}, 4096);
    NS_TEST_EXPECT_MSG_EQ(many.CountServed(), 17, "all");
    NS_TEST_EXPECT_MSG_EQ(many.Run(), "", "");
    NS_TEST_EXPECT_MSG_EQ(many.IsExact(), true, "sums");
}

/** Groups that no switch joins. */
void
TestOthers()
{
    GroupTrial trial(MakeOptions(16),
                     {{{0, 8}, {1, 2, 3}, {4, 9, 12}, {10, 11}}, {{5}, {6}}},
                     4000);
    NS_TEST_EXPECT_MSG_EQ(trial.workers[0].size(), 0, "ranks of two servers");
    NS_TEST_EXPECT_MSG_EQ(trial.workers[1].size(), 3, "three of a server");
    NS_TEST_EXPECT_MSG_EQ(trial.workers[2].size(), 0, "ranks of two servers");
    NS_TEST_EXPECT_MSG_EQ(trial.workers[3].size(), 2, "two of the other");
    NS_TEST_EXPECT_MSG_EQ(trial.notes.size(), 1, "a note");
    NS_TEST_EXPECT_MSG_EQ(trial.notes.front(),
                          "nvls: switches sum for 4 of 6 groups, hosts for other groups",
                          "");
    NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "");
    NS_TEST_EXPECT_MSG_EQ(trial.IsExact(), true, "sums of switches and rings");
}

void
TestFewBytes()
{
    const Time number = GetEndOfWhole(4, "none", 4);
    const Groups groups{MakeRange(0, 4), MakeRange(4, 4)};
    for (const uint64_t bytes : {0, 1})
    {
        GroupTrial trial(MakeOptions(8), {groups}, bytes, false);
        NS_TEST_EXPECT_MSG_EQ(trial.Run(), "", "");
        NS_TEST_EXPECT_MSG_EQ(trial.ends[1], bytes * number, "a byte is sent as a number");
    }
}

/** Losses, and a switch that restarts: its groups go on with hosts, those of others do not. */
void
TestFaults()
{
    const Default timeout("SharpEndpoint::RetransmissionTimeout", "100us");
    const Default failure("InNetworkCommunicator::FailureTimeout", "5ms");
    const Default retries("SharpEndpoint::RetryLimit", "3");
    const Groups groups{MakeRange(0, 4), MakeRange(4, 4), MakeRange(8, 8)};
    ClusterOptions options = MakeOptions(16);
    options.loss = 0.01;
    uint32_t index = 0;
    {
        GroupTrial lossy(options, {groups}, 40000);
        NS_TEST_EXPECT_MSG_EQ(lossy.Run(), "", "losses");
        NS_TEST_EXPECT_MSG_EQ(lossy.IsExact(), true, "sums");
        NS_TEST_EXPECT_MSG_GT(lossy.GetFigures().resent, 0, "resent");
        index = *lossy.cluster.GetTopology().scaleUpSwitches.begin();
    }
    options.loss = 0;
    options.faults = {"switch" + std::to_string(index) + ":restart,from=3us,until=4us"};
    GroupTrial restarted(options, {groups}, 400000);
    NS_TEST_EXPECT_MSG_EQ(restarted.Run(), "", "restart");
    NS_TEST_EXPECT_MSG_EQ(restarted.IsExact(), true, "sums of the hosts");
    for (std::size_t group = 0; group < groups.size(); group++)
    {
        for (const auto& worker : restarted.workers[group])
        {
            NS_TEST_EXPECT_MSG_EQ(worker->HasFallenBack(), (group < 2), "group " << group);
        }
    }
}

/** What NCCL chooses for groups, and what is refused. */
void
TestChoice()
{
    const Groups groups{MakeRange(0, 8), MakeRange(8, 8)};
    const Groups quarters{MakeRange(0, 4), MakeRange(4, 4)};
    const auto count = [&](const std::string& hostModel,
                           uint64_t bytes,
                           bool all,
                           const std::optional<Groups>& others = std::nullopt) {
        ClusterOptions options = MakeOptions(16, "nccl");
        options.hostModel = hostModel;
        options.sumsOfAll = all;
        return GroupTrial(options, {others.value_or(groups)}, bytes, false).CountServed();
    };
    const std::string hopper = "nccl:gpu=hopper";
    NS_TEST_EXPECT_MSG_EQ(count(hopper, 64 << 20, false), 2, "large sums");
    // The search of NCCL gives four heads 60 GB/s, so 306 GB/s of bus bandwidth; a ring has more.
    NS_TEST_EXPECT_MSG_EQ(count(hopper, 64 << 20, false, quarters), 0, "four ranks");
    NS_TEST_EXPECT_MSG_EQ(count(hopper, 4, false), 0, "small ones are faster on hosts");
    NS_TEST_EXPECT_MSG_EQ(count("nccl:gpu=ampere", 64 << 20, false), 0, "no sums in switches");
    NS_TEST_EXPECT_MSG_EQ(count(hopper, 64 << 20, true), 0, "all ranks have the trees");
    const auto refuse = [&](const std::string& algorithm, const std::string& hostModel) {
        ClusterOptions options = MakeOptions(16, algorithm);
        options.hostModel = hostModel;
        const std::string text = GetRefusal([&] { GroupTrial(options, {groups}, 8, false); });
        Simulator::Destroy();
        return text;
    };
    ExpectPart(refuse("nvls:window=7", "none"),
               "nvls job 0 with a window of 7 (allowed: from 8, its trees)");
    ExpectPart(refuse("nvls:slots=1024,elements-per-packet=2048", "none"),
               "program sharp needs 67");
    ExpectPart(refuse("nvls", "nccl:gpu=ampere"), "gpu=ampere");
    ExpectPart(refuse("nvls:frames=rdma", "none"), "'frames=rdma' (allowed: slots=");
    // Without groups, all ranks must be on a switch.
    ClusterOptions whole = MakeOptions(16);
    whole.sumsInGroups = false;
    ExpectRefusal(whole, "nvls for 16 ranks, which 9 switches connect");
}

/** The bus bandwidth that NCCL expects, by hand from src/graph/search.cc and tuning.cc. */
void
TestExpected()
{
    const auto expect = [](uint32_t gpu, uint32_t heads, double rate, double expected) {
        NcclTuning::System system;
        system.ranks = heads;
        system.heads = heads;
        system.gpu = gpu;
        system.localRate = rate;
        const auto getSeconds = [&system](uint64_t bytes) {
            return NcclTuning(system).GetSeconds(CollectiveOperation::ALL_REDUCE,
                                                 NcclTuning::Algorithm::SWITCH,
                                                 NcclTuning::Protocol::SIMPLE,
                                                 bytes);
        };
        const double found =
            2.0 * (heads - 1) / heads * (1 << 30) / (getSeconds(1 << 30) - getSeconds(0));
        NS_TEST_EXPECT_MSG_EQ_TOL(found / 1e9, expected, 1e-9, heads << " GPUs " << gpu);
    };
    expect(2, 8, 370.8e9, 2 * 8 * 40 * 0.85 * 7 / 8); // 9 x 40 <= 370.8 < 9 x 50
    expect(2, 4, 370.8e9, 2 * 4 * 60 * 0.85 * 3 / 4); // 60 is the highest
    expect(2, 2, 370.8e9, 2 * 2 * 60 * 0.85 * 1 / 2);
    expect(3, 8, 721.8e9, 2 * 8 * 80 * 0.74 * 7 / 8);
}

const Suite g_suite("nvls-groups",
                    Duration::EXTENSIVE,
                    {{"times are those of a cluster of the group", TestTimes},
                     {"16 pairs of a switch", TestPairs},
                     {"no bytes, a byte", TestFewBytes},
                     {"sums are exact, packets are conserved", TestPackets},
                     {"groups of the same ranks", TestOverlap},
                     {"groups of several servers", TestOthers},
                     {"losses, and a restart", TestFaults},
                     {"what NCCL expects", TestExpected},
                     {"choice of NCCL, refusals", TestChoice}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::nvls_groups_test
