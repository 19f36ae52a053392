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

/** Counters of a server. */
struct AtpServerCounters
{
    uint64_t received{0};   ///< frames of its job
    uint64_t complete{0};   ///< sums of all workers received
    uint64_t added{0};      ///< partial sums added
    uint64_t duplicates{0}; ///< frames with a contribution it had already; not added
    uint64_t stale{0};      ///< frames of packets whose sum all workers have
    uint64_t results{0};    ///< results sent
    uint64_t answers{0};    ///< results sent again
    uint64_t floats{0};     ///< sums computed in floats
    uint64_t remapped{0};   ///< slots replaced because of collisions
};

/**
 * @ingroup distributed-training-innetwork
 *
 * A parameter server of ATP (Lao et al., NSDI 2021; the released ParameterServer). It receives the
 * complete sums of switches, completes the partial ones, and sends each result to its leaf switch,
 * which frees the slots and multicasts it. It keeps results until all workers must have them, and
 * answers retransmissions from them.
 *
 * If a sum overflows 32 bits, or a worker sends floats because its values do not fit, the server
 * requests that packet as floats from all workers and adds the floats in rank order.
 */
class AtpServer : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** Job parameters that the controller gives a server. */
    struct Session
    {
        uint8_t job{0};             ///< number of the job
        uint32_t index{0};          ///< number of the server
        uint32_t servers{1};        ///< number of servers
        uint32_t switchEndpoint{0}; ///< destination of results
        uint32_t window{0};         ///< maximum packets of a worker in flight
        uint32_t slots{0};          ///< slots of each switch
        uint32_t elements{0};       ///< 32-bit integers per packet
        bool isExtended{false};     ///< whether packets have the extension byte of A2TP and ESA
        /// Ranks of each child of its switch: one worker, or the workers of another switch in the
        /// order of their bits.
        std::vector<std::vector<uint32_t>> children;
    };

    /**
     * @param session as configured at workers and switches
     * @param device NIC of its host
     */
    void SetSession(const Session& session, Ptr<HostDevice> device);

    /** Ends the service: frames that are still under way are dropped. */
    void Stop();

    /** @return its counters */
    const AtpServerCounters& GetCounters() const
    {
        return m_counters;
    }

    /** @return endpoint of its host */
    uint32_t GetEndpoint() const
    {
        return m_device->GetEndpoint();
    }

  private:
    /** State of a packet. */
    enum class State : uint8_t
    {
        INTEGERS, ///< adds integers
        FLOATS,   ///< collects floats
        DONE      ///< the result is complete
    };

    /** A packet in progress or complete. */
    struct Entry
    {
        uint32_t packet{0};
        uint32_t ranks{0}; ///< number of ranks that have contributed
        uint64_t check{0};
        State state{State::INTEGERS};
        bool used{false};
        bool isReal{false};
        bool collision{false};
        bool congested{false};
        bool contested{false};
        bool overflow{false}; ///< the result is floats
        uint16_t slot{0};
        uint16_t newSlot{0};
        uint8_t priority{0};
        Ptr<ByteBuffer> result;
        std::unique_ptr<std::vector<float>> floats; ///< by rank
    };

    void OnFrame(Frame* frame)
    {
        m_cores.Process(0, m_packetCost / m_coreCount, &AtpServer::Process, this, frame);
    }

    void Process(Frame* frame);
    void TakeIntegers(Entry& entry, const Frame& frame);
    void TakeFloats(Entry& entry, const Frame& frame);
    bool Mark(Entry& entry, const AtpHeader& header);
    void Begin(Entry& entry, State state);
    void AddValues(Entry& entry, const Frame& frame, bool isFirst);
    void Finish(Entry& entry);
    void SendResult(const Entry& entry, bool isFloatRequest);
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
    std::vector<uint32_t> m_all;   // by child: bits of all its ranks
    std::vector<Entry> m_entries;  // ring by packet number; size is a power of two
    std::vector<uint32_t> m_marks; // by entry and child: bits of the ranks that have contributed
    std::vector<int32_t> m_values; // real payload: by entry
    ContributionCheck m_check;
    AtpServerCounters m_counters;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_SERVER_H
