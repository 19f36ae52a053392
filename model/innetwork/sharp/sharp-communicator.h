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
 * The rank's side of aggregation trees (SHARP's collective library): all-reduce, reduce to one
 * rank, broadcast and barrier.
 *
 * A message up to StreamingThreshold is split into packets of the size of an outstanding operation.
 * The job's quota limits the packets in flight; further packets wait at the rank. A larger message
 * uses a streaming tree with larger packets if all switches of the tree can reserve it for the job,
 * otherwise small packets. A separate operation, the lock, reserves the tree for LockBatch
 * messages.
 *
 * With several trees each one adds an equal part of the tensor.
 *
 * Numbers are added in the format DataType, in the order of the tree. A broadcast moves float32
 * numbers unchanged.
 */
class SharpCommunicator : public SharpEndpoint
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Connections of a rank to a tree. */
    struct TreePosition
    {
        uint32_t switchEndpoint{0}; ///< the rank's switch in the tree
        uint32_t lowLatency{0};     ///< connection number at the switch for small messages
        uint32_t streaming{0};      ///< connection number at the switch for large messages
    };

    /** Job parameters that the controller gives a rank. */
    struct Session
    {
        std::vector<TreePosition> positions; ///< by tree
        uint32_t window{1};                  ///< outstanding operations per tree
        uint32_t elements{64};               ///< numbers per packet of an outstanding operation
        uint32_t credits{64};                ///< streaming packets in flight
        uint32_t streamingBytes{2048};       ///< values per streaming packet, bytes
        uint64_t creditsOfSwitch{0};         ///< of all streaming trees
        uint64_t lineRate{0};                ///< of the slowest link, bit/s; 0: unknown
    };

    /** @return number of trees set by the attributes */
    uint32_t GetTrees() const
    {
        return m_trees;
    }

    /**
     * @param tree number of a tree
     * @param streaming whether it is the streaming connection
     * @return queue pair number of this rank's side
     */
    static uint32_t GetQueuePair(uint32_t tree, bool streaming);

    /** @param session as configured at the switches; call SetGroup() and SetSums() before */
    void SetSession(const Session& session);

    /** @return whether the last completed operation used streaming trees only */
    bool HasStreamed() const
    {
        return m_hasStreamed;
    }

    // InNetworkCommunicator
    bool IsOffloaded(CollectiveOperation operation) const override;

    double GetPacketBytes() const override
    {
        return m_session.streamingBytes / GetLineShare();
    }

  protected:
    std::string GetName() const override
    {
        return "sharp";
    }

    std::string GetMissing() const override;
    // SharpEndpoint
    void Start() override;
    void OnMessage(uint32_t connection, const Frame& frame) override;

  private:
    /** One of the two connections of a tree, and its current message. */
    struct Channel
    {
        /**
         * Starts a message.
         * @param from first number of the tensor
         * @param to end of the range, exclusive
         * @param numbers numbers per packet
         */
        void Begin(uint64_t from, uint64_t to, uint32_t numbers);

        uint32_t connection{0};
        uint32_t tree{0};
        uint32_t window{1};   ///< limit of packets in flight
        uint32_t elements{1}; ///< numbers per packet
        uint64_t first{0};    ///< packet number of the operation's first packet
        uint64_t begin{0};    ///< first number of its part of the tensor
        uint64_t end{0};      ///< end of its part, exclusive
        uint64_t total{0};    ///< packets of the operation
        uint64_t sent{0};     ///< packets sent
        uint64_t received{0}; ///< results received
        bool locks{false};    ///< the message is a lock
        bool unlocks{false};  ///< the message is the last one under a lock
    };

    /** The lock of a streaming tree. */
    struct Lock
    {
        bool held{false};
        uint64_t used{0}; ///< messages sent since the lock
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
    bool m_streams{false};           // the current operation has used only streaming trees so far
    bool m_hasStreamed{false};       // the last completed operation used only streaming trees
    uint32_t m_partsLeft{0};         // incomplete parts of the tensor
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_COMMUNICATOR_H
