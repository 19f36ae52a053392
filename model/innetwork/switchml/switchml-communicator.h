/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SWITCHML_COMMUNICATOR_H

#include "switchml-timers.h"
#include "switchml-wire-format.h"
#include "unreliable-receiver.h"

#include "ns3/packet-worker.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A worker of SwitchML (Sapio et al., NSDI 2021, algorithm 4, and the released DPDK client). It
 * keeps a window of packets in flight, one per slot. The returned sum frees the slot for the next
 * packet. Packet p uses slot p modulo Window, alternating between its two versions.
 *
 * Float32 tensors are quantized in blocks of one packet. The workers agree on the exponent of a
 * block one window ahead of the block, so a tensor takes one extra window of packets. With DataType
 * int32 numbers must be whole and are added unchanged.
 *
 * With RDMA framing the unit is a message of several packets in consecutive slots, sent by RDMA
 * WRITE over an unreliable connection, one per message in flight. Exponents are per message, in its
 * immediate data. If a packet is lost, the message gets no answer and is retransmitted as a whole;
 * the switch ignores the duplicates.
 *
 * An unanswered packet or message is retransmitted by the rule that the attribute Timer names: that
 * of the paper, or that of the released client, with timers for each of its threads.
 */
class SwitchMlCommunicator : public PacketWorker
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Job parameters that the controller gives a worker. */
    struct Session
    {
        uint32_t switchEndpoint{0};     ///< destination of packets
        uint32_t firstSlot{0};          ///< first slot of the job
        uint32_t window{512};           ///< slots, equal to packets in flight
        uint32_t elements{64};          ///< 32-bit integers per packet
        uint32_t message{0};            ///< RDMA framing: packets per message; 0: UDP
        std::string key{"slots"};       ///< key of the system that sets the window
        uint64_t lineRate{0};           ///< of the slowest link, bit/s; 0: unknown
        uint32_t recirculationBytes{0}; ///< of a packet on the busiest recirculation port
        uint64_t recirculationRate{0};  ///< of a recirculation port, bit/s
    };

    /**
     * @param session as configured at the switch; call SetGroup() before
     * @throw ConfigurationError if there are too many workers for the quantization
     */
    void SetSession(const Session& session);

    /** @return the rule of its timers, one line; call SetSession() before */
    std::string DescribeTimers() const
    {
        return m_timers.Describe();
    }

    // InNetworkCommunicator
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;

  protected:
    std::string GetName() const override
    {
        return "switchml";
    }

    uint16_t GetProtocol() const override
    {
        return SwitchMlHeader::PROTOCOL;
    }

    void Begin(const Tensor& tensor) override;
    void Cancel() override;
    void OnData(Frame* frame) override;
    std::string GetMissing() const override;

  private:
    /** A message in flight, with slots for its packets; with UDP a message is one packet. */
    struct Slot
    {
        uint64_t message{0}; ///< message number in the tensor
        uint32_t taken{0};   ///< packets of its sum received in order
    };

    void SetTimer(std::string timer);

    std::string GetTimer() const
    {
        return m_hasClientTimers ? "client" : "paper";
    }

    double GetLineSeconds() const;
    bool IsKnown(uint64_t message) const;
    void SendIfPossible(uint64_t message);
    void Send(uint64_t message, bool isFirst);
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

    Session m_session;
    uint32_t m_packets{1}; // packets per message
    uint32_t m_window{1};  // messages in flight
    uint32_t m_flowHash{0};
    bool m_hasClientTimers{false};
    Time m_timeout; // 0: that of the rule
    SwitchMlTimers m_timers;

    uint64_t m_first{0};             // messages of all earlier tensors
    uint64_t m_blocks{0};            // messages with values
    uint64_t m_ahead{0};             // lead of exponents over values, messages
    uint64_t m_total{0};             // total messages
    uint64_t m_received{0};          // answered messages
    std::vector<int8_t> m_exponents; // agreed, by block modulo m_ahead
    std::vector<bool> m_known;       // by block modulo m_ahead: it is agreed (if m_ahead < window)
    std::vector<Slot> m_slots;       // by message modulo window
    std::vector<uint32_t> m_psns;    // RDMA: next PSN to send, by queue pair
    std::vector<UnreliableReceiver> m_receivers; // RDMA: by queue pair
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_COMMUNICATOR_H
