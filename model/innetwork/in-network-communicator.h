/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H

#include "network-fallback.h"

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

/** Counters of a worker. */
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
 * A communicator that offloads all-reduce to the network, and broadcast, barrier and reduce, if the
 * system has them. A ScheduledCommunicator, "the hosts", makes all other operations. Operations run
 * one at a time, in order of issue.
 *
 * When a rank gets no answers any more (the switch has restarted, say), it does not go on alone:
 * with OnFailure "ring" all ranks go over to the hosts, for the operation under way and all further
 * ones (NetworkFallback). With "error", or if a rank does not take part in that, the error handler
 * is called.
 */
class InNetworkCommunicator : public Communicator, private NetworkFallback::Owner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    InNetworkCommunicator();
    ~InNetworkCommunicator() override;

    /** A group of ranks that the network serves. */
    struct Group
    {
        uint8_t job{0};                  ///< number that its frames carry
        std::vector<uint32_t> endpoints; ///< of each rank
    };

    /**
     * @param rank this rank
     * @param group of ranks, the same at all of them
     * @param device NIC of this rank
     * @param hosts communicator for the operations that the network does not make
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
    virtual std::vector<float> GetExpectedSum(const std::vector<std::vector<float>>& inputs,
                                              const std::vector<float>& result) const;

    /**
     * @param operation any
     * @return whether the network makes it; of all-reduce, reduce, broadcast and barrier
     */
    virtual bool IsOffloaded(CollectiveOperation operation) const;
    /** @return whether an all-reduce makes a sum, not weights that are kept in the network */
    virtual bool ReturnsSum() const;

    /** @param tensors all-reduces of a step of training, for a network that keeps weights */
    virtual void SetTensorsOfStep(uint32_t tensors);

    /** @return the largest error of any element of the sums so far, as a closed form has it */
    virtual double GetErrorBound() const = 0;

    /** @return its counters */
    const InNetworkCounters& GetCounters() const;

    /** @return whether all ranks have gone over to the hosts, for good */
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

    /** @return Frame::protocol of the system's frames, in which the job is the receiver's key */
    virtual uint16_t GetProtocol() const = 0;

    /**
     * Begins an operation of more than one rank and, but for a barrier, more than nothing;
     * Complete() ends it.
     * @param tensor of this rank, not to be changed before the end
     */
    virtual void Begin(const Tensor& tensor) = 0;

    /**
     * Queues another operation of the network; Complete() ends it.
     * @param tensor to be filled in
     * @param done called when it is
     * @param begin begins it
     */
    void Queue(Ptr<Tensor> tensor, Done done, std::function<void()> begin);

    /** Ends the operation under way, if any, without a result: no more frames, no more timers. */
    virtual void Cancel() = 0;

    /**
     * A frame of the system has come.
     * @param frame owned by the callee
     */
    virtual void OnData(Frame* frame) = 0;

    /**
     * A frame of the system has come while no operation of the network's is under way, nor
     * have the hosts taken over. By default it is late, and dropped.
     * @param frame owned by the callee
     */
    virtual void OnLateData(Frame* frame);

    /** @return the packet or event that the operation under way waits for, in words */
    virtual std::string GetMissing() const = 0;

    /** @return which operation is under way */
    CollectiveOperation GetOperation() const;

    /** @return its root, if it has one */
    uint32_t GetRoot() const;

    /**
     * The operation under way is complete.
     * @param sum its result, or empty (virtual payload); of a reduce, at other ranks than the root,
     *        their own contribution
     */
    void Complete(std::vector<float> sum);

    /**
     * The network gives no answers any more.
     * @param reason one line that says which answer is missing
     */
    void GiveUp(const std::string& reason);

    /**
     * An error has occurred that the hosts could not correct either.
     * @param reason one line
     */
    void Abort(const std::string& reason);

    /** @return number of the job, which its frames carry */
    uint8_t GetJob() const;

    /** @return NIC of this rank */
    HostDevice& GetDevice() const;

    /** @return time without an answer after which there will be none */
    Time GetFailureTimeout() const;

    /** @param packets sent for the first time */
    void CountSent(uint64_t packets);
    /** @param packets sent again */
    void CountResent(uint64_t packets);
    /** A sum has come and is used. */
    void CountReceived();
    /** A sum has come that was there already. */
    void CountDuplicate();

  private:
    /** An operation that has been issued. */
    struct Operation
    {
        CollectiveRecord record;
        Ptr<Tensor> tensor;
        uint32_t root{0};
        ByteMatrix matrix;
        Done done;
        std::function<void()> begin; ///< of what is no collective operation
    };

    void Add(Operation operation);
    void SetOnFailure(std::string action);
    std::string GetOnFailure() const;
    void OnFrame(Frame* frame);
    // NetworkFallback::Owner
    void OnFallback() override;
    const NetworkFallback::Operation* GetOperationInNetwork() override;
    void ContinueByHosts() override;
    void OnResynchronization() override;
    void OnCompleted() override;
    void OnFallbackFailure(const std::string& reason) override;

    void StartNext();
    void EnterNetwork(const Operation& operation);
    void RunByHosts();
    void Finish();
    static void FinishByHosts(InNetworkCommunicator* self);

    uint32_t m_rank{0};
    Group m_group;
    Ptr<HostDevice> m_device;
    Ptr<ScheduledCommunicator> m_hosts;
    InNetworkCounters m_counters;
    Time m_failureTimeout;
    Time m_noticeInterval;
    ErrorHandler m_onError;
    bool m_aborted{false};
    bool m_endsOnFailure{false};
    std::deque<Operation> m_queue;        // the first one is under way if m_busy
    NetworkFallback::Operation m_current; // the one under way in the network
    bool m_busy{false};
    bool m_inNetwork{false}; // the one under way is the network's
    uint64_t m_issued{0};
    NetworkFallback m_fallback;
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H
