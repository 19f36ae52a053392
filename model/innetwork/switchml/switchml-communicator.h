/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SWITCHML_COMMUNICATOR_H

#include "ns3/contribution-check.h"
#include "ns3/in-network-communicator.h"
#include "ns3/slot-timers.h"
#include "ns3/unreliable-receiver.h"
#include "ns3/worker-cores.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A worker of SwitchML (Sapio et al., NSDI 2021, algorithm 4, and the released DPDK client): keeps
 * a window of packets at the switch, one for each of its slots; the sum that comes back frees the
 * slot for the next packet. Packet p uses slot p modulo Window, and its two versions in turn.
 *
 * Float32 tensors are quantized block by block, a packet being a block; the exponent that all
 * workers agree on travels one window ahead of the block, so a tensor takes one window of packets
 * more. With DataType int32 numbers must be whole, and are added as they are.
 *
 * With RDMA framing the unit is a message of several packets with slots next to each other, sent by
 * RDMA WRITE over an unreliable connection, one for each message in flight. Exponents are those of
 * a message, in its immediate data. If a packet is lost, the message has no answer, and all of it
 * is sent again; what the switch has of it already changes nothing.
 *
 * A packet or message without answer is sent again after RetransmissionTimeout, which doubles after
 * TimeoutThreshold timeouts, and again after so many and as many more, up to an eighth of
 * FailureTimeout. Every sum is checked to hold each worker's part once, by a number beside the
 * values to which each worker adds its own.
 */
class SwitchMlCommunicator : public InNetworkCommunicator
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** What the controller tells a worker. */
    struct Session
    {
        uint32_t switchEndpoint{0}; ///< where packets go
        uint32_t firstSlot{0};      ///< of the job's part of the pool
        uint32_t window{512};       ///< slots, which is packets in flight
        uint32_t elements{64};      ///< 32-bit integers in a packet
        uint32_t message{0};        ///< RDMA framing: packets in a message; 0: UDP
    };

    /**
     * @param session as the switch has it; SetGroup() comes first
     * @throw ConfigurationError if there are too many workers to quantize for
     */
    void SetSession(const Session& session);

    // InNetworkCommunicator
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;
    double GetErrorBound() const override;

  protected:
    void DoDispose() override;
    std::string GetName() const override;
    uint16_t GetProtocol() const override;
    void Begin(const Tensor& tensor) override;
    void Cancel() override;
    void OnData(Frame* frame) override;
    std::string GetMissing() const override;

  private:
    /** A message of this worker in flight, with slots for its packets; in UDP it is one packet. */
    struct Slot
    {
        uint64_t message{0}; ///< its number in the tensor
        uint32_t taken{0};   ///< packets of its sum that have come in order
    };

    void SetDataType(std::string type);
    std::string GetDataType() const;
    bool CheckTensor(const Tensor& tensor);
    bool IsKnown(uint64_t message) const;
    void SendIfPossible(uint64_t message);
    void Send(uint64_t message);
    void SendPackets(const Slot& slot);
    Frame* MakeFrame(uint64_t message, uint32_t packet);
    void FrameForRdma(Frame& frame, uint32_t queuePair, uint32_t packet);
    void WriteValues(Frame& frame, uint64_t block, uint32_t packet) const;
    void TakeValues(const Frame& frame, uint64_t block, uint32_t packet);
    void Finish(Slot& slot, const SwitchMlHeader& header);
    void Process(Frame* frame);
    void SendAgain(uint32_t slot);
    void OnSilence(uint32_t slot, Time silence);
    uint64_t GetBlockCount(uint64_t bytes) const;
    std::pair<uint64_t, uint64_t> GetBlock(uint64_t block, uint64_t values) const;
    std::pair<uint64_t, uint64_t> GetRange(uint64_t block, uint32_t packet, uint64_t values) const;

    Session m_session;
    uint32_t m_packets{1}; // slots of a message
    uint32_t m_window{1};  // messages in flight
    uint32_t m_flowHash{0};
    ContributionCheck m_check;
    bool m_isInteger{false};
    Time m_timeout;
    uint32_t m_timeoutThreshold;
    Time m_packetCost;
    uint32_t m_cores;
    uint8_t m_priority;

    const Tensor* m_tensor{nullptr}; // the one under way
    std::vector<float> m_sum;
    uint64_t m_first{0};             // messages of all tensors before
    uint64_t m_blocks{0};            // messages with values
    uint64_t m_ahead{0};             // messages by which exponents are ahead of values
    uint64_t m_total{0};             // messages in all
    uint64_t m_received{0};          // of these, answered
    std::vector<int8_t> m_exponents; // agreed, by block modulo m_ahead
    std::vector<bool> m_known;       // by block modulo m_ahead: it is agreed (if m_ahead < window)
    std::vector<Slot> m_slots;       // by message modulo window
    std::vector<uint32_t> m_psns;    // RDMA: of what is sent, by queue pair
    std::vector<UnreliableReceiver> m_receivers; // RDMA: by queue pair
    SlotTimers m_timers;                         // by message modulo window
    WorkerCores m_coresInUse;
    double m_errorBound{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_COMMUNICATOR_H
