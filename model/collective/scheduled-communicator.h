/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H

#include "collective-schedule.h"
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

namespace ns3::training
{

/** What is known of one message, for trace sources. Times are simulated. */
struct MessageRecord
{
    uint32_t source{0};      ///< rank that sent it
    uint32_t destination{0}; ///< rank that received it
    uint64_t collective{0};  ///< number of the collective modulo 2^24, from 0, in order of issue
    uint32_t step{0};        ///< step of the algorithm
    uint32_t chunk{0};       ///< number of the chunk
    uint64_t tag{0};         ///< collective, step and chunk as the transport sees them
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
     * Gives the plan for a collective, FillNext() done; the same at every rank.
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
     */
    void Setup(uint32_t rank, uint32_t size, Ptr<MessageTransport> transport, Planner planner);

    /** @param handler of failures */
    void SetErrorHandler(ErrorHandler handler);

    // Communicator
    uint32_t GetRank() const override;
    uint32_t GetSize() const override;
    void AllReduce(Ptr<Tensor> tensor, Done done) override;
    void ReduceScatter(Ptr<Tensor> tensor, Done done) override;
    void AllGather(Ptr<Tensor> tensor, Done done) override;
    void Broadcast(Ptr<Tensor> tensor, uint32_t root, Done done) override;

    /**
     * Starts any of these operations.
     * @param operation what to do
     * @param tensor the vector
     * @param root broadcast: rank that has the data
     * @param done called when it is complete at this rank
     */
    void Start(CollectiveOperation operation, Ptr<Tensor> tensor, uint32_t root, Done done);

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
        Done done;
        std::vector<uint32_t> missing;          // per action, those it waits for
        std::map<MessageKey, uint32_t> waiting; // receives whose turn has come
        std::deque<uint32_t> ready;             // actions to begin now
        uint64_t left{0};                       // actions not complete
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
    void Begin(Active& active, uint32_t action);
    void Take(Active& active, uint32_t action, Ptr<ByteBuffer> payload);
    void Complete(Active& active, uint32_t action);
    void CompleteLater(uint64_t collective, uint32_t action);
    void Finish(Active& active);
    void OnMessage(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload);
    void OnError(uint32_t peer, const std::string& reason);
    Active* Find(uint64_t collective);

    uint32_t m_rank{0};
    uint32_t m_size{1};
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
    TracedCallback<const MessageRecord&> m_sendTrace;
    TracedCallback<const MessageRecord&> m_receiveTrace;
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H
