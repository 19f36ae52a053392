/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_HELPER_H
#define DISTRIBUTED_TRAINING_NIC_HELPER_H

#include "cluster-options.h"

#include "ns3/codec-engine.h"
#include "ns3/collective-operation.h"
#include "ns3/message-coding.h"
#include "ns3/packet-size.h"
#include "ns3/topology-graph.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-fabric.h"
#include "ns3/training-key.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The engine in each NIC of a cluster, as ClusterOptions::nic describes it: none, or a gradient
 * codec with its keys and those of the engine.
 */
class NicHelper
{
  public:
    /** @return keys of the engine, beside those of a codec */
    static std::vector<Key> GetKeys();

    /** Creates a helper that installs nothing. */
    NicHelper() = default;

    /**
     * @param options of the cluster
     * @param attributes of its objects; they override the keys
     * @throw ConfigurationError if there is no such codec, or an engine with it cannot work
     */
    NicHelper(const ClusterOptions& options, const AttributeList& attributes);

    /** @return whether NICs have an engine */
    bool IsInstalled() const;

    /**
     * @param segment bytes of a segment of sockets; 0: no sockets
     * @throw ConfigurationError if segments would split numbers
     */
    void CheckSegments(uint64_t segment) const;

    /**
     * Installs engines in the NICs: on the devices of hosts, except those on links of a scale-up
     * network inside a server, which are no NICs.
     * @param fabric of the cluster
     * @param topology of the fabric
     */
    void Install(const Fabric& fabric, const TopologyGraph& topology);

    /**
     * @param isReal whether messages carry numbers
     * @throw ConfigurationError if the size of codes is unknown, or declared although it is
     *        measured
     */
    void Check(bool isReal) const;

    /**
     * @param operation a collective
     * @return whether engines code its messages: sums, and copies if the key `copies` says so, if
     *         engines look for the type of service by which hosts mark them
     */
    bool Codes(CollectiveOperation operation) const;

    /**
     * @param packet of the transport
     * @return bytes of messages per byte on the line: the most that the engine allows, with the
     *         declared or the shortest code, if the line is the limit
     */
    double GetGoodput(const PacketSize& packet) const;

    /**
     * @param topology of the cluster
     * @param packet of the transport
     * @return the topology with hosts as fast as their engines are, for a goodput as above
     */
    TopologyGraph LimitHosts(const TopologyGraph& topology, const PacketSize& packet) const;

    /**
     * @param packet of the transport
     * @param lineRate bit/s
     * @return how many times as fast as without an engine messages can be
     */
    double GetGain(const PacketSize& packet, uint64_t lineRate) const;

    /**
     * @param packet of the transport
     * @param lineRate bit/s
     * @return one line: the codec, the rate of an engine, and whether it slows the line down
     */
    std::string Describe(const PacketSize& packet, uint64_t lineRate) const;

    /** @return latency of a sending and a receiving engine */
    Time GetLatency() const;

    /**
     * @param payload of a packet, bytes
     * @return the least that it may be on the line, bytes
     */
    uint32_t GetLineBytes(uint32_t payload) const;

    /**
     * @param payload of a full packet, bytes
     * @return time that engines add to a message: their latency, and that of a packet in the
     *         receiving one
     */
    Time GetMessageTime(uint32_t payload) const;

    /** @return what happens to the messages of collectives between all ranks */
    MessageCoding GetCoding() const;

    /** @return the codec; only if IsInstalled() */
    const GradientCodec& GetCodec() const;

    /** @return whether what a number becomes depends on the packet that it is in */
    bool CodesBlocks() const;

    /** @return whether the size of codes is declared, not measured, if messages carry no numbers */
    bool IsDeclared() const;

    /** @return the codec with its keys */
    const std::string& GetSpec() const;

  private:
    void CheckCluster(const ClusterOptions& options) const;
    [[noreturn]] void Refuse(const std::string& reason) const;
    uint32_t GetLeastCode(uint32_t payload) const;
    bool IsInUse() const;

    std::string m_text; // as the user wrote it
    std::string m_spec; // of the codec alone
    AttributeList m_attributes;
    Ptr<CodecEngine> m_engine; // a sample, or null
    bool m_codesOwner{false};
    bool m_codesCopies{false};
    uint8_t m_mark{0};       // type of service of the hosts' gradients
    std::size_t m_packet{0}; // payload of a full packet, whole numbers, bytes
    /// By host, its first scale-up switch, or NO_SERVER; shared by the codings of all ranks.
    std::shared_ptr<const std::vector<uint32_t>> m_servers;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_HELPER_H
