/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_ATP_COMMUNICATOR_H

#include "atp-slots.h"
#include "atp-window.h"

#include "ns3/contribution-check.h"
#include "ns3/in-network-communicator.h"
#include "ns3/slot-timers.h"
#include "ns3/worker-cores.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A worker of ATP (Lao et al., NSDI 2021, and the released client): sends the packets of a tensor
 * to the job's servers, packet p to server p modulo their number; switches on the way add what they
 * can. The results, which servers send to all, acknowledge the packets and move the window, whose
 * size congestion controls (AtpWindow).
 *
 * Float32 values are multiplied by ScalingFactor and rounded. A packet with a value above
 * LargestValue in magnitude goes to its server as floats; so does one that a server asks for. With
 * DataType int32 numbers must be whole, and are added as they are; a sum that overflows is an
 * error.
 *
 * A packet is sent again, not to be held by switches, when as many results as ReorderingThreshold
 * have come past it, once, and whenever RetransmissionTimeout has passed. Until a tensor's first
 * result comes, which waits for the slowest worker, InitialTimeout is in its place.
 *
 * Every sum is checked to hold each worker's part once, by a number beside the values to which each
 * worker adds its own.
 */
class AtpCommunicator : public InNetworkCommunicator
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** A server, and what packets to it say. */
    struct Route
    {
        uint32_t server{0};   ///< its endpoint
        bool isDirect{false}; ///< this worker alone is a child of the server's switch
        uint32_t workers{0};  ///< bit of this worker in its rack
        uint32_t children{0}; ///< bit of this worker or rack at the server's switch
        uint8_t fanIn[2]{};   ///< workers in the rack, children of the server's switch
    };

    /** What the controller tells a worker. */
    struct Session
    {
        std::vector<Route> routes; ///< one for each server
        uint32_t window{0};        ///< most packets in flight
        uint32_t slots{0};         ///< of each switch
        uint32_t elements{0};      ///< 32-bit integers in a packet
        bool isExtended{false};    ///< whether packets have A2TP's and ESA's byte
    };

    /** @param session as switches and servers have it; SetGroup() comes first */
    void SetSession(const Session& session);

    /** @return how the window is controlled */
    AtpWindow::Control GetControl() const;

    /** @return where the job's servers are: auto, or hosts separated by commas */
    const std::string& GetServers() const;

    /** @return threads of the client */
    uint32_t GetThreads() const;

    /** @return the window as it is */
    const AtpWindow& GetWindow() const;

    // InNetworkCommunicator
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;
    std::vector<float> GetExpectedSum(const std::vector<std::vector<float>>& inputs,
                                      const std::vector<float>& result) const override;
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
    /** A packet in flight. */
    struct Slot
    {
        uint64_t packet{0};     ///< its number in the tensor
        bool isFloat{false};    ///< it goes as floats
        bool isRepaired{false}; ///< it has been sent again because of results past it
    };

    /** Packets of one server. */
    struct Stream
    {
        uint64_t base{0};     ///< the first without a result
        uint64_t highest{0};  ///< the last with a result past a gap
        uint64_t repaired{0}; ///< gaps up to here have been sent again
        uint32_t past{0};     ///< results since the base has moved
    };

    void SetDataType(std::string type);
    std::string GetDataType() const;
    void SetControl(std::string control);
    std::string GetControlName() const;
    uint32_t GetIndex(uint64_t packet) const;
    double GetScale() const;
    double GetLargest() const;
    bool NeedsFloats(const std::vector<float>& values, uint64_t packet) const;
    std::pair<uint64_t, uint64_t> GetRange(uint64_t packet, uint64_t values) const;
    void SendNew();
    void SendAgain(uint32_t index);
    void Send(const Slot& slot, bool resend);
    void WriteValues(Frame& frame, const Slot& slot) const;
    void TakeValues(const Frame& frame, uint64_t packet);
    void Process(Frame* frame);
    void TakeWish(uint32_t index);
    void TakeResult(const Frame& frame, uint32_t index);
    void Repair(uint64_t packet);
    void OnTimeout(uint32_t index);
    void Recover(uint64_t packet);
    void OnSilence(uint32_t slot, Time silence);

    Session m_session;
    std::vector<uint32_t> m_flowHashes; // by server
    AtpSlots m_slotOf;
    AtpWindow m_window;
    WorkerCores m_cores;
    ContributionCheck m_check;
    SlotTimers m_timers; // by slot
    Time m_usualTimeout;
    bool m_isInteger{false};
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
    Time m_packetCost;
    uint8_t m_priority;

    const Tensor* m_tensor{nullptr}; // the one under way
    std::vector<float> m_sum;
    uint64_t m_first{0};           // packets of all tensors before
    uint64_t m_total{0};           // packets of this one
    uint64_t m_base{0};            // of these, the first without a result
    uint64_t m_next{0};            // the first not sent
    std::vector<Stream> m_streams; // by server
    uint64_t m_again{0};           // after a timeout, the next to be sent again
    uint64_t m_againEnd{0};        // and the last one but one
    std::vector<Slot> m_slots;     // by packet modulo window
    bool m_hasResult{false};       // of this tensor
    double m_errorBound{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_COMMUNICATOR_H
