/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_COMMUNICATOR_H
#define DISTRIBUTED_TRAINING_NIC_COMMUNICATOR_H

#include "nic-collective.h"
#include "nic-engine-attributes.h"

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
class NicCommunicator : public Communicator,
                        public NicEngineAttributes,
                        private NicCollective::Owner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

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

    // Communicator
    void SetErrorHandler(ErrorHandler handler) override;

    uint32_t GetRank() const override
    {
        return m_hosts->GetRank();
    }

    uint32_t GetSize() const override
    {
        return m_hosts->GetSize();
    }

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
    // NicCollective::Owner
    void SendPacket(NicCollective& collective,
                    uint32_t index,
                    const ScheduleAction& action,
                    uint64_t bytes,
                    Ptr<ByteBuffer> payload) override;
    void SendCredit(NicCollective& collective, const ScheduleAction& action) override;
    void OnFinished(NicCollective& collective) override;

    void Ring(uint64_t number);
    void StartNext();
    void Transmit(uint32_t peer);
    void Finish(uint64_t number);
    void OnSent(uint32_t peer, uint64_t number, uint32_t index);
    void OnMessage(uint32_t peer, uint64_t tag, Ptr<ByteBuffer> payload);
    void OnHostCollective(const CollectiveRecord& record);
    Entry* Find(uint64_t number);

    Ptr<ScheduledCommunicator> m_hosts;
    Ptr<SharedTransport> m_transport;
    ScheduledCommunicator::Planner m_planner;
    uint64_t m_issued{0};                           // operations of any kind
    std::vector<uint64_t> m_byHosts;                // number of each operation that the hosts make
    std::list<Entry> m_collectives;                 // of the NIC, in order
    std::map<uint32_t, Outgoing> m_outgoing;        // by peer
    std::map<uint64_t, std::vector<Early>> m_early; // by number of the collective in the tag
    TracedCallback<const CollectiveRecord&> m_collectiveTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_COMMUNICATOR_H
