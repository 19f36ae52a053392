/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_COMMUNICATOR_H

#include "switch-ps-optimizer.h"
#include "switch-ps-wire-format.h"

#include "ns3/packet-worker.h"
#include "ns3/slot-timers.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A worker of a parameter server in a switch (SwitchPsProgram). An all-reduce pushes a gradient and
 * pulls the result, one key range per packet, with a window of packets in flight. Without an
 * optimizer the result is the sum of all workers' gradients, with one the weights after its step.
 * Weights start at 0, so they are the distance from the start of training.
 *
 * With an optimizer each all-reduce has its own weights, until there are Tensors of them; then the
 * first weights come again. Pull() reads any of them without a step.
 *
 * An unanswered packet is retransmitted after RetransmissionTimeout. When the switch no longer
 * answers, the hosts take over with a ring, but not with an optimizer: the weights are lost with
 * the switch.
 */
class SwitchPsCommunicator : public PacketWorker
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Job parameters that the controller gives a worker. */
    struct Session
    {
        uint32_t switchEndpoint{0};  ///< destination of packets
        uint32_t firstSlot{0};       ///< first slot of the job
        uint32_t window{512};        ///< slots, equal to packets in flight
        std::string key{"slots"};    ///< key of the system that sets the window
        bool fillsLines{false};      ///< whether the switch adds as fast as all its lines
        uint32_t elements{64};       ///< numbers per packet
        uint32_t ranges{0};          ///< key ranges of the job
        uint32_t staleness{0};       ///< staleness bound: steps that a worker may be ahead
        OptimizerSettings optimizer; ///< optimizer of the switch
    };

    /** @param session as configured at the switch; call SetGroup() before */
    void SetSession(const Session& session);

    /**
     * Reads the current weights; queued after the operations issued so far.
     * @param tensor receives the weights, at most as large as the whole tensor
     * @param place number of the tensor, in the order of all-reduces from 0, modulo Tensors
     * @param first first key of the tensor to read
     * @param done called when the weights have arrived
     */
    void Pull(Ptr<Tensor> tensor, uint32_t place, uint64_t first, Done done);

    /** @return maximum lead over the slowest worker when an answer arrived, steps */
    uint32_t GetLargestLead() const
    {
        return m_largestLead;
    }

    /**
     * @param inputs tensor of each rank
     * @return without an optimizer their sum; with one the weights after a step. Successive calls
     *         correspond to successive all-reduces
     * @throw ConfigurationError if the result depends on the order of arrival
     */
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;

    bool ReturnsSum() const override
    {
        return !m_session.optimizer.KeepsWeights();
    }

    void SetTensorsOfStep(uint32_t tensors) override;

  protected:
    std::string GetName() const override
    {
        return "switch-ps";
    }

    uint16_t GetProtocol() const override
    {
        return SwitchPsHeader::PROTOCOL;
    }

    void Begin(const Tensor& tensor) override;
    void Cancel() override;
    void OnData(Frame* frame) override;
    std::string GetMissing() const override;

  private:
    /** A worker's view of the weights of a tensor. */
    struct Place
    {
        uint32_t firstRange{0};
        uint32_t packets{0}; ///< number of packets, equal to its key ranges
        uint32_t clock{0};   ///< gradients pushed so far
    };

    /** Weights of a tensor, as computed by GetSum(). */
    struct Replica
    {
        std::vector<float> values; ///< weights, then the optimizer's state
        OptimizerPowers powers;
    };

    bool FindPlace(uint64_t bytes);
    void BeginPull(uint32_t place, uint64_t first);
    void StartWindow();
    void Send(uint64_t packet);
    Frame* MakeFrame(uint64_t packet);
    void TakeValues(const Frame& frame, uint64_t packet);
    std::string Check(const Frame& frame);
    void Process(Frame* frame);
    void SendAgain(uint32_t slot);
    void OnSilence(uint32_t slot, Time silence);

    uint32_t GetSlot(uint64_t packet) const
    {
        return static_cast<uint32_t>((m_first + packet) % m_session.window);
    }

    uint32_t GetTurn(uint32_t turn) const;

    Session m_session;
    uint32_t m_flowHash{0};
    uint32_t m_tensors;
    Time m_timeout;

    bool m_isPull{false};             // it only pulls weights
    uint64_t m_first{0};              // packets of all earlier tensors, or of all earlier pulls
    uint64_t m_pushed{0};             // packets of all tensors so far
    uint64_t m_pulled{0};             // packets of all pulls so far
    uint64_t m_packets{0};            // packets of the current tensor
    uint64_t m_received{0};           // answered packets
    uint64_t m_skip{0};               // pull: keys of the first packet before the requested ones
    Place m_place;                    // with an optimizer: place of the current tensor
    std::vector<uint64_t> m_packetOf; // by slot: packet that waits for its answer
    SlotTimers m_timers;              // by slot
    std::vector<Place> m_places;      // with an optimizer: by order of all-reduces
    uint32_t m_turn{0};               // all-reduces so far
    uint32_t m_rangesUsed{0};         // by all places
    uint32_t m_largestLead{0};
    mutable std::vector<Replica> m_replicas; // by place
    mutable uint32_t m_replicaTurn{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_COMMUNICATOR_H
