/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/simulator.h"
#include "ns3/training-cluster.h"

#include <algorithm>

namespace ns3::training::tests::transport_restart_test
{

/** After a restart messages of before do not arrive, whatever is on its way, and later ones do. */
struct TransportRestartTestCase
{
    static constexpr uint32_t RANKS = 3;
    static constexpr uint64_t LONG = 10000000; // 0.8 ms on the line
    static constexpr uint64_t SHORT = 5000;
    static constexpr uint64_t TAG = 7;

    void Run()
    {
        for (uint32_t restarts : {1U, 2U, 5U})
        {
            Run(restarts);
        }
    }

    void Run(uint32_t restarts)
    {
        received.clear();
        {
            ClusterOptions options;
            options.ranks = RANKS;
            options.transport = transport;
            options.queuePairs = transport == "rdma" ? 2 : 1;
            Cluster cluster(options);
            NS_TEST_ASSERT_MSG_GT(cluster.GetTransports().GetMostRestarts(), 1000, "restarts");
            for (uint32_t rank = 0; rank < RANKS; rank++)
            {
                cluster.GetTransport(rank)->SetMessageHandler(
                    [this, rank](uint32_t from, const Message& message) {
                        NS_TEST_EXPECT_MSG_EQ(message.tag, TAG, "tag");
                        received.push_back({from * RANKS + rank, message.bytes});
                    });
            }
            for (uint32_t restart = 0; restart < restarts; restart++)
            {
                Simulator::Schedule(MicroSeconds(300 * restart),
                                    &TransportRestartTestCase::SendAll,
                                    this,
                                    &cluster,
                                    LONG);
                Simulator::Schedule(MicroSeconds(300 * restart + 299),
                                    &ClusterCommunicators::Restart,
                                    &cluster.GetCommunicators());
            }
            Simulator::Schedule(MicroSeconds(300 * restarts),
                                &TransportRestartTestCase::SendAll,
                                this,
                                &cluster,
                                SHORT);
            Simulator::Stop(Seconds(10));
            Simulator::Run();
        }
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(received.size(),
                              RANKS * (RANKS - 1),
                              "one message from each to each");
        std::sort(received.begin(), received.end());
        for (std::size_t i = 0; i < received.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(received[i].second, SHORT, "of the last life");
            NS_TEST_EXPECT_MSG_EQ((i == 0 || received[i - 1].first < received[i].first),
                                  true,
                                  "once");
        }
    }

    void SendAll(Cluster* cluster, uint64_t bytes)
    {
        for (uint32_t rank = 0; rank < RANKS; rank++)
        {
            for (uint32_t peer = 0; peer < RANKS; peer++)
            {
                if (peer != rank)
                {
                    cluster->GetTransport(rank)->Send(peer, {TAG, bytes});
                }
            }
        }
    }

    std::string transport;                                 ///< rdma, uec or tcp
    std::vector<std::pair<uint32_t, uint64_t>> received{}; // pair of ranks, bytes
};

const Suite g_suite("transport-restart",
                    Duration::QUICK,
                    {{"restarts of rdma", [] { TransportRestartTestCase{"rdma"}.Run(); }},
                     {"restarts of uec", [] { TransportRestartTestCase{"uec"}.Run(); }},
                     {"restarts of tcp", [] { TransportRestartTestCase{"tcp"}.Run(); }}});

} // namespace ns3::training::tests::transport_restart_test
