/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ASTRA_NETWORK_H
#define DISTRIBUTED_TRAINING_ASTRA_NETWORK_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** A dimension of a network of ASTRA-sim 2. */
struct AstraDimension
{
    std::string kind; ///< Ring, Switch or FullyConnected
    uint32_t size;    ///< NPUs, at least 2
    DataRate rate;    ///< of a link
    Time delay;       ///< of a link
};

/**
 * @ingroup distributed-training-fabric
 * @param path of a network file of ASTRA-sim 2's analytical model
 * @return its dimensions; the NPUs of the first one are neighbours
 * @throw ConfigurationError with file:line, if it is wrong
 */
std::vector<AstraDimension> ReadAstraNetwork(const std::string& path);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ASTRA_NETWORK_H
