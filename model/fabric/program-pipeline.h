/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PROGRAM_PIPELINE_H
#define DISTRIBUTED_TRAINING_PROGRAM_PIPELINE_H

#include "switch-program.h"

#include "ns3/data-rate.h"
#include "ns3/ptr.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The programs in the data plane of a switch, the resources they share, and the recirculation
 * ports that lead back into it.
 */
class ProgramPipeline
{
  public:
    /** Resources of a switch: attributes of SwitchDevice, which documents them. */
    struct Capacity
    {
        uint32_t stages;             ///< match-action stages
        uint64_t registerBytes;      ///< stateful memory, bytes
        DataRate recirculationRate;  ///< of each recirculation port
        uint32_t recirculationPorts; ///< ports that lead back into the pipeline
        uint32_t floatAdders;        ///< float32 adders
        uint64_t externalBytes;      ///< memory beside the chip, bytes
    };

    /** @param capacity of the switch; must outlive this */
    explicit ProgramPipeline(const Capacity& capacity);

    /**
     * Loads a program behind those already there.
     * @param program to load
     * @param host the switch; must outlive the program's use
     * @throw ConfigurationError if the switch lacks the resources that it needs beside the others
     */
    void Add(Ptr<SwitchProgram> program, ProgramHost& host);

    /** @return whether no program is loaded */
    bool IsEmpty() const
    {
        return m_programs.empty();
    }

    /**
     * @param index of a program, in the order of loading
     * @return the program, or null
     */
    Ptr<SwitchProgram> Get(uint32_t index) const;

    /**
     * Shows a frame to the programs, in the order of loading.
     * @param frame a frame
     * @return whether a program has taken it
     */
    bool Offer(Frame* frame)
    {
        return std::any_of(m_programs.begin(), m_programs.end(), [frame](const auto& program) {
            return program->Receive(frame);
        });
    }

    /**
     * Occupies a recirculation port, see ProgramHost::ReserveRecirculation().
     * @param port number of the recirculation port
     * @param bytes of the frame
     * @param ready time at which the frame reaches the port, ps
     * @return time at which it has gone through, ps
     */
    int64_t Reserve(uint32_t port, uint32_t bytes, int64_t ready);

    /** @return bytes that have been recirculated */
    uint64_t GetRecirculatedBytes() const
    {
        return m_recirculatedBytes;
    }

    /** Restarts all programs: they lose their state. */
    void Restart();

    /** Disposes of all programs. */
    void Dispose();

  private:
    const Capacity& m_capacity;
    std::vector<Ptr<SwitchProgram>> m_programs;
    std::vector<int64_t> m_free; // time from which each recirculation port is free, ps
    uint64_t m_recirculatedBytes{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_PIPELINE_H
