/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"
#include "transport/uec-transport.h"

#include "ns3/message-transport.h"
#include "ns3/rdma-transport.h"
#include "ns3/simulator.h"
#include "ns3/tcp-transport.h"
#include "ns3/training-cluster.h"
#include "ns3/uinteger.h"

#include <map>

namespace ns3::training::tests::transport_test
{

/** Messages received by a rank. */
struct Received
{
    uint32_t from;
    uint64_t tag;
    uint64_t bytes;
    Ptr<ByteBuffer> payload;
    double time;
};

/** Ranks on one switch with their own transports, in addition to the cluster's. */
class TransportFixture
{
  public:
    /** @param loss drop probability of each link */
    TransportFixture(const std::string& kind, uint32_t ranks, double loss)
        : received(ranks)
    {
        ClusterOptions options;
        options.ranks = ranks;
        options.transport = kind;
        options.loss = loss;
        m_cluster = std::make_unique<Cluster>(options);
        const auto& fabric = m_cluster->GetFabric();
        std::vector<uint32_t> endpoints;
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            endpoints.push_back(rank);
        }
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            Ptr<MessageTransport> transport;
            if (kind == "rdma")
            {
                auto rdma = CreateObject<RdmaTransport>();
                rdma->SetGroup(rank, endpoints);
                rdma->SetNics({fabric.devices[rank]->GetObject<RdmaNic>()});
                transport = rdma;
            }
            else if (kind == "uec")
            {
                auto uec = CreateObject<UecTransport>();
                uec->SetGroup(rank, endpoints);
                uec->SetNics({fabric.devices[rank]->GetObject<UecNic>()});
                transport = uec;
            }
            else
            {
                auto tcp = CreateObject<TcpTransport>();
                tcp->SetAttribute("Port", UintegerValue(6000)); // the cluster uses 5000
                tcp->SetGroup(rank, endpoints);
                tcp->SetNode(fabric.hosts.Get(rank));
                transport = tcp;
            }
            transport->SetMessageHandler([this, rank](uint32_t from, const Message& message) {
                received[rank].push_back({from,
                                          message.tag,
                                          message.bytes,
                                          message.payload,
                                          Simulator::Now().GetSeconds()});
            });
            transport->SetErrorHandler([this, rank](uint32_t peer, const std::string& reason) {
                errors.emplace_back(rank, peer, reason);
            });
            transports.push_back(transport);
        }
    }

    ~TransportFixture()
    {
        transports.clear();
        m_cluster.reset();
        Simulator::Destroy();
    }

    std::vector<Ptr<MessageTransport>> transports;                   ///< by rank
    std::vector<std::vector<Received>> received;                     ///< by rank, in order
    std::vector<std::tuple<uint32_t, uint32_t, std::string>> errors; ///< rank, peer, reason

  private:
    std::unique_ptr<Cluster> m_cluster;
};

Ptr<ByteBuffer>
MakePayload(uint64_t bytes, uint32_t seed)
{
    auto buffer = Create<ByteBuffer>();
    buffer->bytes.resize(bytes);
    for (uint64_t i = 0; i < bytes; i++)
    {
        buffer->bytes[i] = static_cast<uint8_t>(i * 31 + i / 256 + seed * 7);
    }
    return buffer;
}

/**
 * Concurrent messages of unusual sizes between all pairs of ranks arrive complete, in order per
 * pair, with their tags and contents, on an intact and a lossy network.
 * @param loss drop probability of each link
 */
void
TestMessagesArrive(const std::string& kind, double loss)
{
    const std::vector<uint64_t> sizes{0, 1, 3, 4095, 4096, 4097, 8948, 0, 16, 100000, 5};
    constexpr uint32_t RANKS = 4;
    TransportFixture fixture(kind, RANKS, loss);
    for (uint32_t i = 0; i < sizes.size(); i++)
    {
        for (uint32_t from = 0; from < RANKS; from++)
        {
            for (uint32_t to = 0; to < RANKS; to++)
            {
                if (from != to)
                {
                    // Tags use all 64 bits; every other message is virtual.
                    const auto payload = i % 2 == 0 ? MakePayload(sizes[i], from) : nullptr;
                    fixture.transports[from]->Send(to, {0xfedcba9800000000 + i, sizes[i], payload});
                }
            }
        }
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(fixture.errors.size(), 0, "errors");
    for (uint32_t to = 0; to < RANKS; to++)
    {
        NS_TEST_ASSERT_MSG_EQ(fixture.received[to].size(),
                              (RANKS - 1) * sizes.size(),
                              "messages at rank " << to);
        std::map<uint32_t, uint32_t> next;
        for (const Received& message : fixture.received[to])
        {
            const uint32_t i = next[message.from]++;
            NS_TEST_EXPECT_MSG_EQ(message.tag, 0xfedcba9800000000 + i, "order and tag");
            NS_TEST_EXPECT_MSG_EQ(message.bytes, sizes[i], "size");
            const bool real = i % 2 == 0 && (sizes[i] > 0 || message.payload);
            NS_TEST_ASSERT_MSG_EQ((message.payload != nullptr), real, "real or virtual");
            if (real)
            {
                NS_TEST_EXPECT_MSG_EQ(message.payload->bytes,
                                      MakePayload(sizes[i], message.from)->bytes,
                                      "contents of message " << i);
            }
        }
    }
}

/** Sizes do not wrap at 32 bits. @param lineBytes of a packet of 4096 bytes */
void
TestHugeMessage(const std::string& kind, uint32_t lineBytes)
{
    const uint64_t bytes = (uint64_t{4} << 30) + 5;
    TransportFixture fixture(kind, 2, 0);
    fixture.transports[0]->Send(1, {1, bytes});
    fixture.transports[0]->Send(1, {2, 1});
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(fixture.received[1].size(), 2, "two messages");
    NS_TEST_EXPECT_MSG_EQ(fixture.received[1][0].bytes, bytes, "size");
    NS_TEST_EXPECT_MSG_EQ(fixture.received[1][0].tag, 1, "tag");
    NS_TEST_EXPECT_MSG_EQ_TOL(fixture.received[1][0].time,
                              static_cast<double>(bytes) * lineBytes / 4096 * 80e-12,
                              1e-4,
                              "time");
    NS_TEST_EXPECT_MSG_EQ(fixture.received[1][1].bytes, 1, "the next one");
}

/** An unreachable peer is reported with a reason, and the simulation ends. */
void
TestUnreachablePeer(const std::string& kind)
{
    TransportFixture fixture(kind, 3, 1);
    fixture.transports[0]->Send(2, {1, 1000});
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(fixture.errors.size(), 1, "one report");
    NS_TEST_EXPECT_MSG_EQ(std::get<0>(fixture.errors[0]), 0, "who");
    NS_TEST_EXPECT_MSG_EQ(std::get<1>(fixture.errors[0]), 2, "to whom");
    NS_TEST_EXPECT_MSG_EQ(std::get<2>(fixture.errors[0]).empty(), false, "why");
    NS_TEST_EXPECT_MSG_EQ(fixture.received[2].size(), 0, "nothing arrives");
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    for (const std::string kind : {"rdma", "tcp", "uec"})
    {
        cases.push_back({"messages over " + kind + " with loss 0.000000",
                         [kind] { TestMessagesArrive(kind, 0); }});
        cases.push_back({"messages over " + kind + " with loss 0.020000",
                         [kind] { TestMessagesArrive(kind, 0.02); }});
        cases.push_back(
            {"an unreachable peer over " + kind, [kind] { TestUnreachablePeer(kind); }});
    }
    cases.push_back(
        {"a message of more than 4 GiB over rdma", [] { TestHugeMessage("rdma", 4178); }});
    cases.push_back(
        {"a message of more than 4 GiB over uec", [] { TestHugeMessage("uec", 4218); }});
    return cases;
}

const Suite g_suite("transport", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::transport_test
