/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H

#include "chunk-layout.h"
#include "chunk-store.h"
#include "communicator.h"

#include "ns3/data-rate.h"
#include "ns3/message-transport.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace ns3::training
{

/** What the two ends of a message know it by, in the 64 bits of a transport's tag. */
struct MessageTag
{
    static constexpr uint32_t COMMUNICATOR_BITS = 8; ///< top: number of the communicator
    static constexpr uint32_t COLLECTIVE_BITS = 20;  ///< number of the collective, modulo
    static constexpr uint32_t STEP_BITS = 20;        ///< step of the algorithm
    static constexpr uint32_t MESSAGE_BITS = 16;     ///< number among those of the step
    /// Step of a message of Send(); its collective is its number among those to the same rank.
    static constexpr uint32_t PEER_TO_PEER = (1 << STEP_BITS) - 1;

    uint32_t communicator; ///< number of the communicator
    uint64_t collective;   ///< number of the collective, modulo 2^20
    uint32_t step;         ///< step of the algorithm
    uint32_t message;      ///< number among the messages of this step to the same rank

    /** @return the tag */
    uint64_t Pack() const;

    /**
     * @param tag of a message
     * @return what is in it
     */
    static MessageTag Unpack(uint64_t tag);
};

/** What is known of one message, for trace sources. Times are simulated. */
struct MessageRecord
{
    uint32_t source{0};      ///< rank that sent it
    uint32_t destination{0}; ///< rank that received it
    uint64_t collective{0};  ///< see MessageTag
    uint32_t step{0};        ///< step of the algorithm
    uint32_t message{0};     ///< number among the messages of this step to the same rank
    uint64_t tag{0};         ///< as the transport sees it
    uint64_t bytes{0};       ///< size
    Time time;               ///< Send: when it was handed to the transport; Receive: when its last
                             ///< byte was in
};

/** What is known of one collective at one rank, for trace sources. Times are simulated. */
struct CollectiveRecord
{
    uint32_t rank{0};       ///< whose view
    uint64_t collective{0}; ///< number, from 0, in order of issue
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< what it did
    std::string algorithm;                                          ///< how
    uint64_t bytes{0};                                              ///< size of the whole vector
    Time issued;                                                    ///< when it was asked for
    Time started;                                                   ///< when its turn came
    Time finished; ///< when it was complete at this rank
};

/**
 * @ingroup distributed-training-collective
 *
 * Carries out CollectiveSchedules over a MessageTransport, for one rank. Collectives of a
 * communicator run in order of issue, ActiveCollectives of them at a time (1, as NCCL on one
 * stream). A received chunk costs its size / ReduceRate before it is added.
 */
class ScheduledCommunicator : public Communicator
{
  public:
    /**
     * Gives the plan for a collective, the same at every rank.
     * (operation, size of the whole vector in bytes, root)
     */
    using Planner = std::function<
        std::shared_ptr<const CollectiveSchedule>(CollectiveOperation, uint64_t, uint32_t)>;

    /** Called when a peer cannot be reached any more. (peer rank, one line that says so) */
    using ErrorHandler = std::function<void(uint32_t, const std::string&)>;

    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param rank this rank
     * @param size number of ranks
     * @param transport connected to every peer that a plan names
     * @param planner of the collectives
     * @param number of the communicator, below 256; no two ranks are both in two communicators of
     *        one number
     */
    void Setup(uint32_t rank,
               uint32_t size,
               Ptr<MessageTransport> transport,
               Planner planner,
               uint32_t number = 0);

    /** @param handler of failures */
    void SetErrorHandler(ErrorHandler handler);

    // Communicator
    uint32_t GetRank() const override;
    uint32_t GetSize() const override;
    void AllReduce(Ptr<Tensor> tensor, Done done) override;
    void ReduceScatter(Ptr<Tensor> tensor, Done done) override;
    void AllGather(Ptr<Tensor> tensor, Done done) override;
    void Broadcast(Ptr<Tensor> tensor, uint32_t root, Done done) override;
    void Reduce(Ptr<Tensor> tensor, uint32_t root, Done done) override;
    void AllToAll(Ptr<Tensor> tensor, Done done) override;
    void AllToAllV(Ptr<Tensor> tensor, ByteMatrix matrix, Done done) override;
    void Barrier(Done done) override;
    void SendReceive(Ptr<Tensor> tensor, Done done) override;
    void Send(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done) override;

    /**
     * Starts any of the collective operations.
     * @param operation what to do
     * @param tensor the vector
     * @param root broadcast, reduce: the root
     * @param done called when it is complete at this rank
     * @param matrix all-to-all-v: bytes from each rank to each
     */
    void Start(CollectiveOperation operation,
               Ptr<Tensor> tensor,
               uint32_t root,
               Done done,
               ByteMatrix matrix = nullptr);

    /** @return the rank, collective, step and message it waits for; empty if for nothing */
    std::string GetWaitingFor() const;

    /** @return messages received so far: rises as long as there is progress */
    uint64_t GetReceivedMessages() const;

    /** @see MessageRecord */
    typedef void (*MessageTracedCallback)(const MessageRecord& message);
    /** @see CollectiveRecord */
    typedef void (*CollectiveTracedCallback)(const CollectiveRecord& collective);

  private:
    /** What a message is known by at the receiver: its peer and its tag. */
    using MessageKey = std::pair<uint32_t, uint64_t>;

    /** A collective under way. */
    struct Active
    {
        CollectiveRecord record;
        std::shared_ptr<const CollectiveSchedule> schedule;
        Ptr<Tensor> tensor;
        ByteMatrix matrix;
        Done done;
        std::unique_ptr<ChunkLayout> layout;
        std::unique_ptr<ChunkStore> store; // real payload
        std::vector<bool> complete;        // per action
        std::set<uint32_t> adding;         // actions whose additions take their time
        std::deque<uint32_t> ready;        // actions to begin now
        uint64_t left{0};                  // actions not complete
    };

    /** A tensor to be received from one rank. */
    struct Expected
    {
        Ptr<Tensor> tensor;
        Done done;
    };

    /** A message that came before its receive had its turn. */
    struct Early
    {
        uint64_t bytes;
        Ptr<ByteBuffer> payload;
    };

    void DoDispose() override;
    void StartNext();
    void RunReady(Active& active);
    void Begin(Active& active, uint32_t index);
    void Take(Active& active, uint32_t index, Ptr<ByteBuffer> payload);
    void Reckon(Active& active, uint32_t index, const ScheduleAction& action);
    void Complete(Active& active, uint32_t index);
    void CompleteLater(uint64_t collective, uint32_t index);
    bool IsReady(const Active& active, uint32_t index) const;
    uint64_t MakeTag(uint64_t collective, uint32_t step, uint32_t message) const;
    MessageRecord MakeRecord(uint32_t from, uint32_t to, uint64_t tag, uint64_t bytes) const;
    static void Call(Done done);
    void Deliver(const Expected& expected, uint64_t bytes, const Ptr<ByteBuffer>& payload);
    void Finish(Active& active);
    void OnMessage(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload);
    void OnError(uint32_t peer, const std::string& reason);
    Active* Find(uint64_t collective);

    uint32_t m_rank{0};
    uint32_t m_size{1};
    uint32_t m_number{0};
    Ptr<MessageTransport> m_transport;
    Planner m_planner;
    ErrorHandler m_onError;
    uint32_t m_activeLimit;
    DataRate m_reduceRate;
    uint64_t m_issued{0};
    uint64_t m_receivedMessages{0};
    Time m_reduceFree;
    std::list<Active> m_active;
    std::deque<Active> m_queue;
    std::map<MessageKey, Early> m_early;
    std::map<MessageKey, Expected> m_expected; // by Receive()
    std::map<uint32_t, uint64_t> m_sentTo;     // by Send(): tensors, per rank
    std::map<uint32_t, uint64_t> m_askedOf;    // by Receive(): tensors, per rank
    TracedCallback<const MessageRecord&> m_sendTrace;
    TracedCallback<const MessageRecord&> m_receiveTrace;
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H
