/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// A congestion control of one's own, chosen by its name as those of the module are:
//
//   ./ns3w run examples/tutorial/third.cc --control=half
//   ./ns3w run examples/tutorial/third.cc --control=none

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

using namespace ns3;
using namespace ns3::training;

/** Sends at half of the line rate until a congestion notification comes, then at a quarter. */
class RdmaHalf : public RdmaCongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("tutorial::RdmaHalf")
                                .SetParent<RdmaCongestionControl>()
                                .AddConstructor<RdmaHalf>();
        return tid;
    }

    void Initialize(const Path& path) override
    {
        m_rate = 0.5 * path.lineRate;
    }

    void OnCnp(int64_t) override
    {
        m_rate /= m_isSlow ? 1 : 2;
        m_isSlow = true;
    }

    double GetRate(int64_t) override
    {
        return m_rate;
    }

  private:
    double m_rate{0}; // bit/s
    bool m_isSlow{false};
};

NS_OBJECT_ENSURE_REGISTERED(RdmaHalf);

const Registry<CongestionControlEntry>::Entry g_half("half",
                                                     {"half of the line rate",
                                                      &RdmaHalf::GetTypeId});

void
OnDone(uint32_t rank)
{
    std::cout << "rank " << rank << " has the sum after " << Simulator::Now().As(Time::US) << "\n";
}

int
main(int argc, char* argv[])
{
    UsePicoseconds();
    ClusterOptions options;
    options.ranks = 2;
    options.congestionControl = "half";
    CommandLine commandLine;
    commandLine.AddValue("control", "congestion control", options.congestionControl);
    commandLine.Parse(argc, argv);

    Cluster cluster(options);
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        auto tensor = Create<Tensor>();
        tensor->bytes = 1 << 20;
        Simulator::ScheduleWithContext(cluster.GetFabric().hosts.Get(rank)->GetId(),
                                       Time(0),
                                       &Communicator::AllReduce,
                                       cluster.GetCommunicator(rank),
                                       tensor,
                                       MakeBoundCallback(&OnDone, rank));
    }
    Simulator::Run();
    return 0;
}
