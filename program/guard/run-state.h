/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_STATE_H
#define DISTRIBUTED_TRAINING_RUN_STATE_H

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * State of a GuardedRun, which the processes exchange when the simulation halts.
 */
struct RunState
{
    Time failureTime;                        ///< of the first failure
    uint32_t failurePeer{0};                 ///< first rank to ask whether it waits
    std::string failure;                     ///< reason; empty: there was none
    bool stopped{false};                     ///< the run was stopped
    bool ended{false};                       ///< all requested work is done
    Time lastDone;                           ///< when a process was done last
    bool computing{false};                   ///< a rank is busy other than by communication
    uint64_t progress{0};                    ///< grows with each frame that a host receives
    int signal{0};                           ///< that has arrived; 0: none
    std::map<uint32_t, std::string> waiting; ///< by rank; only waiting ranks

    /** @return the state as bytes */
    std::string Pack() const;

    /** @param bytes that Pack() returned @return the state */
    static RunState Unpack(const std::string& bytes);

    /** @param other state of another process; the first of two failures is kept */
    void Add(const RunState& other);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_STATE_H
