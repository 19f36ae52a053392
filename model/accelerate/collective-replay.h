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
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Simulates what a group of ranks repeats only until it repeats itself. It serves a group that
 * runs one collective at a time and shares no link with other traffic. With a Guard it may share
 * links: a collective is simulated, and is no measure for others, if another message is or may come
 * there before its end. Those of another load of the ranks are of another kind.
 *
 * A collective is simulated until two of its operation, size and root, whose ranks started
 * together, have taken each rank the same time from the start of the last rank. The ones that
 * follow take this time without packets, if their ranks start together, too. Times are the same if
 * they differ by at most SAME of the time of the collective, and starts are together within
 * TOGETHER of it: an end is wrong by no more than that. Ranks that wait for others to start
 * together wait no longer, either.
 *
 * The counters of the group's links grow by what a simulated collective of the kind has added to
 * them, from its first start to that of the next collective; with a Guard to TOGETHER of its time
 * behind its end, if that comes first. Peaks stay.
 */
class CollectiveReplay : public CollectiveShortcut
{
  public:
    /// Part of the time of a collective by which times that are the same may differ.
    static constexpr double SAME = 0.001;
    /// Part of the time of a collective by which starts may differ that are together: messages
    /// that meet on the way leave ranks a few packets apart for a long time.
    static constexpr double TOGETHER = 0.01;

    /** Knows what changes the time of a collective of the group. */
    class Guard
    {
      public:
        virtual ~Guard() = default;

        /** @return whether no message of others is on the links of the group */
        virtual bool IsIdle() const = 0;

        /**
         * @param length of the collective that all ranks have started, at least
         * @return until when no other message starts on these links
         */
        virtual Time GetIdleUntil(Time length) = 0;

        /** @return what else its ranks do that makes the collective slower */
        virtual std::vector<bool> GetLoad() const = 0;

        /**
         * @param length of the collective that all ranks have started, at least
         * @return until when the load does not change
         */
        virtual Time GetLoadUntil(Time length) = 0;
    };

    /**
     * @param size number of ranks of the group
     * @param channels links that only the group uses
     * @param countPackets returns the packets that the group's senders have sent; null: unknown
     * @param guard knows what changes its times; null: nothing does
     */
    explicit CollectiveReplay(uint32_t size,
                              std::vector<Ptr<FabricChannel>> channels = {},
                              std::function<uint64_t()> countPackets = nullptr,
                              std::unique_ptr<Guard> guard = nullptr);

    // CollectiveShortcut
    void Arrive(uint32_t rank, uint64_t number, const Kind& kind, Member member) override;
    void End(uint32_t rank, uint64_t number) override;

    /** What replays have done. */
    struct Sums
    {
        uint64_t simulated{0};  ///< collectives that were simulated
        uint64_t derived{0};    ///< collectives that took the time of earlier ones
        uint64_t packetHops{0}; ///< packet-hops that were added to counters, and not simulated
        uint64_t packets{0};    ///< that senders would have sent in derived collectives
    };

    /** @return what it has done so far */
    const Sums& GetSums() const
    {
        return m_sums;
    }

    /** @param replays of a job @return what all of them have done so far */
    static Sums Add(const std::vector<std::shared_ptr<CollectiveReplay>>& replays);

  private:
    /** A collective that some rank has reached, and some rank has not ended. */
    struct Meeting
    {
        Kind kind;
        bool isSimulated{false};
        bool isShared{false};   // other messages were on the links
        std::vector<bool> load; // when the last rank has started
        Time until;             // no other message starts, and the load does not change
        std::vector<std::pair<uint32_t, Member>> waiting; // to be derived
        EventId timeout;
        uint32_t arrived{0};
        Time first;                       // start of a rank
        Time last;                        // start of a rank
        std::vector<Time> ends;           // by rank
        std::vector<PortCounters> before; // of the ports of the links, if it is simulated
        uint64_t packetsBefore{0};        // that senders have sent
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

    Time FindLongest(const Kind& kind) const;
    void Begin(Meeting& meeting);
    std::string FindObstacle(const Meeting& meeting, const Known& known);
    void Decide(uint64_t number);
    void Watch(uint64_t number);
    void Derive(Meeting& meeting);
    void Simulate(uint64_t number);
    void Learn(Meeting& meeting);
    bool IsAlone(const Meeting& meeting, Time rest);
    void Settle(Meeting& meeting, Known& known);

    uint32_t m_size;
    std::vector<Ptr<FabricChannel>> m_channels; // that only the group uses
    std::vector<PortCounters> m_before;         // of their ports, at the start of m_measured
    std::function<uint64_t()> m_countPackets;
    std::unique_ptr<Guard> m_guard;         // or null
    uint64_t m_packetsBefore{0};            // at the start of m_measured
    Known* m_measured{nullptr};             // the last one that was simulated; null: none
    EventId m_settled;                      // end of what is measured, at the latest
    std::map<uint64_t, Meeting> m_meetings; // by number
    std::map<std::pair<Kind, std::vector<bool>>, Known> m_known; // by kind and load
    Sums m_sums;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_REPLAY_H
