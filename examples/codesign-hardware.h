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

/** Parts of a platform. */
struct PlatformParts
{
    uint32_t routers;       ///< one per node
    uint32_t portsOfRouter; ///< inputs, equal to outputs
    uint32_t switches;      ///< local switches
    uint32_t portsOfSwitch; ///< inputs, equal to outputs
};

/** A quantity of a router of p ports: linear * p + square * p^2. */
struct RouterFit
{
    double linear; ///< buffers, drivers
    double square; ///< crossbar

    /** @return the quantity of all routers and switches */
    double GetSum(const PlatformParts& parts) const
    {
        const auto get = [this](double ports) { return ports * (linear + square * ports); };
        return parts.routers * get(parts.portsOfRouter) + parts.switches * get(parts.portsOfSwitch);
    }
};

/// Area with 4 flits per channel, mm2.
constexpr RouterFit ROUTER_AREA{0.040646, 0.012777};
/// Power with 4 flits per channel, static and dynamic, W.
constexpr RouterFit ROUTER_POWER{0.017626, 0.000761};
/// Area with 5000 flits per channel, mm2.
constexpr RouterFit DEEP_ROUTER_AREA{39.7, 0.012777};
/// Power with 5000 flits per channel, W.
constexpr RouterFit DEEP_ROUTER_POWER{13.95, 0};

/**
 * @param nodes per package
 * @param packages of a torus, or 1 without ports to a torus
 * @param switches per package; 0: the nodes are a ring
 * @param ringPorts ports of a node to the ring
 * @return the parts
 */
inline PlatformParts
CountParts(uint32_t nodes, uint32_t packages, uint32_t switches, uint32_t ringPorts)
{
    const uint32_t local = switches > 0 ? switches : ringPorts;
    const uint32_t torus = packages > 1 ? 4 : 0;
    const uint32_t host = 1;
    return {nodes * packages, local + torus + host, switches * packages, nodes};
}

} // namespace

#endif // DISTRIBUTED_TRAINING_CODESIGN_HARDWARE_H
