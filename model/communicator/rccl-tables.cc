/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator/rccl-tables.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Rows of a table: trees, rings, and the two sums in switches, which RCCL has not.
constexpr uint32_t ALGORITHMS = 4;

/// By protocol: LL, LL128, Simple.
constexpr double RCCL_BASE[] = {12, 12, 17};
constexpr double RCCL_LATENCY[][ALGORITHMS][3] = {{{0.9, 0, 2.3}, {0.8, 0, 2.1}},
                                                  {{2.2, 2.2, 5.7}, {2.2, 2.2, 5.7}},
                                                  {{10.5, 0, 25}, {9.5, 0, 320}}};

/// By number of servers: up to 2, and more.
constexpr double RCCL_PART[][ALGORITHMS][3] = {{{.06, 0, .11}, {.08, 0, 1}},
                                               {{.06, 0, .59}, {.08, 0, 1}}};

/// By power of two from 64 bytes on; LL128 has none.
constexpr uint32_t RCCL_SIZES = 27;
constexpr double RCCL_TREE[][RCCL_SIZES] = {{.1, .1, .1, .1, .1, .1, 1,  1,  1,  1,  1,  .6, 1, .9,
                                             1,  1,  .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                                            {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                                             .1, .7, 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  .8}};
constexpr double RCCL_RING[][RCCL_SIZES] = {{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1,  .2, 1,
                                             .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1},
                                            {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                                             .1, .1, .1, .1, .1, .1, .1, .1, .1, .8, 1,  1,  1}};

/// Numbers of rings and of the protocol Simple.
constexpr uint32_t RCCL_RINGS = 1;
constexpr uint32_t RCCL_SIMPLE = 2;

} // namespace

double
RcclTables::GetBaseLatency(uint32_t protocol)
{
    return RCCL_BASE[protocol];
}

double
RcclTables::GetLatency(Hop hop, uint32_t algorithm, uint32_t protocol)
{
    return RCCL_LATENCY[hop][algorithm][protocol];
}

double
RcclTables::GetPart(uint32_t servers, uint32_t algorithm, uint32_t protocol)
{
    if (servers == 1 && algorithm != RCCL_RINGS && protocol == RCCL_SIMPLE)
    {
        return 0; // not in a server of MI300X
    }
    return RCCL_PART[servers > 2 ? 1 : 0][algorithm][protocol];
}

double
RcclTables::GetCorrection(uint32_t servers, uint32_t algorithm, uint32_t protocol, uint32_t size)
{
    if (algorithm == RCCL_RINGS && servers == 1)
    {
        return 1;
    }
    const auto& table = algorithm == RCCL_RINGS ? RCCL_RING : RCCL_TREE;
    return table[protocol == RCCL_SIMPLE ? 1 : 0][std::min(size, RCCL_SIZES - 1)];
}

} // namespace ns3::training
