/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROCESSES_H
#define DISTRIBUTED_TRAINING_PROCESSES_H

#include "training-byte-archive.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The processes of a parallel simulation. `mpirun` starts them with identical arguments. This class
 * contains all MPI code of the module. A build without MPI, or a process started without `mpirun`,
 * has one process; `mpirun` then starts independent simulations. A library with the MPI variant of
 * these functions, loaded first (LD_PRELOAD), gives MPI to a build without it.
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
     * Starts the parallel simulation. Does nothing when called again or if there is only one
     * process. Collective call.
     */
    static void Start();

    /** Ends the parallel simulation. Collective call. */
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

    /// Takes a message. (number of the sending process, first byte, number of bytes)
    using Receiver = std::function<void(uint32_t, const uint8_t*, std::size_t)>;

    /**
     * Sends a message to every other process, and receives one from each. Collective call.
     * @param messages by number of the receiving process; that to this process is not sent
     * @param receiver called with each message, in the order of the processes
     */
    static void Exchange(const std::vector<ByteWriter>& messages, const Receiver& receiver);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROCESSES_H
