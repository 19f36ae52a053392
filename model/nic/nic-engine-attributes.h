/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_ENGINE_ATTRIBUTES_H
#define DISTRIBUTED_TRAINING_NIC_ENGINE_ATTRIBUTES_H

#include "nic-engine.h"

#include "ns3/data-rate.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-nic
 *
 * The attributes of an object with an engine in a NIC, and the engine that they describe.
 */
class NicEngineAttributes
{
  public:
    virtual ~NicEngineAttributes() = default;

    /** The lines of a NIC. */
    struct Lines
    {
        uint64_t rate{0};    ///< of each, bit/s
        uint32_t count{1};   ///< number of ports
        double byteShare{1}; ///< bytes on the line per byte of a full packet
        uint64_t link{0};    ///< of the slowest link to other NICs: of an interface, bit/s
        double gain{1};      ///< rate of data over that of plain packets, if packets are coded
    };

    /** @return whether head flits are sent with the packets */
    bool HasHeads() const
    {
        return m_engine.subMessages.HasHeads();
    }

    /** @return adders of the NIC; the attribute Lanes, or as many as the lines need */
    uint32_t GetLanes() const;

    /** @return time for which the adders were busy */
    Time GetAdderTime() const
    {
        return m_engine.adder.GetBusy();
    }

    /** @return rate of the adders, bit/s */
    double GetAddRate() const;

    /**
     * @param bytes of float32
     * @return bytes of as many numbers in the format of the attribute NumberFormat
     */
    uint64_t GetFormattedBytes(uint64_t bytes) const
    {
        return m_engine.GetFormattedBytes(bytes);
    }

    /** @return what becomes of packets on their way, and of numbers in that format */
    const MessageCoding& GetCoding() const
    {
        return m_engine.coding;
    }

  protected:
    /**
     * @param type of the object
     * @return the type, with the attributes
     */
    static TypeId AddEngineAttributes(TypeId type);

    /**
     * @param lines of the NIC
     * @param ofHosts what becomes of messages of the hosts
     * @param oracles shared by all ranks; null: there are none
     * @throw ConfigurationError if sub-messages are no whole flits, or oracles are missing
     */
    void ConfigureEngine(const Lines& lines,
                         const MessageCoding& ofHosts,
                         std::shared_ptr<LockstepOracles> oracles);

    NicEngine m_engine;         ///< of the NIC
    Lines m_lines;              ///< of the NIC
    uint32_t m_activeLimit;     ///< collectives that run at a time
    Time m_doorbell;            ///< from the call of the host until the engine begins
    Time m_completion;          ///< from the last byte of the result until the host knows of it
    uint64_t m_ownBuffer;       ///< of a collective for the own vector, bytes; 0: unlimited
    uint64_t m_receptionBuffer; ///< of a message, bytes; 0: unlimited
    uint32_t m_interfaces;      ///< for messages of the schedule table; 0: any number

  private:
    void SetLockstep(std::string lockstep);
    void SetFlowControl(std::string flowControl);
    void SetNumberFormat(std::string format);

    std::string GetLockstep() const
    {
        return m_lockstep;
    }

    std::string GetFlowControl() const
    {
        return m_flowControl;
    }

    std::string GetNumberFormat() const
    {
        return m_numberFormat;
    }

    DataRate m_dmaRate;
    Time m_dmaLatency;
    uint32_t m_lanes;
    double m_clock; // MHz
    uint32_t m_addCycles;
    uint32_t m_tableEntries;
    std::string m_lockstep;
    std::string m_flowControl;
    uint32_t m_subMessage;
    std::string m_numberFormat;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_ENGINE_ATTRIBUTES_H
