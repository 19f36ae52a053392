/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H

#include "line-use.h"
#include "network-fallback.h"
#include "offloading-communicator.h"

#include "ns3/host-device.h"
#include "ns3/nstime.h"
#include "ns3/scheduled-communicator.h"

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

/**
 * @ingroup distributed-training-innetwork
 *
 * A communicator that offloads all-reduce to the network; also broadcast, barrier and reduce if the
 * system supports them.
 *
 * When a rank gets no more answers (after a restart of the switch, for example), it does not
 * continue alone. With OnFailure "ring" all ranks fall back to the hosts, for the current operation
 * and all later ones (NetworkFallback). With "error", or if a rank does not take part in the
 * fallback, the error handler is called.
 */
class InNetworkCommunicator : public OffloadingCommunicator, private NetworkFallback::Owner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

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
    virtual std::vector<float> GetExpectedSum(
        const std::vector<std::vector<float>>& inputs,
        [[maybe_unused]] const std::vector<float>& result) const
    {
        return GetSum(inputs);
    }

    /** @param tensors all-reduces per training step, for a network that keeps weights */
    virtual void SetTensorsOfStep([[maybe_unused]] uint32_t tensors)
    {
    }

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
    const InNetworkCounters& GetCounters() const
    {
        return m_counters;
    }

    /**
     * @return largest share of its line that an operation filled; 0 if none had the packets of
     *         several windows, or if the limits are unknown
     */
    double GetLineUse() const
    {
        return m_lineUse.Get();
    }

    /**
     * Explains the share of the line that was filled.
     * @return one line: the limit of the system that kept the worker from filling its line, and the
     *         least value that would not; empty if it filled most of it, or if there were losses
     */
    std::string DescribeLimit() const
    {
        return m_counters.resent > 0 ? "" : m_lineUse.Describe(GetName());
    }

    /** @return whether all ranks have fallen back to the hosts permanently */
    bool HasFallenBack() const
    {
        return m_fallback.IsComplete();
    }

    /** @return reason of the fallback, one line; empty if there was none */
    const std::string& GetFailure() const
    {
        return m_fallback.GetReason();
    }

    // Communicator
    uint32_t GetSize() const override
    {
        return static_cast<uint32_t>(m_group.endpoints.size());
    }

    void SetErrorHandler(ErrorHandler handler) override;
    std::string GetWaitingFor() const override;

  protected:
    void DoDispose() override;

    /** @return Frame::protocol of the system's frames; the job is the receiver's key */
    virtual uint16_t GetProtocol() const = 0;

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

    /**
     * Completes the current operation.
     * @param sum its result, or empty (virtual payload); for a reduce at ranks other than the root,
     *        their own contribution
     */
    void Complete(std::vector<float> sum);

    /** @param limits of this worker */
    void SetLimits(const InNetworkLimits& limits)
    {
        m_lineUse.SetLimits(limits);
    }

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
    void Abort(const std::string& reason) override;

    /** @return job number of its frames */
    uint8_t GetJob() const
    {
        return m_group.job;
    }

    /** @return NIC of this rank */
    HostDevice& GetDevice() const
    {
        return *m_device;
    }

    /** @return time without an answer after which the network is considered failed */
    Time GetFailureTimeout() const
    {
        return m_failureTimeout;
    }

    /** @param packets number sent for the first time */
    void CountSent(uint64_t packets)
    {
        m_counters.sent += packets;
    }

    /** @param packets number retransmitted */
    void CountResent(uint64_t packets)
    {
        m_counters.resent += packets;
    }

    /** Counts an accepted sum. */
    void CountReceived()
    {
        m_counters.received++;
    }

    /** Counts a duplicate sum. */
    void CountDuplicate()
    {
        m_counters.duplicates++;
    }

  private:
    void SetOnFailure(std::string action);

    std::string GetOnFailure() const
    {
        return m_endsOnFailure ? "error" : "ring";
    }

    void OnFrame(Frame* frame);
    // NetworkFallback::Owner
    void OnFallback() override;

    NetworkFallback::Operation GetOperationInNetwork() const override
    {
        return {GetOperation(), GetRoot(), GetCurrent()->tensor};
    }

    void ContinueByHosts() override
    {
        Continue();
    }

    void OnResynchronization() override
    {
        TakeBack();
    }

    void Finish() override
    {
        OffloadingCommunicator::Finish();
    }

    // OffloadingCommunicator
    bool IsHeld() const override
    {
        return m_fallback.IsUnderWay();
    }

    bool HasOffload() const override
    {
        return !m_fallback.IsComplete();
    }

    Group m_group;
    Ptr<HostDevice> m_device;
    InNetworkCounters m_counters;
    LineUse m_lineUse;
    Time m_failureTimeout;
    Time m_noticeInterval;
    ErrorHandler m_onError;
    bool m_aborted{false};
    bool m_endsOnFailure{false};
    NetworkFallback m_fallback{*this};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_COMMUNICATOR_H
