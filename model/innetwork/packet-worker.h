/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PACKET_WORKER_H
#define DISTRIBUTED_TRAINING_PACKET_WORKER_H

#include "contribution-check.h"
#include "in-network-communicator.h"
#include "payload-values.h"
#include "worker-cores.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A worker that sends a tensor by frames of 32-bit numbers and gets an answer to each. It knows the
 * packets of a tensor and the fields that all their frames have. A simulation-only checksum in each
 * packet verifies that every sum contains each worker's contribution exactly once.
 */
class PacketWorker : public InNetworkCommunicator
{
  public:
    // InNetworkCommunicator
    double GetPacketBytes() const override
    {
        return static_cast<double>(sizeof(float) * m_elements);
    }

    double GetErrorBound() const override
    {
        return m_errorBound;
    }

  protected:
    /**
     * Adds the attribute DataType.
     * @param type of the worker
     * @param coding what becomes of float32 values
     * @return the type
     */
    static TypeId AddDataType(TypeId type, const std::string& coding);

    /**
     * Adds the attributes PacketCost, Cores and Priority.
     * @param type of the worker
     * @param answer to a packet, such as "a sum"
     * @param cores help of Cores; empty: it has no such attribute
     * @param most maximum of Cores
     * @return the type
     */
    static TypeId AddPacketAttributes(TypeId type,
                                      const std::string& answer,
                                      const std::string& cores = "",
                                      uint32_t most = UINT32_MAX);

    /**
     * Call SetGroup() before.
     * @param elements numbers per packet
     */
    void SetPackets(uint32_t elements);

    /**
     * Starts a tensor.
     * @param tensor of this rank
     * @return whether its values fit DataType; otherwise the run is aborted
     */
    bool BeginTensor(const Tensor& tensor);

    // InNetworkCommunicator
    void DoDispose() override;
    void Cancel() override;

    /**
     * @param bytes size of a tensor
     * @return number of its packets
     */
    uint64_t GetPackets(uint64_t bytes) const
    {
        return (bytes + sizeof(float) * m_elements - 1) / (sizeof(float) * m_elements);
    }

    /**
     * @param packet number in a tensor
     * @param values of the tensor
     * @return range of the packet's values, [first, end)
     */
    std::pair<uint64_t, uint64_t> GetRange(uint64_t packet, uint64_t values) const
    {
        const uint64_t begin = packet * m_elements;
        return {std::min(begin, values), std::min(begin + m_elements, values)};
    }

    /**
     * @param header of the system
     * @param bytes size of the frame
     * @param payloadBytes of these
     * @param destination endpoint
     * @param flowHash of the flow to it
     * @return a frame of this worker; with real payload its values are 0
     */
    template <class Header>
    Frame* MakeFrame(const Header& header,
                     uint32_t bytes,
                     uint32_t payloadBytes,
                     uint32_t destination,
                     uint32_t flowHash) const
    {
        Frame* frame = Frame::Make(header);
        frame->bytes = bytes;
        frame->payloadBytes = payloadBytes;
        frame->source = GetDevice().GetEndpoint();
        frame->destination = destination;
        frame->flowHash = flowHash;
        frame->priority = m_priority;
        if (m_tensor->IsReal())
        {
            MakePayload(*frame, payloadBytes);
        }
        return frame;
    }

    /**
     * @param answer what is missing, such as "answer"
     * @param preposition what stands between it and its packet, such as "to"
     * @param packet number in the job
     * @param slot of the packet
     * @param silence time without any answer
     * @return reason to give up the network
     */
    std::string DescribeSilence(const std::string& answer,
                                const std::string& preposition,
                                uint64_t packet,
                                uint32_t slot,
                                Time silence) const;

    const Tensor* m_tensor{nullptr}; ///< the current tensor; null: none
    std::vector<float> m_result;     ///< of the current tensor, so far
    double m_errorBound{0};          ///< of all sums so far
    uint32_t m_elements{1};          ///< numbers per packet
    bool m_isInteger{false};         ///< DataType is int32
    Time m_packetCost;               ///< CPU time per packet
    uint32_t m_coreCount{1};         ///< number of cores
    WorkerCores m_cores;             ///< share the packets
    ContributionCheck m_check;       ///< of the group

  private:
    void SetDataType(std::string type);
    std::string GetDataType() const;

    uint8_t m_priority{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PACKET_WORKER_H
