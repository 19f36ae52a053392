/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_IN_NETWORK_HELPER_H
#define DISTRIBUTED_TRAINING_IN_NETWORK_HELPER_H

#include "fabric-helper.h"
#include "in-network-system.h"

#include "ns3/abort.h"
#include "ns3/switch-device.h"
#include "ns3/training-attribute-list.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Base of the helpers of in-network aggregation systems. It holds attributes of the objects that it
 * creates, and its programs, one in each switch that its jobs need. Its jobs are all on one fabric
 * and share the programs. A program keeps the attributes that were set at its installation.
 * @tparam Program of switches, an AggregationProgram
 * @tparam Worker of ranks, an InNetworkCommunicator
 */
template <typename Program, typename Worker>
class InNetworkHelper
{
  public:
    /**
     * @param own keys besides attributes
     * @return keys of a system: attributes of programs, its own, attributes of workers
     */
    static std::vector<Key> MakeKeys(const std::vector<Key>& own)
    {
        std::vector<Key> keys = GetAttributeKeys(Program::GetTypeId());
        keys.insert(keys.end(), own.begin(), own.end());
        const auto ofWorkers = GetAttributeKeys(Worker::GetTypeId());
        keys.insert(keys.end(), ofWorkers.begin(), ofWorkers.end());
        return keys;
    }

    /**
     * @param name attribute of programs installed from now on, such as Slots
     * @param value its value
     * @throw ConfigurationError if the attribute does not exist or does not allow the value
     */
    void SetProgramAttribute(const std::string& name, const AttributeValue& value)
    {
        m_attributes.Set(Program::GetTypeId().GetName() + "::" + name, value);
    }

    /**
     * @param name attribute of workers created from now on, such as DataType
     * @param value its value
     * @throw ConfigurationError if the attribute does not exist or does not allow the value
     */
    void SetWorkerAttribute(const std::string& name, const AttributeValue& value)
    {
        m_attributes.Set(Worker::GetTypeId().GetName() + "::" + name, value);
    }

    /** @param attributes of all objects created from now on, by full name */
    void SetAttributes(const AttributeList& attributes)
    {
        m_attributes.Add(attributes);
    }

    /** @param number of the next job in its packets, 0 by default; later jobs count up */
    void SetNextNumber(uint32_t number)
    {
        m_nextNumber = number;
    }

    /**
     * @param index of a switch
     * @return the program of the switch, or null
     */
    Ptr<Program> GetProgram(uint32_t index) const
    {
        const auto found = m_programs.find(index);
        return found == m_programs.end() ? nullptr : found->second;
    }

    /**
     * @param number of a job that has not been removed
     * @return its counters, over all switches, if programs count by job
     */
    auto GetCountersOf(uint32_t number) const
    {
        std::decay_t<decltype(std::declval<Program>().GetCounters())> sum;
        for (const auto& [index, program] : m_programs)
        {
            program->AddCountersOf(static_cast<uint8_t>(number), sum);
        }
        return sum;
    }

    /** @param number of a job that has ended: its slots are free */
    void RemoveJob(uint32_t number)
    {
        for (const auto& [index, program] : m_programs)
        {
            if (program->HasJob(static_cast<uint8_t>(number)))
            {
                program->RemoveJob(static_cast<uint8_t>(number));
            }
        }
    }

  protected:
    /**
     * @param system for messages
     * @return number of a new job
     * @throw ConfigurationError if it needs more than 8 bits
     */
    uint8_t TakeNumber(const std::string& system)
    {
        return CheckJobNumber(system, m_nextNumber++);
    }

    /** @return the programs, by switch */
    const std::map<uint32_t, Ptr<Program>>& GetPrograms() const
    {
        return m_programs;
    }

    /** @return attributes of objects created from now on */
    const AttributeList& GetAttributes() const
    {
        return m_attributes;
    }

    /** @param fabric of a new job; must outlive the simulation */
    void UseFabric(Fabric& fabric)
    {
        NS_ABORT_MSG_IF(m_fabric && m_fabric != &fabric, "the jobs of a helper are on one fabric");
        m_fabric = &fabric;
    }

    /** @return the fabric of its jobs */
    Fabric& GetFabric() const
    {
        return *m_fabric;
    }

    /**
     * @tparam Configure a function of a Program&
     * @param index of a switch
     * @param configure sets the attributes of a new program
     * @return the program of the switch, installed now if there was none
     * @throw ConfigurationError if the switch lacks the resources
     */
    template <typename Configure>
    Ptr<Program> InstallProgram(uint32_t index, const Configure& configure)
    {
        Ptr<Program>& program = m_programs[index];
        if (!program)
        {
            program = m_attributes.Create<Program>();
            configure(*program);
            program->SetEndpoint(m_fabric->AddressSwitch(index));
            m_fabric->devicesOfSwitches[index]->AddProgram(program);
        }
        return program;
    }

    /**
     * Raises an attribute of a program to the number that a job needs.
     * @param program a new program
     * @param attribute a number, such as Workers
     * @param needed number needed by the job
     * @param most maximum of the attribute; the program refuses more
     */
    static void RaiseAttribute(Program& program,
                               const std::string& attribute,
                               uint64_t needed,
                               uint64_t most)
    {
        UintegerValue usual;
        program.GetAttribute(attribute, usual);
        program.SetAttribute(attribute,
                             UintegerValue(std::min(std::max(needed, usual.Get()), most)));
    }

    /**
     * @param endpoints of a job
     * @param isBetweenSwitches whether its frames also use links between switches
     * @return rate of its slowest link, or at least no higher: of all links, with links between
     *         switches; bit/s
     */
    uint64_t GetLineRate(const std::vector<uint32_t>& endpoints, bool isBetweenSwitches) const
    {
        uint64_t rate = UINT64_MAX;
        for (uint32_t endpoint : endpoints)
        {
            rate = std::min(rate, m_fabric->devices[endpoint]->GetPort().GetRate());
        }
        for (const auto& link : m_fabric->topology.links)
        {
            rate = isBetweenSwitches ? std::min(rate, link.rate.GetBitRate()) : rate;
        }
        return rate;
    }

    /**
     * Adds a worker to its group.
     * @param worker a new worker
     * @param rank of the worker
     * @param job number of the job
     * @param endpoints of each rank
     * @param hosts communicators for collectives on hosts, by rank
     */
    void JoinGroup(InNetworkCommunicator& worker,
                   uint32_t rank,
                   uint8_t job,
                   const std::vector<uint32_t>& endpoints,
                   const std::vector<Ptr<ScheduledCommunicator>>& hosts) const
    {
        InNetworkCommunicator::Group group;
        group.job = job;
        group.endpoints = endpoints;
        worker.SetGroup(rank, group, m_fabric->devices[endpoints[rank]], hosts[rank]);
    }

  private:
    Fabric* m_fabric{nullptr};
    uint32_t m_nextNumber{0};
    AttributeList m_attributes;
    std::map<uint32_t, Ptr<Program>> m_programs; // by switch
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_IN_NETWORK_HELPER_H
