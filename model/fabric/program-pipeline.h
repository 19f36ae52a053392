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
 * The programs in the data plane of a switch, their shared resources, and the recirculation ports.
 */
class ProgramPipeline
{
  public:
    /** Resources of a switch: attributes of SwitchDevice, which documents them. */
    struct Capacity
    {
        uint32_t stages;             ///< match-action stages
        uint64_t registerBytes;      ///< stateful memory, bytes
        DataRate recirculationRate;  ///< rate of each recirculation port
        uint32_t recirculationPorts; ///< number of recirculation ports
        uint32_t floatAdders;        ///< number of float32 adders
        uint64_t externalBytes;      ///< external memory, bytes
    };

    /** @param capacity resources of the switch; must outlive this */
    explicit ProgramPipeline(const Capacity& capacity);

    /**
     * Loads a program after those already loaded.
     * @param program program to load
     * @param host the switch; must outlive the use of the program
     * @throw ConfigurationError if the remaining resources of the switch are insufficient
     */
    void Add(Ptr<SwitchProgram> program, ProgramHost& host);

    /** @return whether no program is loaded */
    bool IsEmpty() const
    {
        return m_programs.empty();
    }

    /** @return number of programs */
    uint32_t GetN() const
    {
        return static_cast<uint32_t>(m_programs.size());
    }

    /**
     * @param index index of a program in loading order
     * @return the program, or null
     */
    Ptr<SwitchProgram> Get(uint32_t index) const;

    /**
     * Offers a frame to the programs, in loading order.
     * @param frame the frame
     * @return whether a program has consumed the frame
     */
    bool Offer(Frame* frame)
    {
        return std::any_of(m_programs.begin(), m_programs.end(), [frame](const auto& program) {
            return program->Receive(frame);
        });
    }

    /**
     * Reserves a recirculation port, see ProgramHost::ReserveRecirculation().
     * @param port number of the recirculation port
     * @param bytes size of the frame
     * @param ready time at which the frame reaches the port, ps
     * @return time at which the frame has passed the port, ps
     */
    int64_t Reserve(uint32_t port, uint32_t bytes, int64_t ready);

    /** @return recirculated bytes */
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
    std::vector<int64_t> m_free; // time at which each recirculation port becomes free, ps
    uint64_t m_recirculatedBytes{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PROGRAM_PIPELINE_H
