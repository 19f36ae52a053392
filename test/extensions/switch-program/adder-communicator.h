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
 * A worker of the adder: sends a tensor as fixed-point numbers, packet by packet, and receives the
 * sums. It sends a packet again when its sum does not come; when no sum comes at all, the base
 * class leaves the operation to the hosts.
 */
class AdderCommunicator : public ns3::training::InNetworkCommunicator
{
  public:
    /** The parameters of a job. */
    struct Session
    {
        uint32_t switchEndpoint; ///< of the switch that adds
        uint32_t window;         ///< packets in flight
        uint32_t elements;       ///< numbers in a packet
        uint32_t fractionBits;   ///< of a number, behind the binary point
    };

    static ns3::TypeId GetTypeId();

    /** @param session of the job; after SetGroup() */
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
    const ns3::training::Tensor* m_tensor{nullptr}; // of the operation under way
    std::vector<float> m_sum;
    uint32_t m_first{0};            // number of the tensor's first packet in the job, modulo 2^32
    uint32_t m_next{0};             // number of the next tensor's first packet
    uint32_t m_packets{0};          // of the tensor
    uint32_t m_received{0};         // of these, with their sums
    std::vector<uint32_t> m_flying; // by slot of the window: packet of the tensor
};

#endif // ADDER_COMMUNICATOR_H
