/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_COMMUNICATOR_H

#include "switch-ps-optimizer.h"

#include "ns3/contribution-check.h"
#include "ns3/in-network-communicator.h"
#include "ns3/slot-timers.h"
#include "ns3/worker-cores.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A worker of a parameter server in a switch (SwitchPsProgram). An all-reduce pushes a gradient
 * packet by packet, each a key range with a window of them in flight, and pulls what the switch
 * makes of it: without an optimizer the sum of all workers' gradients, with one the weights after
 * its step. Weights begin at 0, so they are the way from where training began.
 *
 * With an optimizer each all-reduce has weights of its own, until there have been Tensors of them;
 * then they begin again with the first. Pull() gets any of them without a step.
 *
 * A packet without answer is sent again after RetransmissionTimeout. When there are no answers any
 * more the hosts go on as a ring, but not with an optimizer: the weights are lost with the switch.
 */
class SwitchPsCommunicator : public InNetworkCommunicator
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** What the controller tells a worker. */
    struct Session
    {
        uint32_t switchEndpoint{0};  ///< where packets go
        uint32_t firstSlot{0};       ///< of the job's part
        uint32_t window{512};        ///< slots, which is packets in flight
        uint32_t elements{64};       ///< numbers in a packet
        uint32_t ranges{0};          ///< key ranges that the job has
        uint32_t staleness{0};       ///< steps that a worker may be ahead
        OptimizerSettings optimizer; ///< of the switch
    };

    /** @param session as the switch has it; SetGroup() comes first */
    void SetSession(const Session& session);

    /**
     * Gets weights as they are; queued behind what has been asked for.
     * @param tensor where to put them, of a whole tensor's size or less
     * @param place which tensor, by the order of the all-reduces from 0, modulo Tensors
     * @param first key of it from which on
     * @param done called when they are there
     */
    void Pull(Ptr<Tensor> tensor, uint32_t place, uint64_t first, Done done);

    /** @return the largest number of steps by which it was ahead when an answer came */
    uint32_t GetLargestLead() const;

    /**
     * @param inputs tensor of each rank
     * @return without an optimizer their sum; with one the weights after a step, each call being
     *         the all-reduce after that of the call before
     * @throw ConfigurationError if they depend on the order in which packets come
     */
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;
    bool ReturnsSum() const override;
    void SetTensorsOfStep(uint32_t tensors) override;
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
    /** Weights of a tensor, as its worker knows them. */
    struct Place
    {
        uint32_t firstRange{0};
        uint32_t packets{0}; ///< which are its key ranges
        uint32_t clock{0};   ///< gradients pushed so far
    };

    /** Weights of a tensor, as GetSum() makes them. */
    struct Replica
    {
        std::vector<float> values; ///< and what the optimizer keeps of them
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
    uint32_t GetSlot(uint64_t packet) const;
    uint32_t GetTurn(uint32_t turn) const;
    uint64_t GetPackets(uint64_t bytes) const;

    Session m_session;
    uint32_t m_flowHash{0};
    ContributionCheck m_check;
    uint32_t m_tensors;
    Time m_timeout;
    uint32_t m_timeoutThreshold;
    Time m_packetCost;
    uint32_t m_cores;
    uint8_t m_priority;

    const Tensor* m_tensor{nullptr}; // the one under way
    bool m_isPull{false};            // it is filled with weights, none are pushed
    std::vector<float> m_result;
    uint64_t m_first{0};    // packets of all tensors before, or of all pulls
    uint64_t m_pushed{0};   // packets of all tensors so far
    uint64_t m_pulled{0};   // packets of all pulls so far
    uint64_t m_packets{0};  // of this one
    uint64_t m_received{0}; // of these, answered
    uint64_t m_skip{0};     // pull: keys of the first packet before the first one asked for
    Place m_place;          // with an optimizer: that of this one
    std::vector<uint64_t> m_packetOf; // by slot: which packet waits for its answer
    SlotTimers m_timers;              // by slot
    WorkerCores m_coresInUse;
    std::vector<Place> m_places; // with an optimizer: in the order of all-reduces
    uint32_t m_turn{0};          // all-reduces so far
    uint32_t m_rangesUsed{0};    // by all places
    uint32_t m_largestLead{0};
    double m_errorBound{0};
    mutable std::vector<Replica> m_replicas; // by place
    mutable uint32_t m_replicaTurn{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_COMMUNICATOR_H
