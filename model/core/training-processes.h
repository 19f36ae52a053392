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
 * The processes of a parallel simulation, which runs on ns-3's granted-time-window MPI engine
 * (DistributedSimulatorImpl). `mpirun` starts them with identical arguments. This class contains
 * all MPI code of the module. A build without MPI, or a process started without `mpirun`, has one
 * process; `mpirun` then starts independent simulations.
 *
 * Functions marked "collective call" must be called by all processes in the same order.
 */
class Processes
{
  public:
    /** @return number of processes, from the environment set by `mpirun`; 1 without it or MPI */
    static uint32_t GetCount();

    /** @return number of this process, from 0 */
    static uint32_t GetId();

    /**
     * Starts the parallel simulation. Must be called before the simulator is first used. Does
     * nothing when called again or if there is only one process. Collective call.
     */
    static void Start();

    /** Ends the parallel simulation after the simulator has been destroyed. Collective call. */
    static void Finish();

    /**
     * Terminates this process and, in a parallel simulation, all other processes.
     * @param status exit status of the program
     */
    [[noreturn]] static void Abort(int status);

    /**
     * Exchanges data among all processes. Collective call.
     * @param mine any bytes of this process
     * @return the bytes of every process, by process number
     */
    static std::vector<std::string> Gather(const std::string& mine);

    /** Receives a message. (first byte, size) */
    using Receiver = std::function<void(const uint8_t*, uint32_t)>;

    /// Maximum message size, bytes: ns-3's MAX_MPI_MSG_SIZE minus the maximum packet overhead.
    static constexpr uint32_t MAX_MESSAGE = 1800;

    /**
     * Sets up messages between processes. The MPI engine takes its lookahead from this connection.
     * Collective call.
     * @param nodes for each process, the id of one of its nodes
     * @param lookAhead minimum simulated time between sending and receiving a message
     * @param receiver receives messages; called as an event of this process's node
     */
    static void Connect(const std::vector<uint32_t>& nodes, Time lookAhead, Receiver receiver);

    /**
     * Sends a message. Messages of one sender may overtake each other.
     * @param process number of the receiving process
     * @param data first byte
     * @param size number of bytes, at most MAX_MESSAGE
     * @param delay simulated time until reception, at least the lookahead
     */
    static void Send(uint32_t process, const uint8_t* data, uint32_t size, Time delay);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROCESSES_H
