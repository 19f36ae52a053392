/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_PORT_H
#define DISTRIBUTED_TRAINING_RDMA_PORT_H

#include "rdma-carrier.h"
#include "rdma-send-scheduler.h"
#include "rdma-settings.h"
#include "rdma-timer-watch.h"

#include "ns3/fabric-port.h"
#include "ns3/simulator.h"
#include "ns3/steady-watch.h"
#include "ns3/traced-callback.h"
#include "ns3/training-event-loop.h"

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The interface of a NIC to its queue pairs: settings, scheduling, control frames and timers. It
 * does not depend on the types of queue pairs.
 */
class RdmaPort : public LongMessageSource
{
  public:
    /** The congestion control has changed a rate. (queue pair number, bit/s) */
    typedef void (*RateTracedCallback)(uint32_t queuePair, double rate);
    /** A packet is retransmitted. (queue pair number, 64-bit PSN) */
    typedef void (*RetransmissionTracedCallback)(uint32_t queuePair, uint64_t psn);
    /** A work request is complete. (queue pair number, work request number) */
    typedef void (*CompletionTracedCallback)(uint32_t queuePair, uint64_t request);

    /** @return settings shared by all its queue pairs */
    const RdmaSettings& GetSettings() const
    {
        return m_settings;
    }

    /** @return source endpoint of its frames */
    uint32_t GetEndpoint() const
    {
        return m_endpoint;
    }

    /**
     * A queue pair may have a packet to send.
     * @param queue the send queue of a queue pair of this NIC
     */
    void Schedule(RdmaSendQueue& queue)
    {
        if (m_carrier)
        {
            m_carrier->SendAll(queue);
            return;
        }
        m_scheduler.Schedule(queue);
    }

    /**
     * Sends a control frame before any data.
     * @param frame ACK, NAK or CNP
     */
    void SendControl(Frame* frame)
    {
        m_carrier ? m_carrier->Transmit(frame) : m_line->Send(frame);
    }

    /** @return what takes the packets of its queue pairs in place of messages, or null */
    RdmaCarrier* GetCarrier() const
    {
        return m_carrier;
    }

    /** A message may be sent from now on. */
    void CountStart()
    {
        m_started++;
    }

    /** @param count messages added whose sending will be reported, see Message::sent */
    void CountReports(int64_t count)
    {
        m_reports += count;
    }

    /** @return id of its node; none if there is a carrier, whose owner catches up by itself */
    uint32_t GetNodeId() const
    {
        return m_line ? m_line->GetNodeId() : Simulator::NO_CONTEXT;
    }

    /** Makes sure that the NIC's state is that of the current time; what looks at it calls this. */
    void CatchUp() const
    {
        if (EventLoop::IsBehind())
        {
            EventLoop::CatchUp(GetNodeId());
        }
    }

    /** @return what learns of its long messages, or null */
    SteadyWatch* GetSteadyWatch() const
    {
        return m_line->GetSteadyWatch();
    }

    /** @return the periodic check of retransmission timers */
    RdmaTimerWatch& GetTimers()
    {
        return m_timers;
    }

    /** A packet of one of its queue pairs was lost. */
    void NotifyLoss()
    {
        m_hasLosses = true;
    }

    /** @return whether NotifyLoss() was called: the network is not lossless */
    bool HasLosses() const
    {
        return m_hasLosses;
    }

    /**
     * Traces a new rate.
     * @param queuePair number of a queue pair of this NIC
     * @param rate the new rate, bit/s
     */
    void NotifyRate(uint32_t queuePair, double rate)
    {
        m_rateTrace(queuePair, rate);
    }

    /**
     * Traces a retransmission.
     * @param queuePair number of a queue pair of this NIC
     * @param psn PSN of the retransmitted packet
     */
    void NotifyRetransmission(uint32_t queuePair, uint64_t psn)
    {
        m_retransmissionTrace(queuePair, psn);
    }

    /**
     * Traces a completion.
     * @param queuePair number of a queue pair of this NIC
     * @param request number of the work request
     */
    void NotifyCompletion(uint32_t queuePair, uint64_t request)
    {
        m_completed++;
        m_completionTrace(queuePair, request);
    }

  protected:
    FabricPort* m_line{nullptr};     ///< port of the device; null: there is a carrier
    RdmaCarrier* m_carrier{nullptr}; ///< @see GetCarrier()
    uint32_t m_endpoint{0};          ///< @see GetEndpoint()
    RdmaSettings m_settings{};       ///< @see GetSettings()
    RdmaSendScheduler m_scheduler;   ///< schedules the queue pairs on the port
    RdmaTimerWatch m_timers;         ///< @see GetTimers()
    uint64_t m_started{0};           ///< messages that may be sent, or have been
    uint64_t m_completed{0};         ///< of these, acknowledged ones
    int64_t m_reports{0};            ///< messages whose sending will be reported
    bool m_hasLosses{false};         ///< @see HasLosses()

    TracedCallback<uint32_t, double> m_rateTrace;             ///< @see RateTracedCallback
    TracedCallback<uint32_t, uint64_t> m_retransmissionTrace; ///< @see RetransmissionTracedCallback
    TracedCallback<uint32_t, uint64_t> m_completionTrace;     ///< @see CompletionTracedCallback
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_PORT_H
