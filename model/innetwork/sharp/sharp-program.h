/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_PROGRAM_H
#define DISTRIBUTED_TRAINING_SHARP_PROGRAM_H

#include "sharp-connection.h"
#include "sharp-slots.h"

#include "ns3/aggregation-program.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <vector>

namespace ns3::training
{

/** A tree of a job as seen by one of its switches; configured before the simulation. */
struct SharpNode
{
    /// Index of no tree.
    static constexpr uint32_t NONE = UINT32_MAX;

    uint8_t job{0};                              ///< number of the job
    bool streaming{false};                       ///< for large messages, reserved by a lock
    uint32_t slots{0};                           ///< low latency: outstanding operations
    uint32_t locks{NONE};                        ///< low latency: number of its streaming tree
    uint32_t firstQueuePair{0};                  ///< of the first child; the others follow
    std::vector<SharpConnection::Peer> children; ///< addends of its sum, in this order
    SharpConnection::Peer parent;                ///< receiver of its sum; none at the root
    std::vector<uint16_t> childOf;               ///< by rank: the child that is or leads to it
    SharpConnection::Settings settings;          ///< of all its connections
};

/** Counters of a SharpProgram. */
struct SharpCounters
{
    uint64_t received{0};   ///< frames addressed to it
    uint64_t added{0};      ///< contributions added
    uint64_t completed{0};  ///< sums with all contributions
    uint64_t results{0};    ///< results sent to children
    uint64_t resent{0};     ///< packets retransmitted
    uint64_t duplicates{0}; ///< duplicate packets
    uint64_t refused{0};    ///< frames without a connection, or on a closed one
    uint64_t locks{0};      ///< locks granted
    uint64_t denials{0};    ///< locks denied
    uint64_t broken{0};     ///< broken connections
};

/**
 * @ingroup distributed-training-innetwork
 *
 * An aggregation node of SHARP in InfiniBand switches (Graham et al., COMHPC 2016 and ISC 2020;
 * NVIDIA SHARP documentation). It waits for a packet of each child, adds them, and sends the sum to
 * its parent, or at the root to all children. It forwards packets of its parent to all children.
 * Neighbors have reliable connections.
 *
 * A low-latency tree has a quota of the switch's outstanding operations. Streaming trees have
 * larger packets and more buffers, so a switch limits how many are active. A job locks one by an
 * operation on its low-latency tree, if all switches of the tree have one left.
 *
 * With Multicast, results of a low-latency tree also go down as datagrams, which switches forward
 * immediately. The connections deliver the results whose datagrams are lost.
 *
 * A restart closes all connections permanently: neighbors then get no answers.
 */
class SharpProgram : public AggregationProgram, private SharpConnection::Owner
{
  public:
    /// Maximum children of a tree in a scale-up network, whose switches stand for one.
    static constexpr uint32_t MAX_CHILDREN = 1024;
    /// Maximum children of other switches: ports of a Quantum-2.
    static constexpr uint32_t MAX_PORTS = 64;

    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param packets of children that operations of low-latency trees wait for, at most; 0
     *        (default): Slots of Children each
     */
    void SetAddends(uint64_t packets)
    {
        m_addends = packets;
    }

    /**
     * @param count number of connections to add
     * @return queue pair number of the first; the others follow
     */
    uint32_t AddQueuePairs(uint32_t count);

    /**
     * @param node a tree, whose connections have been added
     * @return number of the tree at this switch
     * @throw ConfigurationError if it has too many children, or the switch has too many trees or
     *        operations
     */
    uint32_t AddTree(const SharpNode& node);

    /** @return its counters */
    const SharpCounters& GetCounters() const
    {
        return m_counters;
    }

    /** @return streaming packets that a rank may have in flight */
    uint32_t GetCredits() const
    {
        return m_credits / m_streams;
    }

    /** @return values in a streaming packet, bytes */
    uint32_t GetStreamingPayload() const
    {
        return m_streamingPayload;
    }

    /** @return number of locked streaming trees */
    uint32_t GetActiveStreams() const
    {
        return m_activeStreams;
    }

    // AggregationProgram
    std::map<uint8_t, uint32_t> GetOccupiedSlots() const override;

    std::string GetName() const override
    {
        return "sharp";
    }

    Resources GetResources() const override;
    bool Receive(Frame* frame) override;

    /**
     * A contribution was added. (job, number of the tree at this switch, packet, child)
     */
    typedef void (*ContributionTracedCallback)(uint8_t job,
                                               uint32_t tree,
                                               uint32_t packet,
                                               uint32_t child);

  private:
    struct Tree
    {
        SharpNode node;
        uint32_t number;
        SharpSlots slots;
        bool active{false}; ///< streaming: the job holds the lock
    };

    /** A connection's tree and child. */
    struct End
    {
        std::unique_ptr<SharpConnection> connection;
        uint32_t tree{0};
        uint32_t child{0}; ///< or PARENT
    };

    /// Index that means the parent.
    static constexpr uint32_t PARENT = MAX_CHILDREN;

    void DoDispose() override;
    void Reset() override;

    // SharpConnection::Owner
    void Transmit(Frame* frame) override
    {
        Emit(frame);
    }

    void OnPacket(const Frame& frame) override;

    void OnResent() override
    {
        m_counters.resent++;
    }

    void OnDuplicate() override
    {
        m_counters.duplicates++;
    }

    void OnBroken(const SharpConnection& connection) override;

    void Multicast(const Tree& tree, const SharpMessage& message);
    void Contribute(Tree& tree, uint32_t child, const Frame& frame);
    void Lock(Tree& tree, SharpHeader& header);
    void Release(Tree& tree);
    void SendLater(Tree& tree, const SharpMessage& message, bool up);
    void SendUp(Tree* tree, SharpMessage message);
    void SendDown(Tree* tree, SharpMessage message);

    uint32_t m_slotCount;
    uint64_t m_addends{0}; // 0: those of all slots
    uint32_t m_payload;
    uint32_t m_children;
    uint32_t m_streamingPayload;
    uint32_t m_credits;
    uint32_t m_streams;
    uint32_t m_mostTrees;
    Time m_latency;
    bool m_multicast;
    std::vector<std::unique_ptr<Tree>> m_trees;
    std::vector<End> m_ends; // by queue pair
    uint32_t m_slotsTaken{0};
    uint32_t m_treesOfKind[2]{0, 0};
    uint32_t m_activeStreams{0};
    SharpCounters m_counters;
    TracedCallback<uint8_t, uint32_t, uint32_t, uint32_t> m_addTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_PROGRAM_H
