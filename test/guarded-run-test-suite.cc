/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/run-interrupts.h"
#include "test-case.h"

#include "ns3/guarded-run.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"

#include <csignal>

namespace ns3::training::tests::guarded_run_test
{

/** Has a look come for 300 s, as from the clock on the wall, more often than a run is checked. */
void
RaiseLook(uint64_t* raised)
{
    std::raise(SIGALRM);
    if (++*raised < 75000)
    {
        Simulator::Schedule(MilliSeconds(4), &RaiseLook, raised);
    }
}

/** @return what is said of a run in which nothing happens; it counts looks if it has some */
std::string
RunUntilStuck(uint64_t* looks)
{
    std::string said;
    uint64_t raised = 0;
    {
        ClusterOptions options;
        options.ranks = 2;
        const Cluster cluster(options);
        GuardedRun run(cluster);
        if (looks)
        {
            RunInterrupts::SetLook([looks] { (*looks)++; }, 0.9);
            Simulator::Schedule(Time(0), &RaiseLook, &raised);
        }
        try
        {
            run.Run();
        }
        catch (const SimulationStuck& stuck)
        {
            said = stuck.what();
        }
        RunInterrupts::SetLook(nullptr, 0.9);
    }
    Simulator::Destroy();
    NS_TEST_EXPECT_MSG_EQ((!looks || *looks >= raised), true, "each look comes, also by the clock");
    return said;
}

void
TestLooks()
{
    const std::string expected = RunUntilStuck(nullptr);
    ExpectPart(expected, "no host has received a frame");
    uint64_t looks = 0;
    const std::string said = RunUntilStuck(&looks);
    NS_TEST_EXPECT_MSG_EQ(said, expected, "looks do not delay what is checked");
    NS_TEST_EXPECT_MSG_GT(looks, 50000, "240 s, every 4 ms");
}

const Suite g_suite("guarded-run", Duration::QUICK, {{"looks at a run that is stuck", TestLooks}});

} // namespace ns3::training::tests::guarded_run_test
