/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H

#include "ns3/event-id.h"
#include "ns3/host-device.h"
#include "ns3/nstime.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/traced-callback.h"

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/** What a worker has done. */
struct InNetworkCounters
{
    uint64_t sent{0};       ///< packets, without those sent again
    uint64_t resent{0};     ///< packets sent again
    uint64_t received{0};   ///< sums used
    uint64_t duplicates{0}; ///< sums that it had already
};

/**
 * @ingroup distributed-training-innetwork
 *
 * A communicator whose all-reduce is made in the network, and broadcast, barrier and reduce, if the
 * system has them. What the network cannot do the hosts do among themselves,
 * by a ScheduledCommunicator. Operations run one at a time, in order of issue.
 *
 * When a rank gets no answers any more (the switch has restarted, say), it does not go on alone:
 * with OnFailure "ring" the ranks tell each other how many all-reduces each has completed, by
 * notices that are repeated until all have them. Then the operation under way is made by the
 * hosts from the tensors, which are intact until then; or, if a rank has completed it already, that
 * rank sends its result to all, so that all have the same (of a reduce the ranks send what they
 * have contributed to the root, if that has no result). All further operations are the hosts'.
 * With "error", or if a rank does not answer notices either, the error handler is called.
 */
class InNetworkCommunicator : public Communicator
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** A group of ranks whose sums the network makes. */
    struct Group
    {
        uint8_t job{0};                  ///< number that its frames carry
        std::vector<uint32_t> endpoints; ///< of each rank
    };

    /**
     * @param rank this rank
     * @param group of ranks, the same at all of them
     * @param device NIC of this rank
     * @param hosts what the hosts do among themselves
     */
    void SetGroup(uint32_t rank,
                  const Group& group,
                  Ptr<HostDevice> device,
                  Ptr<ScheduledCommunicator> hosts);

    /**
     * @param inputs tensor of each rank
     * @return the sum that the network makes of them, bit for bit
     */
    virtual std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const = 0;

    /**
     * @param inputs tensor of each rank
     * @param result what came of them
     * @return of the sums that the network may make of them, as the order of arrival has it, the
     *         one that the result should be, bit for bit
     */
    virtual std::vector<float> GetSumFor(const std::vector<std::vector<float>>& inputs,
                                         const std::vector<float>& result) const;

    /**
     * @param operation any
     * @return whether the network makes it; of all-reduce, reduce, broadcast and barrier
     */
    virtual bool Makes(CollectiveOperation operation) const;
    /** @return whether an all-reduce makes a sum, not weights that are kept in the network */
    virtual bool IsSum() const;

    /** @param tensors all-reduces of a step of training, for a network that keeps weights */
    virtual void SetTensorsOfStep(uint32_t tensors);

    /** @return the largest error of any element of the sums so far, as a closed form has it */
    virtual double GetErrorBound() const = 0;

    /** @return what it has done */
    const InNetworkCounters& GetCounters() const;

    /** @return whether it has gone over to the hosts for good */
    bool HasFallenBack() const;

    /** @return why, one line; empty if it has not */
    const std::string& GetFailure() const;

    // Communicator
    uint32_t GetRank() const override;
    uint32_t GetSize() const override;
    void Send(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Start(CollectiveOperation operation,
               Ptr<Tensor> tensor,
               uint32_t root,
               Done done,
               ByteMatrix matrix = nullptr) override;
    void SetErrorHandler(ErrorHandler handler) override;
    std::string GetWaitingFor() const override;

  protected:
    void DoDispose() override;

    /** @return name of the system, such as switchml */
    virtual std::string GetName() const = 0;

    /**
     * Begins an operation of more than one rank and, but for a barrier, more than nothing;
     * Complete() ends it.
     * @param tensor of this rank, not to be changed before the end
     */
    virtual void Begin(const Tensor& tensor) = 0;

    /**
     * Queues something else that the network does; Complete() ends it.
     * @param tensor to be filled in
     * @param done called when it is
     * @param begin begins it
     */
    void Queue(Ptr<Tensor> tensor, Done done, std::function<void()> begin);

    /** Ends the operation under way, if any, without a result: no more frames, no more timers. */
    virtual void Halt() = 0;

    /**
     * A frame has come that is no notice.
     * @param frame owned by the callee
     */
    virtual void OnData(Frame* frame) = 0;

    /**
     * A frame has come that is no notice, while no operation of the network's is under way, nor
     * have the hosts taken over. By default it is late, and dropped.
     * @param frame owned by the callee
     */
    virtual void OnLateData(Frame* frame);

    /** @return what the operation under way waits for */
    virtual std::string GetMissing() const = 0;

    /** @return which operation is under way */
    CollectiveOperation GetOperation() const;

    /** @return its root, if it has one */
    uint32_t GetRoot() const;

    /**
     * The operation under way is complete.
     * @param sum its result, or empty (virtual payload); of a reduce, at other ranks than the root,
     *        what they have contributed
     */
    void Complete(std::vector<float> sum);

    /**
     * The network gives no answers any more.
     * @param reason one line that says which
     */
    void GiveUp(const std::string& reason);

    /**
     * Something is wrong that no other way of adding would make right.
     * @param reason one line
     */
    void Abort(const std::string& reason);

    uint32_t m_rank{0};           ///< this rank
    Group m_group;                ///< all ranks
    Ptr<HostDevice> m_device;     ///< its NIC
    Time m_failureTimeout;        ///< after so long without an answer there will be none
    InNetworkCounters m_counters; ///< what it has done

  private:
    /** An operation that was asked for. */
    struct Operation
    {
        CollectiveRecord record;
        Ptr<Tensor> tensor;
        uint32_t root{0};
        ByteMatrix matrix;
        Done done;
        std::function<void()> begin; ///< of what is no collective operation
    };

    /** What is known of another rank while all go over to the hosts. */
    struct Peer
    {
        bool told{false};      ///< its notice has come
        bool heard{false};     ///< it has had ours
        uint32_t completed{0}; ///< operations of the network it has completed, modulo 2^32
    };

    /** How sums are made. */
    enum class Mode : uint8_t
    {
        NETWORK,  ///< by the network
        AGREEING, ///< by nobody: the ranks tell each other how far they are
        HOSTS     ///< by the hosts
    };

    void Add(Operation operation);
    void SetOnFailure(std::string action);
    std::string GetOnFailure() const;
    void OnFrame(Frame* frame);
    void OnNotice(const Frame& frame);
    void SendNotice(uint32_t rank);
    void SendNotices();
    std::string GetSilentRanks() const;
    void Agree(const std::string& reason);
    void Decide();
    bool IsBehind(uint32_t rank, uint32_t first) const;
    void HelpOthers(uint32_t first);
    void CatchUp(uint32_t first);
    static void AddGathered(InNetworkCommunicator* self);
    void StartNext();
    void RunByHosts();
    void Finish();
    static void FinishByHosts(InNetworkCommunicator* self);
    static void Ignore();

    Ptr<ScheduledCommunicator> m_hosts;
    ErrorHandler m_onError;
    bool m_aborted{false};
    bool m_endsOnFailure{false};
    Time m_noticeInterval;
    std::deque<Operation> m_queue; // the first one is under way if m_busy
    bool m_busy{false};
    bool m_inNetwork{false}; // it is one that the network makes
    uint64_t m_issued{0};
    uint32_t m_completed{0}; // operations the network has completed
    Operation m_latest;      // the latest of them, with a copy of its result
    Mode m_mode{Mode::NETWORK};
    std::vector<Peer> m_peers;           // by rank
    std::vector<Ptr<Tensor>> m_gathered; // reduce, after a failure: what other ranks contribute
    uint32_t m_missing{0};               // of these
    std::string m_reason;                // of giving up
    Time m_deadline;                     // for all to agree
    EventId m_notices;
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H
