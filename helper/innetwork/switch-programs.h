/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PROGRAMS_H
#define DISTRIBUTED_TRAINING_SWITCH_PROGRAMS_H

#include "ns3/fabric-helper.h"
#include "ns3/switch-device.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * The programs of a system in the switches of a fabric, which its jobs share: one in each switch
 * that a job needs.
 * @tparam Program a SwitchProgram
 */
template <typename Program>
class SwitchPrograms
{
  public:
    /** @param fabric whose switches have the programs; must outlive the simulation */
    explicit SwitchPrograms(Fabric& fabric)
        : m_fabric(fabric)
    {
    }

    /**
     * @param index of a switch
     * @return the program there, or null
     */
    Ptr<Program> Get(uint32_t index) const
    {
        const auto found = m_programs.find(index);
        return found == m_programs.end() ? nullptr : found->second;
    }

    /**
     * @tparam Configure a function of a Program&
     * @param index of a switch
     * @param configure sets the attributes of a new program
     * @return the program there, installed now if there was none
     * @throw ConfigurationError if the switch has not got the resources
     */
    template <typename Configure>
    Ptr<Program> Install(uint32_t index, const Configure& configure)
    {
        Ptr<Program>& program = m_programs[index];
        if (!program)
        {
            program = CreateObject<Program>();
            configure(*program);
            program->SetEndpoint(m_fabric.AddressSwitch(index));
            m_fabric.devicesOfSwitches[index]->AddProgram(program);
        }
        return program;
    }

  private:
    Fabric& m_fabric;
    std::map<uint32_t, Ptr<Program>> m_programs; // by switch
};

/**
 * @ingroup distributed-training-helper
 *
 * Raises an attribute of a program to what a job needs.
 * @param program new
 * @param attribute a number, such as Workers
 * @param needed by the job
 * @param most that the attribute can be; more is left for the program to refuse
 */
inline void
RaiseAttribute(SwitchProgram& program, const std::string& attribute, uint64_t needed, uint64_t most)
{
    UintegerValue usual;
    program.GetAttribute(attribute, usual);
    program.SetAttribute(attribute, UintegerValue(std::min(std::max(needed, usual.Get()), most)));
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PROGRAMS_H
