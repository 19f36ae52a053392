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
 * Adds 32-bit integers in one switch. Each slot of the switch holds the sum of one packet. When the
 * packets of all workers have arrived, the program multicasts the sum. It keeps the sum to answer
 * workers that have lost it.
 *
 * Packets use the slots in turn. A worker has at most half as many packets in flight as its job has
 * slots. So a slot is reused for a later packet only after all workers have received its sum.
 */
class AdderProgram : public ns3::training::AggregationProgram
{
  public:
    static constexpr uint32_t MAX_WORKERS = 64; ///< bits of a slot's bitmap

    static ns3::TypeId GetTypeId();

    /**
     * @param number of the job
     * @param endpoints of its workers
     * @param slots number of slots reserved for the job
     * @throw ConfigurationError if the number is in use, too few slots are left, or there are too
     *        many workers
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
        std::vector<int32_t> sum; // real payload: partial sum
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
