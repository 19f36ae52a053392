/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_NIC_COMMUNICATOR_H

#include "nic-collective.h"

#include "ns3/data-rate.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/shared-transport.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * A communicator whose collectives run in the NICs of the ranks: an engine in the NIC executes a
 * CollectiveSchedule packet by packet (NicCollective). It reads the own vector from the memory of
 * the host and writes the result back. The host only rings a doorbell and is told of the end.
 *
 * Packets travel as messages of the rank's transport, which repairs losses. ActiveCollectives of
 * the collectives run at a time, in the order of issue.
 *
 * All-reduce, reduce-scatter, all-gather, broadcast and reduce run in the NIC. A
 * ScheduledCommunicator, "the hosts", makes all other operations, over the same transport.
 */
class NicCommunicator : public Communicator, private NicCollective::Owner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** The lines of a NIC. */
    struct Lines
    {
        uint64_t rate{0};    ///< of each, bit/s
        uint32_t count{1};   ///< number of ports
        double byteShare{1}; ///< bytes on the line per byte of a full packet
        uint64_t link{0};    ///< of the slowest link to other NICs: of an interface, bit/s
        double gain{1};      ///< rate of data over that of plain packets, if packets are coded
    };

    /**
     * @param hosts communicator of this rank among all ranks, for other operations
     * @param planner of schedules by packets (PacketPlanner), the same at every rank
     * @param lines of the NIC
     * @param oracles shared by all ranks, for the lockstep that needs them; null: there are none
     * @throw ConfigurationError if sub-messages are no whole flits, or oracles are missing
     */
    void Setup(Ptr<ScheduledCommunicator> hosts,
               ScheduledCommunicator::Planner planner,
               const Lines& lines,
               std::shared_ptr<LockstepOracles> oracles = nullptr);

    /**
     * Checks that a schedule fits into the table of this NIC, if it has one.
     * @param schedule to execute
     * @throw ConfigurationError if it does not, or if limits of buffers and of interfaces together
     *        could end in a deadlock
     */
    void CheckTable(const CollectiveSchedule& schedule) const;

    /**
     * @param operation any operation
     * @return whether it runs in the NIC
     */
    static bool IsOffloaded(CollectiveOperation operation);

    /** @return whether head flits are sent with the packets */
    bool HasHeads() const
    {
        return m_engine.subMessages.HasHeads();
    }

    /** @return adders of the NIC; the attribute Lanes, or as many as the lines need */
    uint32_t GetLanes() const;

    /** @return rate of the adders, bit/s */
    double GetAddRate() const;

    /**
     * @param bytes of float32
     * @return bytes of as many numbers in the format of the attribute NumberFormat
     */
    uint64_t GetFormattedBytes(uint64_t bytes) const;

    /** @return what becomes of packets on their way, and of numbers in that format */
    const MessageCoding& GetCoding() const;

    // Communicator
    void SetErrorHandler(ErrorHandler handler) override;
    uint32_t GetRank() const override;
    uint32_t GetSize() const override;
    void Send(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Receive(Ptr<Tensor> tensor, uint32_t peer, Done done) override;
    void Start(CollectiveOperation operation,
               Ptr<Tensor> tensor,
               uint32_t root,
               Done done,
               ByteMatrix matrix = nullptr) override;
    std::string GetWaitingFor() const override;

  private:
    /** A packet of a collective that this rank has not issued yet. */
    struct Early
    {
        uint32_t peer;
        uint32_t step;
        uint32_t message;
        Ptr<ByteBuffer> payload;
    };

    /** A packet for a peer. */
    struct Packet
    {
        uint64_t number; ///< of its collective
        uint32_t index;  ///< of its action
        uint64_t tag;
        uint64_t bytes;
        Ptr<ByteBuffer> payload;
        uint8_t typeOfService;
    };

    /** The packets for a peer. Few are with the transport, so that credits overtake the others. */
    struct Outgoing
    {
        uint32_t leaving{0}; ///< packets that the transport has
        std::deque<Packet> waiting;
    };

    /** A collective in the NIC. */
    struct Entry
    {
        std::unique_ptr<NicCollective> collective;
        bool isRung{false};     ///< the doorbell has rung
        bool isStarted{false};  ///< it has its turn
        bool isFinished{false}; ///< only the host has not been told yet
    };

    void DoDispose() override;
    void SetLockstep(std::string lockstep);
    std::string GetLockstep() const;
    void SetFlowControl(std::string flowControl);
    std::string GetFlowControl() const;
    void SetNumberFormat(std::string format);
    std::string GetNumberFormat() const;
    // NicCollective::Owner
    void SendPacket(NicCollective& collective,
                    uint32_t index,
                    const ScheduleAction& action,
                    uint64_t bytes,
                    Ptr<ByteBuffer> payload) override;
    void SendCredit(NicCollective& collective, const ScheduleAction& action) override;
    void OnFinished(NicCollective& collective) override;

    Ptr<ByteBuffer> Format(Ptr<ByteBuffer> numbers) const;
    Ptr<ByteBuffer> Unformat(Ptr<ByteBuffer> formatted) const;
    void Ring(uint64_t number);
    void StartNext();
    void Transmit(uint32_t peer);
    void Finish(uint64_t number);
    void OnSent(uint32_t peer, uint64_t number, uint32_t index);
    void OnMessage(uint32_t peer, uint64_t tag, Ptr<ByteBuffer> payload);
    void OnHostCollective(const CollectiveRecord& record);
    Entry* Find(uint64_t number);

    // Attributes.
    uint32_t m_activeLimit;
    DataRate m_dmaRate;
    Time m_dmaLatency;
    Time m_doorbell;
    Time m_completion;
    uint64_t m_ownBuffer;
    uint64_t m_receptionBuffer;
    uint32_t m_lanes;
    double m_clock; // MHz
    uint32_t m_addCycles;

    Ptr<ScheduledCommunicator> m_hosts;
    Ptr<SharedTransport> m_transport;
    ScheduledCommunicator::Planner m_planner;
    Lines m_lines;
    uint32_t m_tableEntries;
    uint32_t m_interfaces;
    std::string m_lockstep;
    std::string m_flowControl;
    uint32_t m_subMessage;
    std::string m_numberFormat;
    NicEngine m_engine;
    uint64_t m_issued{0};                           // operations of any kind
    std::vector<uint64_t> m_byHosts;                // number of each operation that the hosts make
    std::list<Entry> m_collectives;                 // of the NIC, in order
    std::map<uint32_t, Outgoing> m_outgoing;        // by peer
    std::map<uint64_t, std::vector<Early>> m_early; // by number of the collective in the tag
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_COMMUNICATOR_H
