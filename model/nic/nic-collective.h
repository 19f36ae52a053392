/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_COLLECTIVE_H
#define DISTRIBUTED_TRAINING_NIC_COLLECTIVE_H

#include "host-data-plan.h"
#include "nic-engine.h"
#include "reception-windows.h"

#include "ns3/collective-progress.h"
#include "ns3/communicator-records.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * A collective in the NIC of one rank: executes the actions of a schedule on its packets. A packet
 * is a segment of a message. It may leave as soon as its own data has come from the host or the
 * packets that it depends on have been received and added, whatever the state of the packets behind
 * it.
 */
class NicCollective
{
  public:
    /** What a collective asks of its NIC. */
    class Owner
    {
      public:
        virtual ~Owner() = default;

        /**
         * Sends a packet; OnSent() must be called, from an event, when it has left.
         * @param collective that sends
         * @param index of its action
         * @param action the action
         * @param bytes of the packet
         * @param payload its contents, or null
         */
        virtual void SendPacket(NicCollective& collective,
                                uint32_t index,
                                const ScheduleAction& action,
                                uint64_t bytes,
                                Ptr<ByteBuffer> payload) = 0;

        /**
         * Returns a credit.
         * @param collective that received
         * @param action the first packet of the message
         */
        virtual void SendCredit(NicCollective& collective, const ScheduleAction& action) = 0;

        /**
         * All is done, and the result is in the memory of the host.
         * @param collective that ends; the callee may destroy it from an event
         */
        virtual void OnFinished(NicCollective& collective) = 0;
    };

    /**
     * @param owner of the NIC; must outlive this
     * @param engine of the NIC; must outlive this
     * @param schedule by packets
     * @param rank this rank
     * @param tensor of this rank
     * @param number of the collective, the same at every rank
     */
    NicCollective(Owner& owner,
                  NicEngine& engine,
                  std::shared_ptr<const CollectiveSchedule> schedule,
                  uint32_t rank,
                  Ptr<Tensor> tensor,
                  uint64_t number);
    NicCollective(const NicCollective&) = delete;
    NicCollective& operator=(const NicCollective&) = delete;

    /** Begins. */
    void Start();

    /**
     * A packet has arrived.
     * @param peer rank of its source
     * @param step of the packet
     * @param message its number
     * @param payload its contents, or null
     */
    void OnPacket(uint32_t peer, uint32_t step, uint32_t message, Ptr<ByteBuffer> payload);

    /**
     * A credit has arrived.
     * @param peer rank of its source
     * @param step of the first packet of the message
     * @param message its number
     */
    void OnCredit(uint32_t peer, uint32_t step, uint32_t message);

    /**
     * A packet has left.
     * @param index of its action
     */
    void OnSent(uint32_t index);

    /** @return the schedule */
    const CollectiveSchedule& GetSchedule() const
    {
        return *m_schedule;
    }

    /** @return what it waits for, such as "at step 3 for chunk 2 (100 bytes) from rank 1" */
    std::string DescribeMissing() const;

    CollectiveRecord record;   ///< kept for the owner
    Communicator::Done done{}; ///< kept for the owner

  private:
    void Run();
    void Begin(uint32_t index);
    void Send(uint32_t index);
    void Admit(uint32_t index);
    void OnData(uint32_t index);
    void OnAdded(uint32_t index);
    void OnWritten();
    void Complete(uint32_t index);
    uint64_t GetPacketBytes(uint32_t message) const;
    uint32_t GetFlow(const ScheduleAction& action) const;
    bool CodesOwner() const;
    void Round();

    Owner& m_owner;
    NicEngine& m_engine;
    std::shared_ptr<const CollectiveSchedule> m_schedule;
    uint32_t m_rank;
    uint32_t m_actions; // of a segment
    Ptr<Tensor> m_tensor;
    CollectiveProgress m_progress;
    ChunkLayout m_layout;
    HostDataPlan m_plan;
    HostDataReader m_reader;
    ReceptionWindows m_windows;
    std::unique_ptr<ScheduleTable> m_table; // null: packets leave when they have their data
    std::unordered_map<uint32_t, Ptr<ByteBuffer>> m_arrived;   // packets in the buffer, by index
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> m_sends; // by peer, and step and message
    uint64_t m_writes{0};                                      // to the host, not complete
    bool m_running{false};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_COLLECTIVE_H
