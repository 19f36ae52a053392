/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DATELINE_CLASSES_H
#define DISTRIBUTED_TRAINING_DATELINE_CLASSES_H

#include "fabric-frame.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The traffic classes of lossless frames in a topology with datelines. A frame that comes in behind
 * a dateline goes on in the second class of its own, the next higher one, until it leaves the
 * dimension, so that a cycle of links is no cycle of buffers (Dally and Seitz, 1987).
 */
class DatelineClasses
{
  public:
    /**
     * Says where a port leads.
     * @param port number of the port
     * @param dimension of its link
     * @param dateline whether its link is one
     */
    void SetPort(uint16_t port, uint8_t dimension, bool dateline);

    /**
     * Called when all ports are there.
     * @param ports number of ports
     * @param losslessClasses bit p: priority p is lossless
     * @throw ConfigurationError if there are datelines and a lossless class has no second one
     */
    void Configure(std::size_t ports, uint8_t losslessClasses);

    /** @return bit p: priority p is the second class of p - 1; 0: there are no datelines */
    uint8_t GetSecondClasses() const
    {
        return m_secondClasses;
    }

    /**
     * @param frame with the port and class it came in by
     * @param egress number of the port it goes out by
     * @return the class it goes on in
     */
    uint8_t GetClass(const Frame& frame, uint16_t egress) const;

  private:
    /** Where the link of a port leads. */
    struct Port
    {
        uint8_t dimension{0};
        bool dateline{false};
    };

    std::vector<Port> m_ports; // empty: there are no datelines
    uint8_t m_losslessClasses{0};
    uint8_t m_secondClasses{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DATELINE_CLASSES_H
