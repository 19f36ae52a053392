/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_SERVER_H
#define DISTRIBUTED_TRAINING_ATP_SERVER_H

#include "atp-slots.h"
#include "atp-wire-format.h"

#include "ns3/contribution-check.h"
#include "ns3/host-device.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/worker-cores.h"

#include <memory>
#include <vector>

namespace ns3::training
{

/** What a server has done. */
struct AtpServerCounters
{
    uint64_t received{0};   ///< frames of its job
    uint64_t complete{0};   ///< of these, sums of all workers
    uint64_t added{0};      ///< sums of some workers added
    uint64_t duplicates{0}; ///< holding a contribution that it had, so not added
    uint64_t stale{0};      ///< of packets that all workers have had the sum of
    uint64_t results{0};    ///< sums sent
    uint64_t answers{0};    ///< of these, again
    uint64_t floats{0};     ///< sums made of floats
    uint64_t remapped{0};   ///< slots given in place of ones that collide
};

/**
 * @ingroup distributed-training-innetwork
 *
 * A parameter server of ATP (Lao et al., NSDI 2021; the released ParameterServer): gets the sums
 * that switches have completed, completes those that they could not, and sends the result to the
 * switch it is linked to, which frees its slots and multicasts it. It keeps results until all
 * workers must have had them, and sends them again to who asks.
 *
 * If a sum has left the range of 32 bits, or a worker has sent floats because its values do not
 * fit, it asks all workers for that packet as floats, and adds these in the order of ranks.
 */
class AtpServer : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** What the controller tells a server. */
    struct Session
    {
        uint8_t job{0};             ///< number of the job
        uint32_t index{0};          ///< number of the server
        uint32_t servers{1};        ///< how many there are
        uint32_t switchEndpoint{0}; ///< where results go
        uint32_t window{0};         ///< most packets of a worker in flight
        uint32_t slots{0};          ///< of each switch
        uint32_t elements{0};       ///< 32-bit integers in a packet
        bool isExtended{false};     ///< whether packets have A2TP's and ESA's byte
        /// Ranks of each child of its switch: a worker, or those of another switch in the order of
        /// their bits.
        std::vector<std::vector<uint32_t>> children;
    };

    /**
     * @param session as workers and switches have it
     * @param device NIC of its host
     */
    void SetSession(const Session& session, Ptr<HostDevice> device);

    /** @return what it has done */
    const AtpServerCounters& GetCounters() const;

    /** @return endpoint of its host */
    uint32_t GetEndpoint() const;

  private:
    /** How far a packet is. */
    enum class State : uint8_t
    {
        INTEGERS, ///< integers are added
        FLOATS,   ///< floats are collected
        DONE      ///< the result is known
    };

    /** A packet that is being added, or has been. */
    struct Entry
    {
        uint32_t packet{0};
        uint32_t ranks{0}; ///< whose contributions are in
        uint64_t check{0};
        State state{State::INTEGERS};
        bool used{false};
        bool isReal{false};
        bool collision{false};
        bool congested{false};
        bool contested{false};
        bool overflow{false}; ///< the result are floats
        uint16_t slot{0};
        uint16_t newSlot{0};
        uint8_t priority{0};
        Ptr<ByteBuffer> result;
        std::unique_ptr<std::vector<float>> floats; ///< of each rank
    };

    void OnFrame(Frame* frame);
    void Process(Frame* frame);
    void TakeIntegers(Entry& entry, const Frame& frame);
    void TakeFloats(Entry& entry, const Frame& frame);
    bool Mark(Entry& entry, const AtpHeader& header);
    void Begin(Entry& entry, State state);
    void AddValues(Entry& entry, const Frame& frame, bool isFirst);
    void Finish(Entry& entry);
    void SendResult(const Entry& entry, bool isWish);
    uint32_t* GetMarks(const Entry& entry);
    int32_t* GetValues(const Entry& entry);

    Session m_session;
    Ptr<HostDevice> m_device;
    Time m_packetCost;
    uint32_t m_coreCount;
    uint8_t m_priority;
    bool m_verify;
    WorkerCores m_cores;
    AtpSlots m_slots;
    uint32_t m_flowHash{0};
    uint32_t m_ranks{0};
    std::vector<uint32_t> m_all;   // by child, bits of its ranks
    std::vector<Entry> m_entries;  // by packet modulo their number, a power of two
    std::vector<uint32_t> m_marks; // by entry and child, bits of ranks whose contribution is in
    std::vector<int32_t> m_values; // real payload: by entry
    ContributionCheck m_check;
    AtpServerCounters m_counters;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_SERVER_H
