/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SCHEDULED_COMMUNICATOR_H

#include "chunk-layout.h"
#include "chunk-store.h"
#include "communicator.h"
#include "host-model.h"
#include "shared-transport.h"

#include "ns3/data-rate.h"
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
    /// Step of a message of Send(); its collective is its number among those to the same rank. The
    /// message is 0, but of SendApart() 1.
    static constexpr uint32_t PEER_TO_PEER = (1 << STEP_BITS) - 1;
    /// Step of a message, without bytes, by which rank 0 says that a collective is to be started.
    static constexpr uint32_t TURN = PEER_TO_PEER - 1;

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

/** What is known of one message, for trace sources. Ranks are those of the whole transport. */
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
    uint32_t rank{0};         ///< whose view, by its rank in the whole transport
    uint32_t communicator{0}; ///< number of the communicator
    uint64_t collective{0};   ///< number in the communicator, from 0, in order of issue
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
 * Carries out CollectiveSchedules over a MessageTransport, for one rank. A received chunk costs its
 * size / ReduceRate before it is added.
 *
 * Of the collectives of a communicator ActiveCollectives run at a time (1, as NCCL on one stream).
 * Which of the others is next is up to Order. In order of issue (fifo) all ranks choose the same;
 * otherwise, as what has been issued differs from rank to rank, rank 0 chooses and tells the others
 * by a message without bytes, as Horovod's coordinator does, lest ranks wait for each other.
 *
 * Any number of communicators share a rank's transport: see Split(). Their collectives run beside
 * each other.
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

    /**
     * Makes a communicator of some ranks of this one, over the same transport and with the same
     * attributes. To be called at all these ranks.
     * @param ranks of this communicator in the order of the new one, this rank among them
     * @param planner of its collectives
     * @param number of the new one, 1 to 255, as in Setup(); groups without common ranks may have
     *        the same
     * @return it; kept alive by this one
     */
    Ptr<ScheduledCommunicator> Split(const std::vector<uint32_t>& ranks,
                                     Planner planner,
                                     uint32_t number);

    /**
     * Lets collectives cost what their hosts need.
     * @param model of the hosts
     * @param isLocal whether a rank is in this one's server
     */
    void SetHostModel(HostModel model, std::function<bool(uint32_t)> isLocal);

    /**
     * As Send(), but apart from the order of what that sends; once for each peer.
     * @param tensor to be sent
     * @param peer rank that calls ReceiveApart()
     * @param done called when it has been handed to the transport
     */
    void SendApart(Ptr<Tensor> tensor, uint32_t peer, Done done);

    /**
     * The other end of SendApart(); once for each peer.
     * @param tensor to be filled in
     * @param peer rank that sends it
     * @param done called when it is
     */
    void ReceiveApart(Ptr<Tensor> tensor, uint32_t peer, Done done);

    // Communicator
    void SetErrorHandler(ErrorHandler handler) override;
    uint32_t GetRank() const override;
    uint32_t GetSize() const override;
    void Send(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done) override;

    void Start(CollectiveOperation operation,
               Ptr<Tensor> tensor,
               uint32_t root,
               Done done,
               ByteMatrix matrix = nullptr) override;
    std::string GetWaitingFor() const override;

    /** @return messages received so far, those of split communicators not included */
    uint64_t GetReceivedMessages() const;

    /** @see MessageRecord */
    typedef void (*MessageTracedCallback)(const MessageRecord& message);
    /** @see CollectiveRecord */
    typedef void (*CollectiveTracedCallback)(const CollectiveRecord& collective);

  private:
    /** Which of the collectives that wait is the next to run. */
    enum Order
    {
        FIFO,    ///< the one that was issued first
        LIFO,    ///< the one that was issued last
        PRIORITY ///< the one of highest Tensor::priority; of several the one issued first
    };

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
        HostCost host;
        bool waiting{false}; // for its host to start it
        std::unique_ptr<ChunkLayout> layout;
        std::unique_ptr<ChunkStore> store; // real payload
        std::vector<bool> complete;        // per action
        std::set<uint32_t> adding;         // actions that take their time: hops, additions
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
    void SetOrder(std::string name);
    std::string GetOrder() const;
    void Join(uint32_t rank, uint32_t size, uint32_t number, const std::vector<uint32_t>& members);
    std::deque<Active>::iterator FindNext();
    void Announce(uint64_t collective);
    void StartNext();
    void BeginActive(uint64_t collective);
    void RunReady(Active& active);
    void Begin(Active& active, uint32_t index);
    void Take(Active& active, uint32_t index, Ptr<ByteBuffer> payload);
    void Reckon(Active& active, uint32_t index, const ScheduleAction& action);
    void ReckonLater(uint64_t collective, uint32_t index);
    void Complete(Active& active, uint32_t index);
    void CompleteLater(uint64_t collective, uint32_t index);
    bool IsReady(const Active& active, uint32_t index) const;
    uint64_t MakeTag(uint64_t collective, uint32_t step, uint32_t message) const;
    MessageRecord MakeRecord(uint32_t from, uint32_t to, uint64_t tag, uint64_t bytes) const;
    static void Call(Done done);
    void SendTagged(Ptr<Tensor> tensor, uint32_t peer, uint64_t tag, Done done);
    void ReceiveTagged(Ptr<Tensor> tensor, uint32_t peer, uint64_t tag, Done done);
    void Deliver(const Expected& expected, uint64_t bytes, const Ptr<ByteBuffer>& payload);
    void Finish(Active& active);
    void OnMessage(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload);
    void OnError(uint32_t peer, const std::string& reason) const;
    Active* Find(uint64_t collective);

    uint32_t m_rank{0};
    uint32_t m_size{1};
    uint32_t m_number{0};
    Ptr<SharedTransport> m_transport;
    Planner m_planner;
    HostModel m_hostModel; // null: hosts need no time
    std::function<bool(uint32_t)> m_isLocal;
    ErrorHandler m_onError;
    std::vector<Ptr<ScheduledCommunicator>> m_split;
    uint32_t m_activeLimit;
    Order m_order;
    DataRate m_reduceRate;
    uint64_t m_issued{0};
    uint64_t m_receivedMessages{0};
    std::list<Active> m_active;
    std::deque<Active> m_queue;
    std::deque<uint64_t> m_turns; // collectives that rank 0 has told to start, as in tags
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
