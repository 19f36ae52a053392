/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_WINDOW_LIMIT_H
#define DISTRIBUTED_TRAINING_RDMA_WINDOW_LIMIT_H

#include "rdma-settings.h"

#include "ns3/rdma-congestion-control.h"

#include <cstdint>

namespace ns3::training
{

class StateVisitor;

/**
 * @ingroup distributed-training-rdma
 *
 * How many packets a queue pair may have in flight: by the window of its congestion control, the
 * limit of its NIC, and what has arrived behind a gap.
 */
class RdmaWindowLimit
{
  public:
    /**
     * @param settings of the NIC
     * @param path to the remote side
     * @param isIrn whether IRN's limit applies where the NIC has none of its own
     */
    RdmaWindowLimit(const RdmaSettings& settings,
                    const RdmaCongestionControl::Path& path,
                    bool isIrn);

    /**
     * @param window of the congestion control, bytes
     * @return limit of unacknowledged packets, at least 1
     */
    uint32_t GetPackets(uint64_t window) const;

    /**
     * @param packets that have arrived behind a gap, as acknowledgements say
     * @return whether that differs from before
     */
    bool SetAhead(uint64_t packets)
    {
        const bool differs = packets != m_ahead;
        m_ahead = packets;
        return differs;
    }

    /** @return see SetAhead() */
    uint64_t GetAhead() const
    {
        return m_ahead;
    }

    /**
     * A full packet has another size on the line: windows follow the size of the recent ones.
     * @param saved bytes of its payload; negative: more
     */
    void FollowSize(int64_t saved);

    /**
     * Visits its state.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor) const;

  private:
    void SetMostInFlight();

    const uint32_t m_mtu;
    uint32_t m_linePayload;   // of a full packet: the MTU, or what a program of the NIC makes of it
    uint64_t m_inFlightLimit; // by the NIC, bytes of payload on the line
    uint32_t m_mostInFlight;  // the same, packets
    uint64_t m_ahead{0};      // see SetAhead()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_WINDOW_LIMIT_H
