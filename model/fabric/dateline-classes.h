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
 * The traffic classes of lossless frames in a topology with datelines. A frame that has crossed a
 * dateline continues in the second class of its traffic class, which is the next higher one, until
 * it leaves the dimension. So a cycle of links does not become a cyclic buffer dependency (Dally
 * and Seitz, 1987).
 */
class DatelineClasses
{
  public:
    /**
     * Sets the properties of the link of a port.
     * @param port port number
     * @param dimension dimension of its link
     * @param dateline whether its link is a dateline
     */
    void SetPort(uint16_t port, uint8_t dimension, bool dateline);

    /**
     * Computes the second classes. Called after SetPort() for all ports.
     * @param ports number of ports
     * @param losslessClasses bit p: priority p is lossless
     * @throw ConfigurationError if there are datelines and a lossless class has no second class
     */
    void Configure(std::size_t ports, uint8_t losslessClasses);

    /** @return bit p: priority p is the second class of p - 1; 0: no datelines */
    uint8_t GetSecondClasses() const
    {
        return m_secondClasses;
    }

    /**
     * @param frame frame with its ingress port and ingress class
     * @param egress number of the egress port
     * @return the traffic class on the egress link
     */
    uint8_t GetClass(const Frame& frame, uint16_t egress) const;

  private:
    /** Properties of the link of a port. */
    struct Port
    {
        uint8_t dimension{0};
        bool dateline{false};
    };

    std::vector<Port> m_ports; // empty: no datelines
    uint8_t m_losslessClasses{0};
    uint8_t m_secondClasses{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DATELINE_CLASSES_H
