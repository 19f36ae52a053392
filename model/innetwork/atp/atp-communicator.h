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
 * A packet is retransmitted once after ReorderingThreshold results for later packets, and each time
 * RetransmissionTimeout expires. Switches must not hold retransmissions. The first result of a
 * tensor waits for the slowest worker, so InitialTimeout replaces RetransmissionTimeout until then.
 *
 * A simulation-only checksum in each packet verifies that every sum contains each worker's
 * contribution exactly once.
 */
class AtpCommunicator : public InNetworkCommunicator
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** A server, and the header fields of packets to it. */
    struct Route
    {
        uint32_t server{0};   ///< its endpoint
        bool isDirect{false}; ///< this worker itself is a child of the server's switch
        uint32_t workers{0};  ///< bit of this worker in its rack
        uint32_t children{0}; ///< bit of this worker or rack at the server's switch
        uint8_t fanIn[2]{};   ///< workers in the rack, children of the server's switch
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
    AtpWindow::Control GetControl() const;

    /** @return placement of the job's servers: auto, or hosts separated by commas */
    const std::string& GetServers() const;

    /** @return threads of the client */
    uint32_t GetThreads() const;

    /** @return the current window */
    const AtpWindow& GetWindow() const;

    /** @return results that servers made because the slot was taken */
    uint64_t GetCollisions() const;

    /** @return results of complete operations */
    uint64_t GetResults() const;

    // InNetworkCommunicator
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;
    std::vector<float> GetExpectedSum(const std::vector<std::vector<float>>& inputs,
                                      const std::vector<float>& result) const override;
    double GetPacketBytes() const override;
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
        bool isFloat{false};    ///< the packet carries floats
        bool isRepaired{false}; ///< already retransmitted because of results for later packets
    };

    /** Packets to one server. */
    struct Stream
    {
        uint64_t base{0};     ///< first packet without a result
        uint64_t highest{0};  ///< last packet after a gap with a result
        uint64_t repaired{0}; ///< gaps below this packet are retransmitted
        uint32_t past{0};     ///< results for later packets since base advanced
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
    void HandleFloatRequest(uint32_t index);
    void TakeResult(const Frame& frame, uint32_t index);
    void Repair(uint64_t packet);
    void OnTimeout(uint32_t index);
    void Recover(uint64_t packet);
    void OnSilence(uint32_t slot, Time silence);

    Session m_session;
    std::vector<uint32_t> m_flowHashes; // by server
    AtpSlots m_slotOf;
    uint64_t m_collisions{0};
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

    const Tensor* m_tensor{nullptr}; // the current tensor
    std::vector<float> m_sum;
    uint64_t m_first{0};           // packets of all earlier tensors
    uint64_t m_total{0};           // packets of the current tensor
    uint64_t m_base{0};            // first packet without a result
    uint64_t m_next{0};            // first packet not sent
    std::vector<Stream> m_streams; // by server
    uint64_t m_nextResend{0};      // next packet to retransmit after a timeout
    uint64_t m_resendEnd{0};       // end of the retransmissions, exclusive
    std::vector<Slot> m_slots;     // by packet modulo window
    bool m_hasResult{false};       // a result of the current tensor has arrived
    double m_errorBound{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_COMMUNICATOR_H
