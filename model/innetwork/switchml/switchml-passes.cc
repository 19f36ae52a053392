/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-passes.h"

#include "switchml-wire-format.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Integers that a pass adds.
constexpr uint32_t ELEMENTS_PER_PASS = 64;
/// Integers that a pass reads.
constexpr uint32_t ELEMENTS_READ_PER_PASS = 32;
/// Integer pair registers per pipeline stage.
constexpr uint32_t REGISTERS_PER_STAGE = 4;
/// Pipeline stages for job and worker, bitmap, counter and exponents.
constexpr uint32_t CONTROL_STAGES = 4;

uint32_t
DivideUp(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/** @return passes that only read a packet of so many elements */
uint32_t
GetHarvestPasses(uint32_t elements)
{
    return DivideUp(elements, ELEMENTS_READ_PER_PASS) - 1;
}

} // namespace

SwitchProgram::Resources
SwitchMlPasses::GetResources(uint32_t slots, bool hasTag) const
{
    const uint32_t consuming = DivideUp(elements, ELEMENTS_PER_PASS);
    SwitchProgram::Resources resources;
    resources.stages =
        DivideUp(std::min(elements, ELEMENTS_PER_PASS) / 2, REGISTERS_PER_STAGE) + CONTROL_STAGES;
    // Integers, bitmap, counter, exponents and round tag, bytes.
    const uint64_t version = 4 * elements + 4 + 1 + 2 + (hasTag ? 4 : 0);
    resources.registerBytes = 2 * version * slots;
    resources.recirculationPorts = GetHarvestPasses(elements) + (consuming - 1) * workers;
    resources.latency = latency;
    return resources;
}

uint32_t
SwitchMlPasses::GetRecirculatedBytes() const
{
    const uint32_t overhead = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const uint32_t reading = GetHarvestPasses(elements);
    uint32_t bytes = 0;
    if (reading > 0)
    {
        bytes = GetSwitchMlFrameBytes(ELEMENTS_READ_PER_PASS * reading) + overhead;
    }
    if (elements > ELEMENTS_PER_PASS)
    {
        bytes = std::max(bytes, GetSwitchMlFrameBytes(elements - ELEMENTS_PER_PASS) + overhead);
    }
    return bytes;
}

Time
SwitchMlPasses::Consume(ProgramHost& host, const Frame& frame) const
{
    int64_t ready = (Simulator::Now() + latency).GetTimeStep();
    uint32_t bytes = frame.bytes;
    uint32_t port = GetHarvestPasses(elements) + frame.ingress % workers;
    for (uint32_t left = elements; left > ELEMENTS_PER_PASS; left -= ELEMENTS_PER_PASS)
    {
        bytes -= 4 * ELEMENTS_PER_PASS; // added elements are cut off
        ready = host.ReserveRecirculation(port, bytes, ready) + latency.GetTimeStep();
        port += workers;
    }
    return TimeStep(ready);
}

Time
SwitchMlPasses::Harvest(ProgramHost& host, Time consumed) const
{
    int64_t ready = consumed.GetTimeStep();
    for (uint32_t pass = 0; pass < GetHarvestPasses(elements); pass++)
    {
        const uint32_t bytes = GetSwitchMlFrameBytes(ELEMENTS_READ_PER_PASS * (pass + 1));
        ready = host.ReserveRecirculation(pass, bytes, ready) + latency.GetTimeStep();
    }
    return TimeStep(ready) - Simulator::Now();
}

} // namespace ns3::training
