/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef ADDER_COMMUNICATOR_H
#define ADDER_COMMUNICATOR_H

#include "ns3/in-network-communicator.h"
#include "ns3/slot-timers.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * A worker of the adder. It sends a tensor as fixed-point numbers, packet by packet, and receives
 * the sums. It retransmits a packet whose sum does not arrive. If no sum arrives at all, the base
 * class falls back to the hosts.
 */
class AdderCommunicator : public ns3::training::InNetworkCommunicator
{
  public:
    /** The parameters of a job. */
    struct Session
    {
        uint32_t switchEndpoint; ///< endpoint of the adding switch
        uint32_t window;         ///< packets in flight
        uint32_t elements;       ///< numbers per packet
        uint32_t fractionBits;   ///< fixed-point bits after the binary point
    };

    static ns3::TypeId GetTypeId();

    /** @param session of the job; call SetGroup() before */
    void SetSession(const Session& session);

    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;
    double GetErrorBound() const override;

  protected:
    void DoDispose() override;
    std::string GetName() const override;
    uint16_t GetProtocol() const override;
    void Begin(const ns3::training::Tensor& tensor) override;
    void Cancel() override;
    void OnData(ns3::training::Frame* frame) override;
    std::string GetMissing() const override;

  private:
    void Send(uint32_t packet);
    void SendFrame(uint32_t packet);
    void OnSilence(ns3::Time silence);
    int32_t ToFixedPoint(float value) const;
    float ToFloat(int32_t value) const;

    Session m_session{};
    ns3::Time m_timeout; // attribute
    ns3::training::SlotTimers m_timers;
    const ns3::training::Tensor* m_tensor{nullptr}; // of the current operation
    std::vector<float> m_sum;
    uint32_t m_first{0};            // number of the tensor's first packet in the job, modulo 2^32
    uint32_t m_next{0};             // number of the next tensor's first packet
    uint32_t m_packets{0};          // of the tensor
    uint32_t m_received{0};         // packets whose sum has arrived
    std::vector<uint32_t> m_flying; // by window slot: packet in flight
};

#endif // ADDER_COMMUNICATOR_H
