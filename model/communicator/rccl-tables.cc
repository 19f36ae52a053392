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

/// By protocol: LL, LL128, Simple. Tables of algorithms have trees first, then rings.
constexpr double RCCL_BASE[] = {12, 12, 17};
constexpr double RCCL_LATENCY[][2][3] = {{{0.9, 0, 2.3}, {0.8, 0, 2.1}},
                                         {{2.2, 2.2, 5.7}, {2.2, 2.2, 5.7}},
                                         {{10.5, 0, 25}, {9.5, 0, 320}}};

/// By number of servers: up to 2, and more.
constexpr double RCCL_PART[][2][3] = {{{.06, 0, .11}, {.08, 0, 1}}, {{.06, 0, .59}, {.08, 0, 1}}};

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

std::size_t
GetRow(RcclTables::Algorithm algorithm)
{
    return algorithm == RcclTables::Algorithm::TREE ? 0 : 1;
}

std::size_t
GetColumn(RcclTables::Protocol protocol)
{
    return static_cast<std::size_t>(protocol);
}

} // namespace

double
RcclTables::GetBaseLatency(Protocol protocol)
{
    return RCCL_BASE[GetColumn(protocol)];
}

double
RcclTables::GetLatency(Hop hop, Algorithm algorithm, Protocol protocol)
{
    return RCCL_LATENCY[hop][GetRow(algorithm)][GetColumn(protocol)];
}

double
RcclTables::GetPart(uint32_t servers, Algorithm algorithm, Protocol protocol)
{
    if (servers == 1 && algorithm == Algorithm::TREE && protocol == Protocol::SIMPLE)
    {
        return 0; // not in a server of MI300X
    }
    return RCCL_PART[servers > 2 ? 1 : 0][GetRow(algorithm)][GetColumn(protocol)];
}

double
RcclTables::GetCorrection(uint32_t servers, Algorithm algorithm, Protocol protocol, uint32_t size)
{
    if (algorithm == Algorithm::RING && servers == 1)
    {
        return 1;
    }
    const auto& table = algorithm == Algorithm::TREE ? RCCL_TREE : RCCL_RING;
    return table[protocol == Protocol::SIMPLE ? 1 : 0][std::min(size, RCCL_SIZES - 1)];
}

} // namespace ns3::training
