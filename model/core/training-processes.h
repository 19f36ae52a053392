/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROCESSES_H
#define DISTRIBUTED_TRAINING_PROCESSES_H

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The processes that carry out one simulation together, by ns-3's MPI engine with granted time
 * windows (DistributedSimulatorImpl). They are started by `mpirun`, each with the same arguments.
 * All that needs MPI is in here; in a build without it, and in a process that was started on its
 * own, there is one process.
 *
 * Functions that say "all together" must be called by all processes, in the same order.
 */
class Processes
{
  public:
    /** @return how many there are, as `mpirun` tells by the environment; 1 without it */
    static uint32_t GetCount();

    /** @return number of this one, from 0 */
    static uint32_t GetId();

    /**
     * Begins to work together; before the simulator is first used. Does nothing the second time,
     * or if there is one process. All together.
     * @throw ConfigurationError if this build of ns-3 has no MPI
     */
    static void Start();

    /** Ends what Start() began, after the simulator has been destroyed. All together. */
    static void Finish();

    /**
     * Ends this process, and all others if they work together.
     * @param status exit status of the program
     */
    [[noreturn]] static void Abort(int status);

    /**
     * All together.
     * @param mine any bytes
     * @return those of each process, by number
     */
    static std::vector<std::string> Gather(const std::string& mine);

    /** Receives a message. (its first byte, its size) */
    using Receiver = std::function<void(const uint8_t*, uint32_t)>;

    /// Longest message, bytes. MAX_MPI_MSG_SIZE of ns-3 less the largest overhead of its packets.
    static constexpr uint32_t MAX_MESSAGE = 1800;

    /**
     * Makes messages possible; this is what the engine takes its lookahead from. All together.
     * @param nodes for each process, the number of a node that belongs to it
     * @param lookAhead least simulated time from the sending of a message to its receipt
     * @param receiver of messages, called as an event of this process's node
     */
    static void Connect(const std::vector<uint32_t>& nodes, Time lookAhead, Receiver receiver);

    /**
     * Sends a message. Those of one sender may overtake each other.
     * @param process number of the receiver
     * @param data first byte
     * @param size number of bytes, at most MAX_MESSAGE
     * @param delay until its receipt, at least the lookahead
     */
    static void Send(uint32_t process, const uint8_t* data, uint32_t size, Time delay);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROCESSES_H
