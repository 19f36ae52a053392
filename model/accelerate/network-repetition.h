/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NETWORK_REPETITION_H
#define DISTRIBUTED_TRAINING_NETWORK_REPETITION_H

#include "ns3/port-counters.h"
#include "ns3/ptr.h"
#include "ns3/training-fabric.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

class RdmaNic;

/**
 * @ingroup distributed-training-rdma
 *
 * Compares what a network of RDMA does in spans of time, and adds spans that are not simulated. If
 * it does the same in two spans and is in the same state at their ends, what follows is the same,
 * too, as long as its hosts do the same.
 *
 * The state is: queues, pauses and frames on all links; messages of every queue pair, and packets
 * since it asked for an acknowledgement; and the rate and the window of its congestion control.
 */
class NetworkRepetition
{
  public:
    /// Part of a rate or a window by which those of the same state may differ.
    static constexpr double TOLERANCE = 1e-9;
    /// Part by which bytes, rates and windows of spans may differ that are about the same.
    static constexpr double ABOUT = 1e-3;

    /** A span that is over. */
    struct Span
    {
        std::vector<uint64_t> state;     ///< at its end; is the same if it is equal
        std::vector<double> rates;       ///< at its end; are the same within TOLERANCE
        std::vector<PortCounters> ports; ///< what it has added to them
        bool raisesPeaks{false};         ///< whether queues were longer than before
        bool isIdle{false};              ///< whether all links are idle at its end

        /** @return sum of what it has added */
        PortCounters GetSum() const;
    };

    /**
     * @param fabric the network; must outlive this
     * @param hosts number of hosts that send
     * @param congestionControl of queue pairs, NAME or NAME:key=value; none: the senders are of
     *        another transport, which may react to marks, and whose state is not compared
     */
    NetworkRepetition(const Fabric& fabric,
                      uint32_t hosts,
                      const std::optional<std::string>& congestionControl);

    /** @return the span from the last call, or the start of the simulation, until now */
    Span Take();

    /** @param span the one that comes once more, without packets */
    void Repeat(const Span& span) const;

    /** @return whether the congestion control counts bytes, which are not compared */
    bool CountsBytes() const
    {
        return m_countsBytes;
    }

    /**
     * @return whether senders have a state beyond the rate and the window of their congestion
     *         control, as it hears of every packet
     */
    bool HasHiddenState() const
    {
        return m_hasHiddenState;
    }

    /** @return whether senders react to marked frames */
    bool ReactsToMarks() const
    {
        return m_reactsToMarks;
    }

    /** @return whether switches may have drawn numbers that decide whether frames are marked */
    bool MarksAtRandom() const;

    /** @param host its number @return messages that its queue pairs have got */
    uint64_t CountPostedMessages(uint32_t host) const;

    /**
     * @param one a span
     * @param other a later one
     * @param comparesMarks whether as many frames must be marked in both
     * @return whether they are the same
     */
    static bool AreSame(const Span& one, const Span& other, bool comparesMarks = true);

    /**
     * @param one a span
     * @param other another one
     * @return whether they differ by what acknowledgements take, or little else
     */
    static bool AreAbout(const Span& one, const Span& other);

    /**
     * @param part of the larger one
     * @param one a number
     * @param other another one
     * @return whether they differ by at most a part
     */
    static bool IsWithin(double part, double one, double other);

  private:
    void AddPorts(Span& span);
    static void AddFrames(std::vector<uint64_t>& state);
    void AddConnections(Span& span);
    std::vector<Ptr<RdmaNic>> GetNics(uint32_t host) const;

    const Fabric& m_fabric;
    const uint32_t m_hosts;
    bool m_hasHiddenState{true};
    bool m_reactsToMarks{true};
    bool m_countsBytes{false};         // since it was asked last
    std::vector<PortCounters> m_ports; // at the last call of Take()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_REPETITION_H
