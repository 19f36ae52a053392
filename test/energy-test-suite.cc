/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/energy-figures.h"
#include "ns3/fabric-frame.h"
#include "ns3/roce-wire-format.h"
#include "ns3/training-run.h"

#include <fstream>
#include <unistd.h>

namespace ns3::training::tests::energy_test
{

/// Payload of a packet. A rank sends two messages of a packet in each iteration.
constexpr uint32_t MTU = 1024;
constexpr uint32_t ITERATIONS = 200;

/// Bits of a data packet and of an acknowledgement on the line, without gap.
const double DATA_BITS =
    8.0 * (GetDataFrameBytes(WRITE_ONLY_IMMEDIATE, MTU) + Frame::PREAMBLE_BYTES);
const double ANSWER_BITS = 8.0 * (GetFrameBytes(ROCE_BYTES + AETH_BYTES) + Frame::PREAMBLE_BYTES);

/** Sum of the counters of all queue pairs. */
QueuePairCounters
GetCounters(const Cluster& cluster)
{
    QueuePairCounters sum;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        for (const auto& [number, queuePair] : cluster.GetNics(rank).front()->GetQueuePairs())
        {
            const QueuePairCounters& counters = queuePair->GetCounters();
            sum.sentPackets += counters.sentPackets;
            sum.retransmittedPackets += counters.retransmittedPackets;
            sum.sentAcks += counters.sentAcks;
            sum.sentNaks += counters.sentNaks;
        }
    }
    return sum;
}

/** @return a job of two ranks that compute for 50 us and an update */
TrainingRunOptions
MakeOptions()
{
    TrainingRunOptions options;
    options.workload = CreateTempDirFilename(std::to_string(getpid()) + "-workload.csv");
    std::ofstream(options.workload) << "layer,parameters,forward_us,backward_us\n"
                                    << "fc," << 2 * MTU / 4 << ",20,30\n";
    options.iterations = ITERATIONS - 1;
    options.warmup = 1;
    options.cluster.ranks = 2;
    options.cluster.topology = "single-switch";
    options.cluster.mtu = MTU;
    options.cluster.congestionControl = "none";
    options.cluster.algorithm = "ring";
    options.energy.model = "h100:server=1000,gpu-waiting=100,gpu-active=700,cpu-idle=50,"
                           "cpu-active=250,nic=20,switch=500,port=10,link-bit=15,switch-bit=5,"
                           "memory-bit=6,gpus=8";
    options.energy.priceGpuHour = 3.6;
    options.energy.pricePortHour = 0.36;
    return options;
}

void
CheckBits(double loss)
{
    TrainingRunOptions options = MakeOptions();
    options.cluster.loss = loss;
    TrainingRun run(options);
    const TrainingRunResult result = run.Run();
    const auto* found = result.figures.Find<EnergyFigures>();
    NS_TEST_ASSERT_MSG_NE(found, nullptr, "energy");
    const EnergyFigures& energy = *found;
    const EnergyRow row = energy.GetRow();
    const QueuePairCounters counters = GetCounters(run.GetCluster());
    const double packets = ITERATIONS * 2.0 * 2; // ranks, messages
    const auto repeated = static_cast<double>(counters.retransmittedPackets);
    const auto answers = static_cast<double>(counters.sentAcks + counters.sentNaks);
    NS_TEST_EXPECT_MSG_EQ(static_cast<double>(counters.sentPackets), packets + repeated, "packets");
    NS_TEST_EXPECT_MSG_EQ((repeated > 0), (loss > 0), "retransmissions");
    // Each frame is on two links, unless it is lost on the first.
    double firstLink = 0;
    double secondLink = 0;
    for (const auto& channel : run.GetCluster().GetFabric().channels)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            const PortCounters& port = channel->GetPort(end).GetCounters();
            const double bits = 8.0 * (static_cast<double>(port.transmittedBytes) +
                                       8.0 * static_cast<double>(port.transmittedFrames));
            (end == 0 ? firstLink : secondLink) += bits;
        }
    }
    const double sent = (packets + repeated) * DATA_BITS + answers * ANSWER_BITS;
    NS_TEST_EXPECT_MSG_EQ_TOL(firstLink, sent, 1e-6, "bits that hosts send");
    if (loss == 0)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(row.linkBits, 2 * sent, 1e-6, "bits on links");
        NS_TEST_EXPECT_MSG_EQ_TOL(row.switchBits, sent, 1e-6, "bits in the switch");
        NS_TEST_EXPECT_MSG_EQ_TOL(row.memoryBits, 2 * sent, 1e-6, "bits in memory");
    }
    else
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(row.linkBits, sent + secondLink, 1e-6, "bits on links");
        NS_TEST_EXPECT_MSG_LT(secondLink, sent, "losses before the switch");
        NS_TEST_EXPECT_MSG_EQ_TOL(row.switchBits, secondLink, 1e-6, "bits in the switch");
    }
    NS_TEST_EXPECT_MSG_EQ(row.countsRetransmissions, true, "they are counted");
    NS_TEST_EXPECT_MSG_EQ_TOL(row.retransmittedPart,
                              repeated / (packets + repeated),
                              1e-12,
                              "retransmitted part");
    double seconds = 0;
    double collectives = 0;
    for (const IterationRecord& record : result.iterations)
    {
        seconds += record.iterationTimeS;
        collectives += record.communicationTimeS;
    }
    const double compute = 2 * ITERATIONS * result.mean.computeTimeS;
    const double bits = 1e-12 * (15 * row.linkBits + 5 * row.switchBits + 6 * row.memoryBits);
    const double joules = 700 * compute + 100 * (2 * seconds - compute) + 1090 * seconds +
                          200 * collectives + 520 * seconds + bits;
    NS_TEST_EXPECT_MSG_EQ_TOL(row.seconds, seconds, 1e-15, "time");
    NS_TEST_EXPECT_MSG_EQ_TOL(row.bitJoules, bits, 1e-12, "energy of bits");
    NS_TEST_EXPECT_MSG_EQ_TOL(row.retransmissionJoules,
                              bits * row.retransmittedPart,
                              1e-12,
                              "energy of retransmissions");
    NS_TEST_EXPECT_MSG_EQ_TOL(row.joules, joules, 1e-9, "energy");
    NS_TEST_EXPECT_MSG_EQ_TOL(row.joulesPerGradientByte,
                              joules / ITERATIONS / (2 * MTU),
                              1e-12,
                              "energy of a byte of gradients");
    NS_TEST_EXPECT_MSG_EQ_TOL(row.dollars, (2 * 1e-3 + 2 * 1e-4) * seconds, 1e-12, "price");
}

void
CheckOthers()
{
    TrainingRunOptions options = MakeOptions();
    options.energy = EnergyOptions();
    const TrainingRunResult without = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_EQ(without.figures.Find<EnergyFigures>(), nullptr, "not asked for");
    options = MakeOptions();
    options.cluster.transport = "tcp";
    options.cluster.congestionControl = "auto";
    options.energy.model = "";
    const TrainingRunResult result = TrainingRun(options).Run();
    const auto* energy = result.figures.Find<EnergyFigures>();
    NS_TEST_ASSERT_MSG_NE(energy, nullptr, "a price only");
    const EnergyRow row = energy->GetRow();
    NS_TEST_EXPECT_MSG_EQ(row.countsRetransmissions, false, "TCP does not tell");
    NS_TEST_EXPECT_MSG_EQ(row.joules, 0, "no power model");
    NS_TEST_EXPECT_MSG_GT(row.linkBits, 8.0 * ITERATIONS * 2 * 2 * 2 * MTU, "bits are counted");
    NS_TEST_EXPECT_MSG_GT(row.dollars, 0, "price");
}

/** Bits, joules and dollars of a ring all-reduce of two ranks at one switch. */
void
TestRunEnergy()
{
    CheckBits(0);
    CheckBits(0.05);
    CheckOthers();
}

const Suite g_suite("energy",
                    Duration::QUICK,
                    {{"energy of runs equals that of packets counted by hand, also with losses",
                      TestRunEnergy}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::energy_test
