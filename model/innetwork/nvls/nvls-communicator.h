/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NVLS_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_NVLS_COMMUNICATOR_H

#include "nvlink-packets.h"

#include "ns3/host-model.h"
#include "ns3/sharp-endpoint.h"

#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * A GPU at a switch that adds on demand, like NVLink SHARP (NCCL's NVLS all-reduce). After a
 * barrier, each rank reads its part of the sums, packet by packet. The switch requests the numbers
 * from all ranks and answers with the sum (multimem.ld_reduce). The rank writes the sum to all
 * ranks through the switch (multimem.st). So each link carries the tensor 1 + 1/n times in each
 * direction, not counting requests.
 *
 * Each rank owns a tree of one switch, which adds its part. An all-reduce is complete at a rank
 * when all parts are written there; by then all ranks have read its numbers.
 */
class NvlsCommunicator : public SharpEndpoint
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Job parameters that the controller gives a rank. */
    struct Session
    {
        uint32_t switchEndpoint{0};        ///< the switch
        uint32_t member{0};                ///< number of this rank among the owners
        std::vector<uint32_t> connections; ///< connection numbers at the switch, by owner
        uint32_t window{1};                ///< packets that a rank reads concurrently
        uint32_t elements{64};             ///< numbers per packet
        std::string key{"slots"};          ///< key of the system that sets the window
        uint64_t slots{0};                 ///< its value
        uint64_t lineRate{0};              ///< of the slowest link of a rank, bit/s; 0: unknown
    };

    /** @param session as configured at the switch; call SetGroup() and SetSums() before */
    void SetSession(const Session& session);

    SharpConnection::Settings GetSettings() const override;

    /**
     * @param model of the hosts; null: hosts add no time
     * @throw ConfigurationError if its hosts have no sums in a switch, or if there is no model to
     *        choose by
     */
    void SetHostModel(std::shared_ptr<const HostModel> model);

    // Communicator
    ScheduledCommunicator* FindHosts(CollectiveOperation operation, uint64_t bytes) override
    {
        const bool isOffloaded = IsOffloaded(operation) && IsChosen(bytes) && !HasFallenBack();
        return isOffloaded ? nullptr : PeekPointer(GetHosts());
    }

    // InNetworkCommunicator
    bool IsChosen(uint64_t bytes) const override
    {
        return m_choice == 0 || m_hostModel->PrefersSwitches(bytes);
    }

  protected:
    std::string GetName() const override
    {
        return "nvls";
    }

    std::string GetMissing() const override;

    // SharpEndpoint
    Time GetHostTime(uint64_t bytes) const override
    {
        return SharpEndpoint::GetHostTime(bytes) + GetSwitchCost(bytes).start;
    }

    void Cancel() override;
    void Start() override;
    void OnMessage(uint32_t connection, const Frame& frame) override;

    /**
     * This rank has read a packet of its part. By default it writes the packet to all.
     * @param frame the sums
     */
    virtual void OnSum(const Frame& frame);

    /**
     * Writes the next packet of this rank's part to all ranks at the switch.
     * @param message its sums
     */
    void Write(SharpMessage message);

    /**
     * @param bytes size of an all-reduce
     * @return the hosts' time for it
     */
    virtual SwitchCost GetSwitchCost(uint64_t bytes) const
    {
        return m_hostModel ? m_hostModel->GetSwitchCost(bytes) : SwitchCost();
    }

    /** @return model of the hosts; null: hosts add no time */
    const HostModel* GetHostModel() const;

    /** @return number of owners */
    uint32_t GetOwners() const
    {
        return static_cast<uint32_t>(m_parts.size());
    }

    /** @return packets that this rank owns of the current operation */
    uint64_t GetOwnPackets() const
    {
        return m_parts[m_session.member].packets;
    }

    /** @return numbers per packet */
    uint32_t GetElements() const
    {
        return m_session.elements;
    }

    /**
     * @param owner number of an owner
     * @param values size of a tensor, numbers
     * @return its range of numbers, [first, end)
     */
    std::pair<uint64_t, uint64_t> GetOwnedPart(uint32_t owner, uint64_t values) const;

  private:
    /** The part of the current tensor that one rank owns: it reads and writes these sums. */
    struct Part
    {
        uint64_t first{0};   ///< number of its first packet on the owner's tree
        uint64_t packets{0}; ///< number of packets
        uint64_t read{0};    ///< packets read by the owner
        uint64_t written{0}; ///< packets written by the owner
        uint64_t next{0};    ///< number of the packet after the operation on the owner's tree
    };

    void SetFraming(std::string name);
    std::string GetFraming() const;
    void SetChoice(std::string name);
    std::string GetChoice() const;

    void SetBytes(SharpMessage& message, NvlinkPacket kind, uint32_t values) const
    {
        message.bytes = m_framing == 0 ? GetNvlinkFrameBytes(kind, values) : 0;
    }

    void Read();
    void Contribute(uint32_t owner, uint64_t packet);
    void CopyOut();
    void SendPacket(uint32_t owner, uint64_t number, SharpMessage message);
    bool IsNumber(uint32_t owner, uint64_t packet, const Frame& frame) const;
    std::pair<uint64_t, uint64_t> GetRange(uint32_t owner, uint64_t packet) const;

    std::size_t m_framing{0}; // index of its name
    std::size_t m_choice{0};  // index of its name
    Session m_session;
    std::shared_ptr<const HostModel> m_hostModel; // null: hosts add no time
    std::vector<Part> m_parts;                    // by owner
    uint64_t m_barrier{0}; // packet number of the barrier on the first rank's tree
    bool m_behindBarrier{false};
    Time m_begin;           // of the traffic
    EventId m_end;          // when the host has copied the sums
    uint64_t m_asked{0};    // requested packets of this rank's part
    uint64_t m_answered{0}; // answered requests
    uint64_t m_passedOn{0}; // packets of this rank's part that it has written
    uint64_t m_left{0};     // packets of all parts not yet written
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NVLS_COMMUNICATOR_H
