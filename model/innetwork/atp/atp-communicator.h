/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_ATP_COMMUNICATOR_H

#include "atp-numbers.h"
#include "atp-recovery.h"
#include "atp-slots.h"
#include "atp-window.h"
#include "atp-wire-format.h"

#include "ns3/packet-worker.h"
#include "ns3/rdma-round-trip.h"
#include "ns3/slot-timers.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A worker of ATP (Lao et al., NSDI 2021, and the released client). It sends the packets of a
 * tensor to the job's servers, packet p to server p modulo their number; switches on the path
 * aggregate them where they can. The servers multicast the results, which acknowledge the packets
 * and advance the window. Congestion control sets the window size (AtpWindow).
 *
 * Float32 values are multiplied by ScalingFactor and rounded. A packet with a value above
 * LargestValue in magnitude goes to its server as floats; so does a packet that a server requests
 * as floats. With DataType int32 numbers must be whole and are added unchanged; an overflow is an
 * error.
 *
 * A packet is lost after ReorderingThreshold results for later packets, and retransmitted until its
 * result arrives: after 5/4 of the measured round trip and four deviations, which double each
 * time, up to RetransmissionTimeout. Any other may wait for a slow worker, and is retransmitted
 * each time RetransmissionTimeout expires; but once a packet of the tensor was lost, like a lost
 * one, after twice that time. Switches must not hold retransmissions. The first result of a tensor
 * waits for the slowest worker, so InitialTimeout replaces RetransmissionTimeout until then.
 */
class AtpCommunicator : public PacketWorker
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** A server. */
    struct Route
    {
        uint32_t server{0}; ///< its endpoint
        AtpHeader header;   ///< fields of all packets to it: the contributor and its fan-in
    };

    /** Job parameters that the controller gives a worker. */
    struct Session
    {
        std::vector<Route> routes; ///< by server
        uint32_t window{0};        ///< maximum packets in flight
        uint32_t slots{0};         ///< slots of each switch
        uint32_t elements{0};      ///< 32-bit integers per packet
        bool isExtended{false};    ///< whether packets have the extension byte of A2TP and ESA
        bool sharesLines{true};    ///< whether a server is on the host of a worker
    };

    /** @param session as configured at switches and servers; call SetGroup() before */
    void SetSession(const Session& session);

    /** @return the congestion control of the window */
    AtpWindow::Control GetControl() const
    {
        return m_control;
    }

    /** @return placement of the job's servers: auto, or hosts separated by commas */
    const std::string& GetServers() const
    {
        return m_servers;
    }

    /** @return threads of the client */
    uint32_t GetThreads() const
    {
        return m_threads;
    }

    /** @return results that servers made because the slot was taken */
    uint64_t GetCollisions() const
    {
        return m_collisions;
    }

    /** @return results of complete operations */
    uint64_t GetResults() const
    {
        return m_first;
    }

    // InNetworkCommunicator
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override
    {
        return GetExpectedSum(inputs, {});
    }

    std::vector<float> GetExpectedSum(const std::vector<std::vector<float>>& inputs,
                                      const std::vector<float>& result) const override;

  protected:
    std::string GetName() const override
    {
        return "atp";
    }

    uint16_t GetProtocol() const override
    {
        return AtpHeader::PROTOCOL;
    }

    void Begin(const Tensor& tensor) override;
    void Cancel() override;
    void OnData(Frame* frame) override;
    std::string GetMissing() const override;

  private:
    /** A packet in flight. */
    struct Slot
    {
        uint64_t packet{0};  ///< its number in the tensor
        bool isFloat{false}; ///< the packet carries floats
        int64_t sentAt{0};   ///< the only time that it was sent, ps; 0: it was sent again
        uint32_t losses{0};  ///< of its transmissions
    };

    void SetControl(std::string control);
    std::string GetControlName() const;

    uint32_t GetIndex(uint64_t packet) const
    {
        return static_cast<uint32_t>((m_first + packet) % m_slots.size());
    }

    bool NeedsFloats(uint64_t packet) const;
    void SendNew();
    void SendAgain(uint32_t index);
    void RepairLoss(uint32_t index);
    void Send(const Slot& slot, bool resend);
    void Process(Frame* frame);
    void HandleFloatRequest(uint32_t index);
    void TakeResult(const Frame& frame, uint32_t index);
    void OnTimeout(uint32_t index);

    Session m_session;
    std::vector<uint32_t> m_flowHashes; // by server
    AtpSlots m_slotOf;
    uint64_t m_collisions{0};
    AtpWindow m_window;
    SlotTimers m_timers; // by slot
    Time m_usualTimeout;
    RdmaRoundTrip m_roundTrip; // of packets that no worker had to send again
    AtpNumbers m_numbers;
    double m_scalingFactor;
    double m_largestValue;
    std::string m_servers;
    AtpWindow::Control m_control{AtpWindow::Control::ECN};
    uint32_t m_threads;
    Time m_baseRoundTrip;
    Time m_initialTimeout;
    Time m_timeout;
    uint32_t m_reorderingThreshold;
    uint8_t m_jobPriority;

    uint64_t m_first{0}; // packets of all earlier tensors
    uint64_t m_total{0}; // packets of the current tensor
    uint64_t m_base{0};  // first packet without a result
    uint64_t m_next{0};  // first packet not sent
    AtpRecovery m_recovery;
    std::vector<Slot> m_slots; // by packet modulo window
    bool m_hasResult{false};   // a result of the current tensor has arrived
    bool m_hasLoss{false};     // a packet of the current tensor was lost
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_COMMUNICATOR_H
