/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_PROGRAM_H
#define DISTRIBUTED_TRAINING_SHARP_PROGRAM_H

#include "sharp-connection.h"

#include "ns3/aggregation-program.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <vector>

namespace ns3::training
{

/** A tree of a job as one switch of it knows it; set up by a controller before the simulation. */
struct SharpNode
{
    /// Instead of a tree.
    static constexpr uint32_t NONE = UINT32_MAX;

    uint8_t job{0};                              ///< whose it is
    bool streaming{false};                       ///< for large messages, behind a lock
    uint32_t slots{0};                           ///< low latency: operations at a time
    uint32_t locks{NONE};                        ///< low latency: number of its streaming tree
    uint32_t firstQueuePair{0};                  ///< of the first child; the others follow
    std::vector<SharpConnection::Peer> children; ///< whose sums it adds, in this order
    SharpConnection::Peer parent;                ///< where its sum goes; none at the root
    std::vector<uint8_t> childOf;                ///< by rank: the child it is, or is below
    SharpConnection::Settings settings;          ///< of all its connections
};

/** Counters of a SharpProgram. */
struct SharpCounters
{
    uint64_t received{0};   ///< frames addressed to it
    uint64_t added{0};      ///< contributions
    uint64_t completed{0};  ///< sums with all children in
    uint64_t results{0};    ///< sums of all ranks that went to children
    uint64_t resent{0};     ///< packets sent again
    uint64_t duplicates{0}; ///< packets that came again
    uint64_t refused{0};    ///< frames of no connection, or of one that is closed
    uint64_t locks{0};      ///< streaming trees given away
    uint64_t denials{0};    ///< streaming trees asked for in vain
    uint64_t broken{0};     ///< connections that gave up
};

/**
 * @ingroup distributed-training-innetwork
 *
 * An aggregation node as SHARP has them in InfiniBand switches (Graham et al., COMHPC 2016 and ISC
 * 2020; NVIDIA SHARP documentation): waits for a packet of each child, adds them, and sends the sum
 * to its parent, or, at the root, to all children; what comes from the parent goes to all children.
 * Neighbors have reliable connections.
 *
 * Sums are made in the order of the children, whatever the order of arrival, so they are
 * reproducible bit by bit.
 *
 * A low-latency tree has a quota of outstanding operations of the switch's. Of streaming trees,
 * which have larger packets and more buffers, only so many can be active at a time; a job takes
 * one, if there is one left at all switches of the tree, by an operation on its low-latency tree.
 *
 * With Multicast results of a low-latency tree's sums go down as datagrams, too, which switches
 * pass on at once; what is lost of them comes by the connections.
 *
 * A restart closes all connections for good: neighbors then get no answers.
 */
class SharpProgram : public AggregationProgram, private SharpConnection::Owner
{
  public:
    /// Children of a switch: ports of a Quantum-2.
    static constexpr uint32_t MAX_CHILDREN = 64;

    /** @return the type */
    static TypeId GetTypeId();
    SharpProgram();
    ~SharpProgram() override;

    /**
     * @param count connections
     * @return number of the first; the others follow
     */
    uint32_t AddQueuePairs(uint32_t count);

    /**
     * @param node a tree, whose connections have been added
     * @return its number here
     * @throw ConfigurationError if it has too many children, or there are too many trees or
     *        operations
     */
    uint32_t AddTree(const SharpNode& node);

    /** @return its counters */
    const SharpCounters& GetCounters() const;

    /** @return packets of a streaming tree that a rank may have in flight */
    uint32_t GetCredits() const;

    /** @return values in such a packet, bytes */
    uint32_t GetStreamingPayload() const;

    /** @return streaming trees that are taken */
    uint32_t GetActiveStreams() const;

    // AggregationProgram
    std::string GetName() const override;
    Resources GetResources() const override;
    bool Receive(Frame* frame) override;

    /**
     * A contribution has been added. (job, number of the tree here, packet, child)
     */
    typedef void (*ContributionTracedCallback)(uint8_t job,
                                               uint32_t tree,
                                               uint32_t packet,
                                               uint32_t child);

  private:
    /** Values of a child, held until all are there. */
    struct Part
    {
        Ptr<ByteBuffer> payload;
        uint64_t offset{0};
    };

    /** An operation under way. */
    struct Slot
    {
        uint64_t seen{0};     ///< bit c: child c's contribution is in
        SharpMessage message; ///< of the first one, then of all
        uint32_t count{0};    ///< contributions
    };

    struct Tree
    {
        SharpNode node;
        uint32_t number{0};
        std::vector<Slot> slots;
        std::vector<Part> parts; ///< real payload: by slot and child
        bool active{false};      ///< streaming: the job has it
    };

    /** Whose a connection is. */
    struct End
    {
        std::unique_ptr<SharpConnection> connection;
        uint32_t tree{0};
        uint32_t child{0}; ///< or PARENT
    };

    /// Instead of a child.
    static constexpr uint32_t PARENT = MAX_CHILDREN;

    void DoDispose() override;
    void Reset() override;
    // SharpConnection::Owner
    void Transmit(Frame* frame) override;
    void OnResent(uint64_t packets) override;
    void OnDuplicate() override;
    void OnBroken(const SharpConnection& connection) override;

    void Take(End& end, const Frame& frame);
    void Multicast(const Tree& tree, const SharpMessage& message);
    void Contribute(Tree& tree, uint32_t child, const Frame& frame);
    void Complete(Tree& tree, Slot& slot, uint32_t place);
    void AddParts(const Tree& tree, Part* parts, SharpMessage& message);
    void Lock(Tree& tree, SharpHeader& header);
    void Release(Tree& tree);
    void SendLater(Tree& tree, const SharpMessage& message, bool up);
    void SendUp(Tree* tree, SharpMessage message);
    void SendDown(Tree* tree, SharpMessage message);

    uint32_t m_slotCount;
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
    std::vector<const uint8_t*> m_addends; // kept for its memory
    SharpCounters m_counters;
    TracedCallback<uint8_t, uint32_t, uint32_t, uint32_t> m_addTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_PROGRAM_H
