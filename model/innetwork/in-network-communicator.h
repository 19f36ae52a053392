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
    uint64_t sent{0};       ///< packets sent for the first time
    uint64_t resent{0};     ///< packets retransmitted
    uint64_t received{0};   ///< sums accepted
    uint64_t duplicates{0}; ///< duplicate sums
};

/** What keeps a worker from filling its line, besides the line. */
struct InNetworkLimits
{
    std::string key;               ///< of the system, that limits the packets in flight
    uint64_t value{0};             ///< of the key
    uint64_t window{0};            ///< packets of a worker in flight with this value; 0: unknown
    double lineSeconds{0};         ///< time that a packet takes on the slowest line
    double recirculationBits{0};   ///< that a packet takes on the busiest recirculation port
    uint64_t recirculationRate{0}; ///< of that port, bit/s
};

/**
 * @ingroup distributed-training-innetwork
 *
 * A communicator that offloads all-reduce to the network; also broadcast, barrier and reduce if the
 * system supports them. A ScheduledCommunicator, "the hosts", runs all other operations. Operations
 * run one at a time, in issue order.
 *
 * When a rank gets no more answers (after a restart of the switch, for example), it does not
 * continue alone. With OnFailure "ring" all ranks fall back to the hosts, for the current operation
 * and all later ones (NetworkFallback). With "error", or if a rank does not take part in the
 * fallback, the error handler is called.
 */
class InNetworkCommunicator : public Communicator, private NetworkFallback::Owner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    InNetworkCommunicator();
    ~InNetworkCommunicator() override;

    /** A group of ranks served by the network. */
    struct Group
    {
        uint8_t job{0};                  ///< job number of its frames
        std::vector<uint32_t> endpoints; ///< by rank
        /// NIC with this rank's endpoint, where notices of a fallback go if the network's frames
        /// use another NIC; null: the same
        Ptr<HostDevice> device{};
    };

    /**
     * @param rank this rank
     * @param group of ranks, the same at every rank
     * @param device NIC of this rank, for the network's frames
     * @param hosts communicator for operations that are not offloaded
     */
    void SetGroup(uint32_t rank,
                  const Group& group,
                  Ptr<HostDevice> device,
                  Ptr<ScheduledCommunicator> hosts);

    /**
     * @param inputs tensor of each rank
     * @return the network's sum of the inputs, bit for bit
     */
    virtual std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const = 0;

    /**
     * @param inputs tensor of each rank
     * @param result the actual result
     * @return the sum that the result should equal, bit for bit. The order of arrival may allow
     *         several sums; this is the one to compare with
     */
    virtual std::vector<float> GetExpectedSum(const std::vector<std::vector<float>>& inputs,
                                              const std::vector<float>& result) const;

    /**
     * @param operation any operation
     * @return whether it is offloaded; only all-reduce, reduce, broadcast and barrier can be
     */
    virtual bool IsOffloaded(CollectiveOperation operation) const;
    /**
     * @param bytes size of an offloaded operation's tensor
     * @return whether the network makes it, not the hosts; the same at every rank
     */
    virtual bool IsChosen(uint64_t bytes) const;
    /** @return whether an all-reduce returns a sum, not weights kept in the network */
    virtual bool ReturnsSum() const;

    /** @param tensors all-reduces per training step, for a network that keeps weights */
    virtual void SetTensorsOfStep(uint32_t tensors);

    /** @return bytes of a value on the line per byte of it in memory: less than 1 if it is shorter
     */
    virtual double GetLineShare() const
    {
        return 1;
    }

    /** @return bytes of a large tensor, as in memory, that a packet has; 0: unknown */
    virtual double GetPacketBytes() const
    {
        return 0;
    }

    /** @return closed-form error bound of any element of the sums so far */
    virtual double GetErrorBound() const = 0;

    /** @return its counters */
    const InNetworkCounters& GetCounters() const;

    /**
     * @return largest share of its line that an operation filled; 0 if none had the packets of
     *         several windows, or if the limits are unknown
     */
    double GetLineUse() const;

    /**
     * Explains the share of the line that was filled.
     * @return one line: the limit of the system that kept the worker from filling its line, and the
     *         least value that would not; empty if it filled most of it, or if there were losses
     */
    std::string DescribeLimit() const;

    /** @return whether all ranks have fallen back to the hosts permanently */
    bool HasFallenBack() const;

    /** @return reason of the fallback, one line; empty if there was none */
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

    /** @return Frame::protocol of the system's frames; the job is the receiver's key */
    virtual uint16_t GetProtocol() const = 0;

    /**
     * Starts an operation with at least two ranks and, except for a barrier, a non-empty tensor.
     * Complete() ends it.
     * @param tensor of this rank, unchanged until the end
     */
    virtual void Begin(const Tensor& tensor) = 0;

    /**
     * Queues another operation of the network. Complete() ends it.
     * @param tensor to be filled in
     * @param done called when the tensor is filled in
     * @param begin starts the operation
     */
    void Queue(Ptr<Tensor> tensor, Done done, std::function<void()> begin);

    /** Ends the current operation, if any, without a result: no more frames, no more timers. */
    virtual void Cancel() = 0;

    /**
     * A frame of the system has arrived.
     * @param frame owned by the callee
     */
    virtual void OnData(Frame* frame) = 0;

    /**
     * A frame of the system has arrived while no offloaded operation is in progress and the hosts
     * have not taken over. By default it counts as late and is dropped.
     * @param frame owned by the callee
     */
    virtual void OnLateData(Frame* frame);

    /** @return description of the packet or event that the current operation waits for */
    virtual std::string GetMissing() const = 0;

    /** @return type of the current operation */
    CollectiveOperation GetOperation() const;

    /** @return root of the current operation, if it has one */
    uint32_t GetRoot() const;

    /**
     * Completes the current operation.
     * @param sum its result, or empty (virtual payload); for a reduce at ranks other than the root,
     *        their own contribution
     */
    void Complete(std::vector<float> sum);

    /** @param limits of this worker */
    void SetLimits(const InNetworkLimits& limits);

    /**
     * Measures the current operation, which is about to complete.
     * @param packets of the operation that the window limits
     * @param hostTime time that the host took before the first packet
     */
    void NoteRate(uint64_t packets, Time hostTime = Time(0));

    /**
     * Reports that the network no longer answers.
     * @param reason one line that names the missing answer
     */
    void GiveUp(const std::string& reason);

    /**
     * Reports an error that the hosts could not correct either.
     * @param reason one line
     */
    void Abort(const std::string& reason);

    /** @return job number of its frames */
    uint8_t GetJob() const;

    /** @return NIC of this rank */
    HostDevice& GetDevice() const;

    /** @return time without an answer after which the network is considered failed */
    Time GetFailureTimeout() const;

    /** @param packets number sent for the first time */
    void CountSent(uint64_t packets);
    /** @param packets number retransmitted */
    void CountResent(uint64_t packets);
    /** Counts an accepted sum. */
    void CountReceived();
    /** Counts a duplicate sum. */
    void CountDuplicate();

  private:
    /** An issued operation. */
    struct Operation
    {
        CollectiveRecord record;
        Ptr<Tensor> tensor;
        uint32_t root{0};
        ByteMatrix matrix;
        Done done;
        std::function<void()> begin; ///< starts an operation that is not a collective
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
    InNetworkLimits m_limits;
    double m_leastSeconds{0}; // per packet, of the fastest long operation; 0: there was none
    Time m_failureTimeout;
    Time m_noticeInterval;
    ErrorHandler m_onError;
    bool m_aborted{false};
    bool m_endsOnFailure{false};
    std::deque<Operation> m_queue;        // the first one is in progress if m_busy
    NetworkFallback::Operation m_current; // the current operation in the network
    bool m_busy{false};
    bool m_inNetwork{false}; // the current operation is offloaded
    uint64_t m_issued{0};
    NetworkFallback m_fallback;
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H
