/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "program-pipeline.h"

#include "ns3/log.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <string>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingProgramPipeline");

ProgramPipeline::ProgramPipeline(const Capacity& capacity)
    : m_capacity(capacity)
{
}

void
ProgramPipeline::Add(Ptr<SwitchProgram> program, ProgramHost& host)
{
    NS_LOG_FUNCTION(this << program->GetName());
    SwitchProgram::Resources sum = program->GetResources();
    for (const auto& other : m_programs)
    {
        const SwitchProgram::Resources used = other->GetResources();
        sum.stages += used.stages;
        sum.registerBytes += used.registerBytes;
        sum.recirculationPorts += used.recirculationPorts;
        sum.floatAdders += used.floatAdders;
        sum.externalBytes += used.externalBytes;
    }
    const auto check = [&](bool fits, const std::string& needs, const std::string& allowed) {
        if (!fits)
        {
            NS_LOG_INFO("refuses program " << program->GetName() << ": " << needs);
            throw ConfigurationError("program " + program->GetName() + " needs " + needs +
                                     " of a switch, with what is there (allowed: " + allowed + ")");
        }
    };
    check(sum.stages <= m_capacity.stages,
          std::to_string(sum.stages) + " stages",
          std::to_string(m_capacity.stages));
    check(sum.registerBytes <= m_capacity.registerBytes,
          FormatBytes(sum.registerBytes) + " of register memory",
          FormatBytes(m_capacity.registerBytes));
    check(sum.recirculationPorts <= m_capacity.recirculationPorts,
          std::to_string(sum.recirculationPorts) + " recirculation ports",
          std::to_string(m_capacity.recirculationPorts));
    check(sum.floatAdders <= m_capacity.floatAdders,
          std::to_string(sum.floatAdders) + " float adders",
          std::to_string(m_capacity.floatAdders));
    check(sum.externalBytes <= m_capacity.externalBytes,
          FormatBytes(sum.externalBytes) + " of external memory",
          FormatBytes(m_capacity.externalBytes));
    NS_LOG_INFO("loads program " << program->GetName() << " with " << sum.stages << " of "
                                 << m_capacity.stages << " stages and " << sum.registerBytes
                                 << " of " << m_capacity.registerBytes
                                 << " bytes of registers in use");
    program->SetSwitch(&host);
    m_programs.push_back(program);
}

Ptr<SwitchProgram>
ProgramPipeline::Get(uint32_t index) const
{
    return index < m_programs.size() ? m_programs[index] : nullptr;
}

int64_t
ProgramPipeline::Reserve(uint32_t port, uint32_t bytes, int64_t ready)
{
    if (m_free.empty())
    {
        m_free.resize(m_capacity.recirculationPorts, 0);
    }
    const double bits = 8.0 * (bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
    const auto rate = static_cast<double>(m_capacity.recirculationRate.GetBitRate());
    int64_t& free = m_free.at(port);
    free = std::max(ready, free) + static_cast<int64_t>(bits * 1e12 / rate);
    m_recirculatedBytes += bytes;
    return free;
}

void
ProgramPipeline::Restart()
{
    for (const auto& program : m_programs)
    {
        NS_LOG_INFO("restarts program " << program->GetName());
        program->Restart();
    }
}

void
ProgramPipeline::Dispose()
{
    for (const auto& program : m_programs)
    {
        program->Dispose();
    }
    m_programs.clear();
}

} // namespace ns3::training
