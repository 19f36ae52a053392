/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "steady-state-test-common.h"

#include "ns3/state-visitor.h"
#include "ns3/steady-state.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ns3::training::tests::steady_state_mutations_test
{

/// A line of source that visits a value.
using Site = std::pair<std::string, int>;

/** @return a probe that leaves out the values of a line of source */
StateVisitor::Probe
LeaveOut(const Site& site)
{
    return [site](const char* file, int line) { return line != site.second || file != site.first; };
}

/**
 * Each line that visits a value is needed. Without it, a run with steady states differs from the
 * whole simulation, or ends with an error; or a state in which one bit differs is taken for equal.
 */
struct MutationTestCase
{
    /** One simulation, and what it must observe. */
    struct Scenario
    {
        SteadyCase steady;
        uint32_t seed;
        Trace expected;
        uint64_t skippedHops;

        std::string GetName() const
        {
            return steady.name + ", seed " + std::to_string(seed);
        }
    };

    void Run()
    {
        BucketScheduler::UseByDefault();
        const StateVisitor::Probe collect = [this](const char* file, int line) {
            caught[{file, line}];
            return true;
        };
        for (uint32_t seed = 1; seed <= 4; seed++)
        {
            for (const SteadyCase& steady : MakeSteadyCases())
            {
                StateVisitor::SetProbe(&collect);
                SteadyStateTestCase test{steady};
                Trace expected = test.Run("skip", false, seed);
                StateVisitor::SetProbe(nullptr);
                scenarios.push_back({steady, seed, std::move(expected), test.skippedHops});
            }
        }
        for (std::size_t i = 0; i < 4; i++) // these have parts of all kinds
        {
            const Scenario& scenario = scenarios[i];
            SteadyStateTestCase test{scenario.steady};
            test.atMoment = [this, &scenario](Cluster& cluster) { Flip(cluster, scenario); };
            test.Run("simulate", false, scenario.seed);
        }
        for (auto& [site, by] : caught)
        {
            for (auto s = scenarios.begin(); by.empty() && s != scenarios.end(); ++s)
            {
                by = IsWrong(site, *s) ? "the results of " + s->GetName() : "";
            }
            NS_TEST_EXPECT_MSG_EQ(by.empty(), false, site.first << ":" << site.second);
            std::cout << site.first << ":" << site.second << ": " << by << "\n";
        }
        NS_TEST_EXPECT_MSG_GT(caught.size(), 30, "lines that visit a value");
        Config::Reset();
    }

    /** A process of its own leaves out the value: it may end with an error. */
    static bool IsWrong(const Site& site, const Scenario& scenario)
    {
        const pid_t child = fork();
        if (child == 0)
        {
            [[maybe_unused]] const auto* unused = std::freopen("/dev/null", "w", stderr);
            const StateVisitor::Probe leaveOut = LeaveOut(site);
            StateVisitor::SetProbe(&leaveOut);
            SteadyStateTestCase test{scenario.steady};
            const bool isEqual = test.Run("skip", false, scenario.seed) == scenario.expected &&
                                 test.skippedHops == scenario.skippedHops;
            _exit(isEqual ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return status != 0;
    }

    /** Flips each bit of the objects of a network, and looks which lines see it alone. */
    void Flip(Cluster& cluster, const Scenario& scenario)
    {
        std::vector<std::pair<char*, std::size_t>> objects;
        const auto add = [&objects](const auto* object) {
            auto* bytes = const_cast<char*>(reinterpret_cast<const char*>(object));
            objects.push_back({bytes, sizeof(*object)});
        };
        add(PeekPointer(cluster.GetNics(0).front()));
        for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
        {
            for (const auto& [number, queuePair] : cluster.GetNics(rank).front()->GetQueuePairs())
            {
                add(PeekPointer(queuePair));
            }
        }
        for (const auto& device : cluster.GetFabric().devicesOfSwitches)
        {
            add(PeekPointer(device));
            add(&device->GetPort(0));
        }
        for (const BucketScheduler::Entry& entry : BucketScheduler::GetCurrent()->GetEntries())
        {
            if (const auto* frame = dynamic_cast<const Frame*>(entry.impl))
            {
                add(frame);
            }
        }
        AddBlocks(objects);
        std::vector<Site> open;
        for (const auto& [site, by] : caught)
        {
            if (by.empty())
            {
                open.push_back(site);
            }
        }

        // Shared with processes of their own, which end when a flipped bit is one of a pointer.
        struct Shared
        {
            std::size_t object;
            std::size_t bit;
            bool sees[64];
        };

        auto* shared = static_cast<Shared*>(mmap(nullptr,
                                                 sizeof(Shared),
                                                 PROT_READ | PROT_WRITE,
                                                 MAP_SHARED | MAP_ANONYMOUS,
                                                 -1,
                                                 0));
        NS_TEST_ASSERT_MSG_LT(open.size(), 64, "lines");
        while (shared->object < objects.size())
        {
            const pid_t child = fork();
            if (child == 0)
            {
                [[maybe_unused]] const auto* unused = std::freopen("/dev/null", "w", stderr);
                StateVisitor visitor;
                const auto record = [&] {
                    visitor.Restart(Simulator::Now().GetTimeStep());
                    SteadyState::Record(cluster.GetFabric(), visitor);
                    return std::cref(visitor);
                };
                const StateVisitor whole = record();
                std::vector<StateVisitor> without;
                std::vector<StateVisitor::Probe> probes;
                for (const Site& site : open)
                {
                    probes.push_back(LeaveOut(site));
                    StateVisitor::SetProbe(&probes.back());
                    without.push_back(record());
                    StateVisitor::SetProbe(nullptr);
                }
                const auto look = [&] {
                    if (StateVisitor::GetPeriods(whole, record()) != 0)
                    {
                        return;
                    }
                    for (std::size_t i = 0; i < open.size(); i++)
                    {
                        if (!shared->sees[i])
                        {
                            StateVisitor::SetProbe(&probes[i]);
                            shared->sees[i] = StateVisitor::GetPeriods(without[i], record()) > 0;
                            StateVisitor::SetProbe(nullptr);
                        }
                    }
                };
                for (; shared->object < objects.size(); shared->object++, shared->bit = 0)
                {
                    const auto [bytes, size] = objects[shared->object];
                    while (shared->bit < 8 * size)
                    {
                        const std::size_t bit = shared->bit++;
                        const itimerval limit{{}, {0, 50000}}; // a list may have got a loop
                        setitimer(ITIMER_VIRTUAL, &limit, nullptr);
                        bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
                        look();
                        bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
                    }
                }
                const auto isFrame = [](const EventImpl& event) {
                    return dynamic_cast<const Frame*>(&event) != nullptr;
                };
                BucketScheduler::GetCurrent()->Delay(isFrame, 1);
                look();
                _exit(0);
            }
            waitpid(child, nullptr, 0);
            shared->bit = (shared->bit + 63) / 64 * 64; // the rest of the pointer
        }
        for (std::size_t i = 0; i < open.size(); i++)
        {
            if (shared->sees[i])
            {
                caught[open[i]] = "a bit of " + scenario.GetName();
            }
        }
        munmap(shared, sizeof(Shared));
    }

    /** @return bytes of a small block of memory, as the GNU C library keeps them before it, or 0 */
    static std::size_t GetSize(char* block)
    {
        std::size_t chunk = 0;
        const iovec to{&chunk, sizeof(chunk)};
        const iovec from{block - sizeof(chunk), sizeof(chunk)};
        const bool isBlock = reinterpret_cast<uintptr_t>(block) % 16 == 0 &&
                             process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(chunk);
        return isBlock && chunk >= 32 && chunk <= 2048 ? (chunk & ~std::size_t{7}) - 8 : 0;
    }

    /** Adds the blocks of memory that objects point to, and what these point to. */
    static void AddBlocks(std::vector<std::pair<char*, std::size_t>>& objects)
    {
        std::set<char*> known;
        std::size_t from = 0;
        for (int depth = 0; depth < 2; depth++)
        {
            const std::size_t to = objects.size();
            for (; from < to; from++)
            {
                for (std::size_t i = 0; i + sizeof(char*) <= objects[from].second;
                     i += sizeof(char*))
                {
                    char* block;
                    std::memcpy(&block, objects[from].first + i, sizeof(block));
                    const std::size_t size = GetSize(block);
                    if (size > 0 && known.insert(block).second)
                    {
                        objects.push_back({block, size});
                    }
                }
            }
        }
    }

    std::vector<Scenario> scenarios;
    std::map<Site, std::string> caught; // by what
};

const Suite g_suite("steady-state-mutations",
                    Duration::TAKES_FOREVER,
                    {{"each visited value is needed", RunTest<MutationTestCase>}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::steady_state_mutations_test
