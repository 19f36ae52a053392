/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_REPLAY_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_REPLAY_H

#include "ns3/collective-shortcut.h"
#include "ns3/event-id.h"
#include "ns3/fabric-channel.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Simulates what a group of ranks repeats only until it repeats itself. It serves a group that
 * shares no link with other traffic, and runs one collective at a time.
 *
 * A collective is simulated until two of its operation, size and root, whose ranks started
 * together, have taken each rank the same time from the start of the last rank. The ones that
 * follow take this time without packets, if their ranks start together, too. Times are the same if
 * they differ by at most SAME of the time of the collective, and starts are together within
 * TOGETHER of it: an end is wrong by no more than that. Ranks that wait for others to start
 * together wait no longer, either.
 *
 * The counters of the group's links grow by what a simulated collective of the kind has added to
 * them, from its first start to that of the next collective. Peaks stay.
 */
class CollectiveReplay : public CollectiveShortcut
{
  public:
    /// Part of the time of a collective by which times that are the same may differ.
    static constexpr double SAME = 0.001;
    /// Part of the time of a collective by which starts may differ that are together: messages
    /// that meet on the way leave ranks a few packets apart for a long time.
    static constexpr double TOGETHER = 0.01;

    /**
     * @param size number of ranks of the group
     * @param channels links that only the group uses
     * @param countPackets returns the packets that the group's senders have sent; null: unknown
     */
    explicit CollectiveReplay(uint32_t size,
                              std::vector<Ptr<FabricChannel>> channels = {},
                              std::function<uint64_t()> countPackets = nullptr);

    // CollectiveShortcut
    void Arrive(uint32_t rank, uint64_t number, const Kind& kind, Member member) override;
    void End(uint32_t rank, uint64_t number) override;

    /** @return collectives that were simulated */
    uint64_t GetSimulated() const
    {
        return m_simulated;
    }

    /** @return collectives that took the time of earlier ones */
    uint64_t GetDerived() const
    {
        return m_derived;
    }

    /** @return packet-hops that were added to counters, and not simulated */
    uint64_t GetPacketHops() const
    {
        return m_packetHops;
    }

    /** @return packets that senders would have sent in derived collectives */
    uint64_t GetPackets() const
    {
        return m_packets;
    }

  private:
    /** A collective that some rank has reached, and some rank has not ended. */
    struct Meeting
    {
        Kind kind;
        bool isSimulated{false};
        std::vector<std::pair<uint32_t, Member>> waiting; // to be derived
        EventId timeout;
        uint32_t arrived{0};
        Time first;             // start of a rank
        Time last;              // start of a rank
        std::vector<Time> ends; // by rank
        uint32_t ended{0};
    };

    /** The last simulated collective of a kind whose ranks started together. */
    struct Known
    {
        std::vector<Time> lengths;        // by rank, from the start of the last rank
        Time longest;                     // of the lengths
        bool isConfirmed{false};          // two in a row took the same times
        std::vector<PortCounters> growth; // of the ports of the links, in their order
        uint64_t packets{0};              // that senders have sent
    };

    void Measure();

    void Derive(Meeting& meeting);
    void Simulate(uint64_t number);
    void Learn(const Meeting& meeting);

    uint32_t m_size;
    std::vector<Ptr<FabricChannel>> m_channels; // that only the group uses
    std::vector<PortCounters> m_before;         // of their ports, at the start of m_measured
    std::function<uint64_t()> m_countPackets;
    uint64_t m_packetsBefore{0};            // at the start of m_measured
    Known* m_measured{nullptr};             // what is simulated; null: nothing
    std::map<uint64_t, Meeting> m_meetings; // by number
    std::map<Kind, Known> m_known;
    uint64_t m_simulated{0};
    uint64_t m_derived{0};
    uint64_t m_packetHops{0}; // of the derived collectives
    uint64_t m_packets{0};    // likewise
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_REPLAY_H
