/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef ADDER_PROGRAM_H
#define ADDER_PROGRAM_H

#include "ns3/aggregation-program.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * Adds 32-bit integers in one switch. A slot of the switch holds the sum of one packet; when the
 * packets of all workers have come, it multicasts the sum, and keeps it to answer a worker again
 * whose answer was lost.
 *
 * Packets take the slots in turn. A worker has at most half as many packets in flight as its job
 * has slots. So a slot is taken for a later packet only when all workers have the sum that it
 * holds.
 */
class AdderProgram : public ns3::training::AggregationProgram
{
  public:
    static constexpr uint32_t MAX_WORKERS = 64; ///< bits of a slot's bitmap

    static ns3::TypeId GetTypeId();

    /**
     * @param number of the job
     * @param endpoints of its workers
     * @param slots that it gets of the switch
     * @throw ConfigurationError if the number or the slots are taken, or there are too many workers
     */
    void AddJob(uint8_t number, const std::vector<uint32_t>& endpoints, uint32_t slots);

    std::string GetName() const override;
    Resources GetResources() const override;
    bool Receive(ns3::training::Frame* frame) override;

  private:
    struct Slot
    {
        uint32_t packet{0};       // number of the packet
        uint64_t seen{0};         // bit w: worker w has contributed; 0: the slot is free
        std::vector<int32_t> sum; // real payload: of the contributions so far
    };

    struct AdderJob : Job
    {
        std::vector<Slot> sums;
    };

    void Reset() override;
    void Add(const ns3::training::Frame& frame, Slot& slot, uint32_t worker);

    uint32_t m_slots{0};    // attribute
    uint32_t m_elements{0}; // attribute
    ns3::Time m_latency;    // attribute
};

#endif // ADDER_PROGRAM_H
