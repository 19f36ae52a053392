/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "innetwork-test-common.h"

#include "ns3/atp-communicator.h"
#include "ns3/atp-helper.h"
#include "ns3/atp-program.h"
#include "ns3/atp-server.h"
#include "ns3/configuration-error.h"
#include "ns3/guarded-run.h"
#include "ns3/program.h"
#include "ns3/test.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

namespace
{

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& topology = "single-switch")
{
    ClusterOptions options;
    options.algorithm = "atp";
    options.ranks = ranks;
    options.topology = topology;
    options.inNetwork.slots = 2000;
    options.inNetwork.window = 100;
    return options;
}

/** @return what all switch programs of a cluster have done */
AtpCounters
GetCounters(const Cluster& cluster)
{
    AtpCounters sum;
    for (const auto& device : cluster.GetFabric().devicesOfSwitches)
    {
        if (const auto program = DynamicCast<AtpProgram>(device->GetProgram(0)))
        {
            const AtpCounters& counters = program->GetCounters();
            sum.received += counters.received;
            sum.refused += counters.refused;
            sum.held += counters.held;
            sum.completed += counters.completed;
            sum.repeated += counters.repeated;
            sum.collisions += counters.collisions;
            sum.evicted += counters.evicted;
            sum.passed += counters.passed;
            sum.preempted += counters.preempted;
            sum.reclaimed += counters.reclaimed;
            sum.released += counters.released;
            sum.multicasts += counters.multicasts;
            sum.saturated += counters.saturated;
        }
    }
    return sum;
}

/** @return slots that hold something */
uint32_t
CountOccupied(const Cluster& cluster)
{
    uint32_t count = 0;
    for (const auto& device : cluster.GetFabric().devicesOfSwitches)
    {
        if (const auto program = DynamicCast<AtpProgram>(device->GetProgram(0)))
        {
            count += program->GetOccupied(0);
        }
    }
    return count;
}

} // namespace

/**
 * @ingroup distributed-training-innetwork-tests
 * Sums of integers are exact whatever happens to the frames, also with fewer slots than packets in
 * flight, each contribution being in each sum once, which servers verify.
 */
class AtpExactTest : public TestCase
{
  public:
    AtpExactTest()
        : TestCase("integers are exact under loss, duplication, reordering and collisions")
    {
    }

  private:
    void Check(const ClusterOptions& options, uint64_t count, const std::string& what)
    {
        Trial trial(options, count, true);
        const uint32_t times = 2;
        NS_TEST_EXPECT_MSG_EQ(trial.Run(times), "", what);
        NS_TEST_EXPECT_MSG_EQ(trial.GetError(), 0, what << ": exact");
        NS_TEST_EXPECT_MSG_EQ(trial.CountFallenBack(), 0, what << ": by the network");
        const uint64_t packets = (count + 61) / 62;
        const AtpCounters counters = GetCounters(*trial.cluster);
        NS_TEST_EXPECT_MSG_EQ(counters.refused, 0, what << ": all frames are known");
        for (const auto& worker : trial.cluster->GetInNetworkCommunicators())
        {
            NS_TEST_EXPECT_MSG_EQ(worker->GetCounters().received, times * packets, what);
        }
        if (options.loss == 0 && options.faults.empty() &&
            options.inNetwork.slots >= options.inNetwork.window)
        {
            NS_TEST_EXPECT_MSG_EQ(trial.CountResent(), 0, what << ": nothing again");
            NS_TEST_EXPECT_MSG_EQ(counters.collisions, 0, what << ": each place has its slot");
            NS_TEST_EXPECT_MSG_EQ(CountOccupied(*trial.cluster), 0, what << ": all slots freed");
        }
    }

    void DoRun() override
    {
        const Default integers("AtpCommunicator::DataType", "int32", "float32");
        const Default verify("AtpProgram::Verify", "true", "false");
        const Default verifyServer("AtpServer::Verify", "true", "false");
        const Default timeout("AtpCommunicator::InitialTimeout", "1ms", "50ms");
        for (uint32_t ranks : {2, 3, 8, 16})
        {
            for (double loss : {0.0, 0.001, 0.01, 0.05})
            {
                for (const std::string topology :
                     {"single-switch", "single-switch:hosts=17", "leaf-spine:leaves=3,spines=2"})
                {
                    ClusterOptions options = MakeOptions(ranks, topology);
                    options.loss = loss;
                    const std::string what = std::to_string(ranks) + " ranks, loss " +
                                             std::to_string(loss) + ", " + topology;
                    Check(options, 15000 + ranks, what);
                    options.inNetwork.slots = 30;
                    Check(options, 10000, what + ", few slots");
                    options.faults = {"*:duplicate=0.02", "*:reorder=0.02/150us"};
                    Check(options, 10000, what + ", few slots, duplicates, reordering");
                    options.inNetwork.slots = 2000;
                    Check(options, 10000, what + ", duplicates, reordering");
                }
            }
        }
    }
};

/** @ingroup distributed-training-innetwork-tests ATP from end to end. */
class AtpTestSuite : public TestSuite
{
  public:
    AtpTestSuite()
        : TestSuite("distributed-training-atp", TestSuite::Type::SYSTEM)
    {
        AddTestCase(new AtpExactTest);
    }
};

/// The suite, registered.
static AtpTestSuite g_atpTestSuite;
