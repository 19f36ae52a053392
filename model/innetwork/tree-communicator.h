/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TREE_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_TREE_COMMUNICATOR_H

#include "block-quantizer.h"
#include "contribution-check.h"
#include "in-network-communicator.h"
#include "number-format.h"
#include "tree-connection.h"

#include <memory>
#include <vector>

namespace ns3::training
{

/** Who adds whose numbers in which order, at one switch of a tree. */
struct TreeSum
{
    /** An addend, in the order of addition. */
    struct Child
    {
        bool isRank;    ///< a rank's numbers, or the sum of another switch
        uint32_t index; ///< which rank, or which element of the tree
    };

    std::vector<Child> children; ///< what it adds
};

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
class TreeCommunicator : public InNetworkCommunicator, private TreeConnection::Owner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Where a rank is joined to a tree. */
    struct Place
    {
        uint32_t switchEndpoint{0}; ///< where its packets go
        uint32_t lowLatency{0};     ///< number of the connection there, for small messages
        uint32_t streaming{0};      ///< and of that for large ones
    };

    /** Switches of a tree, the root first. */
    using Sums = std::vector<TreeSum>;

    /** What the controller tells a rank. */
    struct Session
    {
        std::vector<Place> places;                     ///< by tree
        std::shared_ptr<const std::vector<Sums>> sums; ///< by tree, the same for all ranks
        uint32_t window{1};                            ///< outstanding operations of each tree
        uint32_t elements{64};                         ///< numbers in a packet of one
        uint32_t credits{64};                          ///< streaming packets in flight
        uint32_t streamingBytes{2048};                 ///< values in one
    };

    /** @return how many trees the attributes ask for */
    uint32_t GetTrees() const;

    /** @return how its connections behave, by the attributes */
    TreeConnection::Settings GetSettings() const;

    /** @return what numbers are added as */
    NumberFormat GetNumberFormat() const;

    /**
     * @param tree number of one
     * @param streaming which of its two connections
     * @return number of this rank's end
     */
    static uint32_t GetQueuePair(uint32_t tree, bool streaming);

    /** @param session as the switches have it; SetGroup() comes first */
    void SetSession(const Session& session);

    /** @return whether the latest operation that is complete went by streaming trees alone */
    bool HasStreamed() const;

    // InNetworkCommunicator
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;
    bool Makes(CollectiveOperation operation) const override;
    double GetErrorBound() const override;

  protected:
    void DoDispose() override;
    std::string GetName() const override;
    void Begin(const Tensor& tensor) override;
    void Halt() override;
    void OnData(Frame* frame) override;
    void OnLateData(Frame* frame) override;
    std::string GetMissing() const override;

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

        std::unique_ptr<TreeConnection> connection;
        uint32_t tree{0};
        bool isStreaming{false};
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

    // TreeConnection::Owner
    void Transmit(Frame* frame) override;
    void OnResent(uint64_t packets) override;
    void OnDuplicate() override;
    void OnBroken(const TreeConnection& connection) override;

    bool SetDataType(std::string type);
    std::string GetDataType() const;
    bool CheckTensor();
    void Start();
    void StartPart(uint32_t tree, bool streaming);
    void StartLock(uint32_t tree);
    void Pump(Channel& channel);
    void SendPacket(Channel& channel);
    void OnResult(Channel& channel, const Frame& frame);
    void TakeLock(uint32_t tree, bool granted);
    void TakeValues(const Channel& channel, const Frame& frame);
    void Watch();
    uint32_t GetNumber(const Channel& channel, uint64_t packet) const;
    uint64_t GetKey(const Channel& channel, uint64_t packet) const;
    std::pair<uint64_t, uint64_t> GetRange(const Channel& channel, uint64_t packet) const;
    std::pair<uint64_t, uint64_t> GetPart(uint32_t tree, uint64_t values) const;

    NumberFormat m_dataType{NumberFormat::FLOAT32};
    uint64_t m_threshold;
    uint64_t m_lockBatch;
    uint32_t m_trees;
    uint32_t m_ackInterval;
    Time m_ackDelay;
    Time m_timeout;
    uint32_t m_retryLimit;
    uint8_t m_priority;
    Time m_hostLatency;

    Session m_session;
    ContributionCheck m_check;
    std::vector<Channel> m_channels; // by queue pair
    std::vector<Lock> m_locks;       // by tree
    const Tensor* m_tensor{nullptr}; // of the operation under way
    NumberFormat m_format{NumberFormat::FLOAT32};
    bool m_contributes{false}; // has values to send
    bool m_streams{false};     // the operation under way, so far
    bool m_hasStreamed{false}; // the latest one that is complete
    uint64_t m_values{0};      // in the tensor
    uint32_t m_partsLeft{0};   // of the tensor
    std::vector<float> m_result;
    Time m_latestAnswer; // or start
    EventId m_watch;
    EventId m_start;
    int m_exponent{NO_EXPONENT}; // largest of any packet's numbers
    double m_errorBound{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_COMMUNICATOR_H
