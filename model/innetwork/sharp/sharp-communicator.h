/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SHARP_COMMUNICATOR_H

#include "sharp-endpoint.h"

#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A rank's end of aggregation trees (SHARP's collective library): all-reduce, reduce to one rank,
 * broadcast and barrier.
 *
 * A message up to StreamingThreshold is cut into packets of an outstanding operation's size, of
 * which as many are in flight as the job's quota allows; more wait here. A larger one goes by a
 * streaming tree, in larger packets, if all its switches can give the job theirs; if not, in small
 * packets like the others. That is found out by an operation of its own, the lock, which is kept
 * for LockBatch messages.
 *
 * With several trees each adds an equal part of the tensor.
 *
 * Numbers are added in the format DataType, in an order that is the tree's alone. A broadcast moves
 * float32 as they are.
 */
class SharpCommunicator : public SharpEndpoint
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Where a rank is joined to a tree. */
    struct TreePosition
    {
        uint32_t switchEndpoint{0}; ///< where its packets go
        uint32_t lowLatency{0};     ///< number of the connection there, for small messages
        uint32_t streaming{0};      ///< and of that for large ones
    };

    /** What the controller tells a rank. */
    struct Session
    {
        std::vector<TreePosition> positions; ///< by tree
        uint32_t window{1};                  ///< outstanding operations of each tree
        uint32_t elements{64};               ///< numbers in a packet of one
        uint32_t credits{64};                ///< streaming packets in flight
        uint32_t streamingBytes{2048};       ///< values in one
    };

    /** @return how many trees the attributes ask for */
    uint32_t GetTrees() const;

    /**
     * @param tree number of one
     * @param streaming which of its two connections
     * @return number of this rank's end
     */
    static uint32_t GetQueuePair(uint32_t tree, bool streaming);

    /** @param session as the switches have it; SetGroup() and SetSums() come first */
    void SetSession(const Session& session);

    /** @return whether the latest operation that is complete went by streaming trees alone */
    bool HasStreamed() const;

    // InNetworkCommunicator
    bool IsOffloaded(CollectiveOperation operation) const override;

  protected:
    std::string GetName() const override;
    std::string GetMissing() const override;
    // SharpEndpoint
    void Start() override;
    void OnMessage(uint32_t connection, const Frame& frame) override;

  private:
    /** One of the two connections of a tree, and what is under way on it. */
    struct Channel
    {
        /**
         * A message begins.
         * @param from number of the tensor
         * @param to number behind it
         * @param numbers in a packet
         */
        void Begin(uint64_t from, uint64_t to, uint32_t numbers);

        uint32_t connection{0};
        uint32_t tree{0};
        uint32_t window{1};   ///< packets in flight
        uint32_t elements{1}; ///< numbers in a packet
        uint64_t first{0};    ///< number of the operation's first packet
        uint64_t begin{0};    ///< part of the tensor, numbers
        uint64_t end{0};      ///< behind it
        uint64_t total{0};    ///< packets of the operation
        uint64_t sent{0};     ///< of these
        uint64_t received{0}; ///< results
        bool locks{false};    ///< the message is a lock
        bool unlocks{false};  ///< it is the last one of a lock
    };

    /** Of a streaming tree. */
    struct Lock
    {
        bool held{false};
        uint64_t used{0}; ///< messages since
    };

    void StartPart(uint32_t tree, bool streaming);
    void StartLock(uint32_t tree);
    void Pump(Channel& channel);
    void SendPacket(Channel& channel);
    void TakeLock(uint32_t tree, bool granted);
    std::pair<uint64_t, uint64_t> GetRange(const Channel& channel, uint64_t packet) const;

    uint64_t m_threshold;
    uint64_t m_lockBatch;
    uint32_t m_trees;
    Session m_session;
    std::vector<Channel> m_channels; // by connection
    std::vector<Lock> m_locks;       // by tree
    bool m_streams{false};           // the operation under way, so far
    bool m_hasStreamed{false};       // the latest one that is complete
    uint32_t m_partsLeft{0};         // of the tensor
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_COMMUNICATOR_H
