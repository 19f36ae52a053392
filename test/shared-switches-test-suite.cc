/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "iteration-test-common.h"

#include "ns3/shared-run.h"
#include "ns3/training-run.h"

namespace ns3::training::tests::shared_switches_test
{

/// Gradients of a rank in an iteration.
constexpr uint64_t GRADIENTS = 60500;

/// Iterations of a job.
constexpr uint64_t ITERATIONS = 2;

/// SwitchML without recirculation ports, which jobs on one switch would share.
const std::string ONE_PASS = "switchml:elements-per-packet=32";

/** Jobs of a small model on the hosts of one switch, with real numbers. */
struct SharedSwitchTest
{
    /** @return a cluster without jobs */
    SharedRunOptions MakeCluster(const std::string& collective, uint64_t hosts)
    {
        if (m_workload.empty())
        {
            m_workload = WriteFile("model.csv",
                                   "layer,parameters,forward_us,backward_us\n"
                                   "a,500,1,2\nb,60000,1,2\n");
        }
        SharedRunOptions options;
        options.cluster.algorithm = collective;
        options.cluster.ranks = hosts;
        options.isReal = true;
        return options;
    }

    /** Adds a job of some ranks to a cluster. */
    SharedJob& AddJob(SharedRunOptions& options, uint64_t ranks, uint32_t slots = 0)
    {
        SharedJob job;
        job.name = std::string(1, static_cast<char>('a' + options.jobs.size()));
        job.training.workload = m_workload;
        job.training.iterations = ITERATIONS;
        job.training.warmup = 0;
        job.training.cluster.ranks = ranks;
        job.slots = slots;
        options.jobs.push_back(job);
        return options.jobs.back();
    }

    /** Runs jobs, and expects complete and exact sums. @return their results */
    std::vector<SharedJobResult> RunJobs(const SharedRunOptions& options)
    {
        const SharedRunResult result = RunShared(options);
        NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", "sums bit by bit");
        NS_TEST_EXPECT_MSG_EQ(result.failure, "", "all have ended");
        for (const SharedJobResult& job : result.jobs)
        {
            NS_TEST_EXPECT_MSG_EQ(job.iterations.size(), ITERATIONS, "iterations");
            NS_TEST_EXPECT_MSG_EQ(job.inNetwork.has_value(), true, "figures of switches");
            const InNetworkShare& share = job.inNetwork->switches;
            NS_TEST_EXPECT_MSG_EQ(share.packets,
                                  share.added + share.repeated + share.collisions + share.passed,
                                  "every packet has one fate");
            NS_TEST_EXPECT_MSG_EQ(job.inNetwork->workers.fallenBack, false, "in the network");
            NS_TEST_EXPECT_MSG_EQ((job.inNetwork->workers.errorBound > 0),
                                  (job.hosts.size() > 1),
                                  "numbers were rounded");
        }
        return result.jobs;
    }

    /** @return times of the iterations of training-job, with a cluster of its own */
    std::vector<double> TrainAlone(const std::string& collective, uint64_t ranks)
    {
        TrainingRunOptions own;
        own.workload = m_workload;
        own.cluster.algorithm = collective;
        own.cluster.ranks = ranks;
        own.payload = "real";
        own.warmup = 0;
        own.iterations = ITERATIONS;
        const TrainingRunResult result = TrainingRun(own).Run();
        NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", "right alone");
        return GetTimes(result.iterations);
    }

    std::string m_workload;
};

/**
 * SwitchML divides the pool of a switch: with its own slots and links a job is as fast as alone.
 */
struct DividedSlotsTestCase : SharedSwitchTest
{
    void Run()
    {
        Compare({{2, 16, 0}, {3, 16, 0}}, {16, 16});
        // Halves, and parts by weight, of 32 slots: not a whole number each.
        Compare({{2, 0, 0}, {3, 0, 0}}, {16, 16});
        Compare({{2, 0, 3}, {1, 0, 0}, {4, 7, 0}}, {18, 6, 7});
    }

    struct Wish
    {
        uint64_t ranks;
        uint32_t slots;
        uint32_t weight; ///< 0: not given
    };

    void Compare(const std::vector<Wish>& wishes, const std::vector<uint64_t>& slots)
    {
        auto options = MakeCluster(ONE_PASS + ",slots=32", 8);
        for (const Wish& wish : wishes)
        {
            SharedJob& job = AddJob(options, wish.ranks, wish.slots);
            if (wish.weight > 0)
            {
                job.slotWeight = wish.weight;
            }
        }
        const auto jobs = RunJobs(options);
        for (std::size_t i = 0; i < jobs.size(); i++)
        {
            const InNetworkShare& share = jobs[i].inNetwork->switches;
            NS_TEST_EXPECT_MSG_EQ(share.slots, slots[i], "slots of job " << i);
            const auto alone =
                TrainAlone(ONE_PASS + ",slots=" + std::to_string(slots[i]), wishes[i].ranks);
            NS_TEST_EXPECT_MSG_EQ(GetTimes(jobs[i].iterations),
                                  alone,
                                  "job " << i << " with " << slots[i] << " slots");
            // Two buckets at most of one packet that is not full, and a window of exponents each.
            const uint64_t least = GRADIENTS / 32 * ITERATIONS * wishes[i].ranks;
            if (wishes[i].ranks > 1)
            {
                NS_TEST_EXPECT_MSG_GT(share.packets, least, "all gradients");
                NS_TEST_EXPECT_MSG_EQ(share.added,
                                      share.completed * wishes[i].ranks,
                                      "sums of all ranks");
                NS_TEST_EXPECT_MSG_EQ(share.packets, jobs[i].inNetwork->workers.sent, "no loss");
            }
        }
    }
};

/** A job waits for slots that another one has, and finds none of its numbers there. */
struct SlotQueueTestCase : SharedSwitchTest
{
    void Run()
    {
        for (const std::string topology : {"single-switch", "leaf-spine:leaves=2,spines=1"})
        {
            auto options = MakeCluster(ONE_PASS + ",slots=24", 8);
            options.cluster.topology = topology;
            AddJob(options, 2, 24);
            AddJob(options, 2, 24);
            AddJob(options, 2, 16).arrival = MicroSeconds(1);
            AddJob(options, 2, 8).arrival = MicroSeconds(2);
            if (topology != "single-switch")
            {
                // On both leaves, and so at the same root.
                for (uint32_t i = 0; i < 4; i++)
                {
                    options.jobs[i].placement = "list";
                    options.jobs[i].hosts = {i, 4 + i};
                }
            }
            const auto jobs = RunJobs(options);
            NS_TEST_EXPECT_MSG_EQ(jobs[0].startS, 0, "all slots are free");
            NS_TEST_EXPECT_MSG_EQ(jobs[1].startS, jobs[0].endS, "waits for slots, not for hosts");
            NS_TEST_EXPECT_MSG_EQ(jobs[2].startS, jobs[1].endS, "waits for them too");
            NS_TEST_EXPECT_MSG_EQ(jobs[3].startS, jobs[2].startS, "has room beside the third");
            NS_TEST_EXPECT_MSG_EQ(GetTimes(jobs[1].iterations),
                                  GetTimes(jobs[0].iterations),
                                  "used slots are as good as new");
        }
    }
};

/** ATP: jobs share all slots, and collide. */
struct SharedSlotsTestCase : SharedSwitchTest
{
    void Run()
    {
        auto options = MakeCluster("atp:window=8", 6);
        options.cluster.topology = "single-switch:hosts=8"; // a host for each server
        AddJob(options, 3);
        AddJob(options, 3);
        const auto free = RunJobs(options);
        for (std::size_t i = 0; i < 2; i++)
        {
            const InNetworkShare& share = free[i].inNetwork->switches;
            NS_TEST_EXPECT_MSG_EQ(share.collisions, 0, "slots for all");
            NS_TEST_EXPECT_MSG_EQ(share.passed, 0, "nothing is sent again");
            NS_TEST_EXPECT_MSG_EQ(share.added, 3 * share.completed, "all sums are the switch's");
            const auto alone = RunAlone(options, i, free[i].hosts).jobs.at(0);
            NS_TEST_EXPECT_MSG_EQ(GetTimes(free[i].iterations),
                                  GetTimes(alone.iterations),
                                  "as alone");
        }
        options.cluster.algorithm = "atp:window=8,slots=1";
        const auto jobs = RunJobs(options);
        for (std::size_t i = 0; i < 2; i++)
        {
            const SharedSwitchFigures& figures = *jobs[i].inNetwork;
            NS_TEST_EXPECT_MSG_EQ(figures.switches.slots, 1, "one for both");
            NS_TEST_EXPECT_MSG_GT(figures.switches.collisions, 0, "taken");
            NS_TEST_EXPECT_MSG_GT(figures.switches.added, 0, "but not always");
            // Without loss each frame of a worker reaches the switch, and a sum has three parts.
            NS_TEST_EXPECT_MSG_EQ(figures.switches.packets,
                                  figures.workers.sent + figures.workers.resent,
                                  "frames in");
            NS_TEST_EXPECT_MSG_EQ(figures.workers.received, figures.workers.sent, "a sum for each");
        }
        // The server's line carries unaggregated packets, so both are slower than with slots.
        for (std::size_t i = 0; i < 2; i++)
        {
            NS_TEST_EXPECT_MSG_GT(jobs[i].GetIterationTime(), free[i].GetIterationTime(), "slower");
        }
    }
};

/** Losses, on one switch and two levels: sums are right, and every packet is accounted for. */
struct SharedLossTestCase : SharedSwitchTest
{
    void Run()
    {
        for (const std::string topology : {"single-switch:hosts=8", "leaf-spine:leaves=2,spines=1"})
        {
            for (const std::string collective :
                 {"switchml:slots=64", "atp:slots=4,window=16", "atp:slots=2000,window=16"})
            {
                auto options = MakeCluster(collective, 6);
                options.cluster.topology = topology;
                options.cluster.loss = 0.01;
                AddJob(options, 3).placement = "spread";
                AddJob(options, 3).placement = "spread";
                for (const SharedJobResult& job : RunJobs(options))
                {
                    NS_TEST_EXPECT_MSG_GT(job.inNetwork->workers.resent, 0, collective);
                }
            }
        }
    }
};

/** What jobs that share switches cannot have. */
struct SharedRefusalsTestCase : SharedSwitchTest
{
    void Run()
    {
        for (const std::string system : {"sharp", "nvls", "switch-ps"})
        {
            Expect(system, {}, "(allowed: algorithms that run on hosts, atp, switchml)");
        }
        using O = SharedRunOptions&;
        const auto ask = [](uint32_t slots) { return [slots](O o) { o.jobs[0].slots = slots; }; };
        Expect("switchml:slots=64", ask(65), "job a: slots=65 of 64 (allowed: 1 to 64)");
        Expect("switchml:slots=64", ask(64), "job b: slots=0 of 64 (allowed: 1 to 64)");
        Expect("switchml:slots=1", {}, "job a: slots=0 of 1 (allowed: 1 to 1)");
        Expect("switchml:framing=rdma,message-packets=16",
               ask(15),
               "job a: slots=15 of 512 (allowed: 16 to 512)");
        Expect("switchml:window=16", {}, "window (allowed: the key slots of a job)");
        Expect("switchml:slots=9000,elements-per-packet=256", {}, "memory");
        Expect("ring", ask(3), "job a: slots with collective ring (allowed: with atp, switchml)");
        Expect("atp", ask(3), "job a: slots or slot-weight with collective atp");
        const auto serve = [](std::vector<uint32_t> servers) {
            return [servers](O o) { o.jobs[1].servers = servers; };
        };
        Expect("atp", serve({6}), "job b: server on host 6 (allowed: 0 to 5)");
        Expect("atp", serve({0, 1, 2, 3, 4}), "job b: 5 servers (allowed: up to 4)");
        Expect("switchml", serve({1}), "job b: servers with switchml (allowed: with atp)");
        Expect("ring", serve({1}), "job b: servers with collective ring");
        Expect("atp:servers=6", {}, "ParameterServers=6 (allowed: auto, or different hosts from 0");
        Expect(
            "switchml",
            [](O o) { o.jobs[0].training.gradientPriority = "layer"; },
            "job a: gradient-priority=layer with sums in switches");
        Expect(
            "ring",
            [](O o) { o.isReal = false, o.gradients = "normal"; },
            "gradients normal with payload=virtual");
    }

    void Expect(const std::string& collective,
                const std::function<void(SharedRunOptions&)>& change,
                const std::string& part)
    {
        auto options = MakeCluster(collective, 6);
        AddJob(options, 2);
        AddJob(options, 2);
        if (change)
        {
            change(options);
        }
        ExpectPart(GetRefusal([&] { RunShared(options); }), part);
    }
};

const Suite g_suite("shared-switches",
                    Duration::QUICK,
                    {{"switchml: shares of the pool, and the times of training-job with them",
                      RunTest<DividedSlotsTestCase>},
                     {"switchml: jobs wait for slots, which are free again after a job",
                      RunTest<SlotQueueTestCase>},
                     {"atp: no slowdown with slots for all, every collision right with one",
                      RunTest<SharedSlotsTestCase>},
                     {"switchml and atp: sums of two jobs with 1 % loss on each link",
                      RunTest<SharedLossTestCase>},
                     {"what is refused: other systems, too many slots, keys of other systems",
                      RunTest<SharedRefusalsTestCase>}});

} // namespace ns3::training::tests::shared_switches_test
