/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODESIGN_HARDWARE_H
#define DISTRIBUTED_TRAINING_CODESIGN_HARDWARE_H

#include <cstdint>

/**
 * @file
 * Area and power of the routers and switches of Hou et al.'s platforms (figure 12), by ports: a
 * model, not a simulation. The coefficients are fits, within 0.5 %, to what DSENT 0.91 (Sun et al.,
 * NOCS 2012) reports for routers of 2 to 13 ports with the paper's technology (45 nm bulk LVT) and
 * table II: flits of 512 bits, 1 GHz, 2 virtual channels. Power is that of DSENT's example, 0.3
 * flits per port and cycle. With the table's 5000 flits of buffer per channel a router would take
 * 278 mm2, so the example's 4 are the default.
 */

namespace
{

/** A quantity of a router of p ports: linear * p + square * p^2. */
struct RouterFit
{
    double linear; ///< buffers, drivers
    double square; ///< crossbar

    /** @return the quantity of a router or switch */
    double Get(double ports) const
    {
        return ports * (linear + square * ports);
    }

    /**
     * @param nodes per package, with a router and a port to a host each
     * @param packages of a torus, with 4 ports of each router; 1: no torus
     * @param switches per package, with a port of each router and to each
     * @param ringPorts of each router, in place of switches
     * @return the quantity of all routers and switches
     */
    double GetSum(uint32_t nodes, uint32_t packages, uint32_t switches, uint32_t ringPorts) const
    {
        const uint32_t ports = switches + ringPorts + (packages > 1 ? 4 : 0) + 1;
        return nodes * packages * Get(ports) + switches * packages * Get(nodes);
    }
};

/// Area, mm2, and power, static and dynamic, W, with 4 and with 5000 flits per channel.
constexpr RouterFit ROUTER_AREA{0.040646, 0.012777};
constexpr RouterFit ROUTER_POWER{0.017626, 0.000761};
constexpr RouterFit DEEP_ROUTER_AREA{39.7, 0.012777};
constexpr RouterFit DEEP_ROUTER_POWER{13.95, 0};

} // namespace

#endif // DISTRIBUTED_TRAINING_CODESIGN_HARDWARE_H
