/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-engine-attributes.h"

#include "core/attribute-choice.h"

#include "ns3/double.h"
#include "ns3/message-coder.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

/// Bits that an adder takes per cycle.
constexpr double ADDER_BITS = 8.0 * sizeof(float);

} // namespace

TypeId
NicEngineAttributes::AddEngineAttributes(TypeId type)
{
    return type
        .AddAttribute("ActiveCollectives",
                      "Collectives that the engine may run at a time; the others wait",
                      UintegerValue(1),
                      MakeUintegerAccessor(&NicEngineAttributes::m_activeLimit),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("DmaRate",
                      "Rate of the DMA engine in each direction; 0: unlimited",
                      DataRateValue(DataRate(0)),
                      MakeDataRateAccessor(&NicEngineAttributes::m_dmaRate),
                      MakeDataRateChecker())
        .AddAttribute("DmaLatency",
                      "Latency of a DMA transfer, beside the time that its bytes take",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&NicEngineAttributes::m_dmaLatency),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("DoorbellLatency",
                      "Time from the call of the host until the engine begins",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&NicEngineAttributes::m_doorbell),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("CompletionLatency",
                      "Time from the last byte of the result until the host knows of it",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&NicEngineAttributes::m_completion),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("OwnBuffer",
                      "Buffer of a collective for the rank's own vector, bytes; 0: unlimited",
                      UintegerValue(256 << 10),
                      MakeUintegerAccessor(&NicEngineAttributes::m_ownBuffer),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("ReceptionBuffer",
                      "Buffer of a message for received packets, bytes; 0: unlimited",
                      UintegerValue(256 << 10),
                      MakeUintegerAccessor(&NicEngineAttributes::m_receptionBuffer),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("NumberFormat",
                      "Numbers on the line and in the adders: float32, float16 or bfloat16",
                      StringValue("float32"),
                      MakeStringAccessor(&NicEngineAttributes::SetNumberFormat,
                                         &NicEngineAttributes::GetNumberFormat),
                      MakeStringChecker())
        .AddAttribute("Lanes",
                      "Adders of one float32, or of two numbers of 16 bits; 0: as many as the "
                      "line needs",
                      UintegerValue(0),
                      MakeUintegerAccessor(&NicEngineAttributes::m_lanes),
                      MakeUintegerChecker<uint32_t>(0, 1 << 16))
        .AddAttribute("Clock",
                      "Clock of the adders, MHz",
                      DoubleValue(200),
                      MakeDoubleAccessor(&NicEngineAttributes::m_clock),
                      MakeDoubleChecker<double>(1, 100000))
        .AddAttribute("AddLatency",
                      "Cycles from a number to its sum",
                      UintegerValue(8),
                      MakeUintegerAccessor(&NicEngineAttributes::m_addCycles),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute(
            "Lockstep",
            "off: messages leave when they have their data; none: in the order of a "
            "schedule table; estimate: its empty steps take an estimated time; oracle: a step "
            "begins when all ranks' messages of the steps before have left",
            StringValue("off"),
            MakeStringAccessor(&NicEngineAttributes::SetLockstep,
                               &NicEngineAttributes::GetLockstep),
            MakeStringChecker())
        .AddAttribute("TableEntries",
                      "Entries of the schedule table; 0: unlimited",
                      UintegerValue(128),
                      MakeUintegerAccessor(&NicEngineAttributes::m_tableEntries),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("Interfaces",
                      "Interfaces for messages of the schedule table, each with the rate of a link "
                      "and one message at a time; 0: any number of messages",
                      UintegerValue(0),
                      MakeUintegerAccessor(&NicEngineAttributes::m_interfaces),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("FlowControl",
                      "none: messages are sent as they are; packet: with a head flit of 16 "
                      "bytes for each sub-message; message: with one for each message",
                      StringValue("none"),
                      MakeStringAccessor(&NicEngineAttributes::SetFlowControl,
                                         &NicEngineAttributes::GetFlowControl),
                      MakeStringChecker())
        .AddAttribute("SubMessage",
                      "Bytes of a sub-message, a multiple of 16",
                      UintegerValue(256),
                      MakeUintegerAccessor(&NicEngineAttributes::m_subMessage),
                      MakeUintegerChecker<uint32_t>(16));
}

void
NicEngineAttributes::ConfigureEngine(const Lines& lines,
                                     const MessageCoding& ofHosts,
                                     std::shared_ptr<LockstepOracles> oracles)
{
    const bool asksOracles = m_lockstep == "oracle";
    if (asksOracles && !oracles)
    {
        throw ConfigurationError("lockstep=oracle with several processes (allowed: with a single "
                                 "one, where all ranks know of each other at once)");
    }
    m_lines = lines;
    if (m_dmaRate.GetBitRate() > 0)
    {
        m_engine.reading.secondsPerByte = 8.0 / static_cast<double>(m_dmaRate.GetBitRate());
    }
    m_engine.reading.latency = m_dmaLatency;
    // The buffer holds formatted numbers, the memory of the host float32.
    m_engine.reading.bufferBytes =
        m_ownBuffer * sizeof(float) / m_engine.GetFormattedBytes(sizeof(float));
    m_engine.receptionBytes = m_receptionBuffer;
    m_engine.lanes = GetLanes();
    m_engine.cycle = Seconds(1e-6 / m_clock);
    m_engine.addLatency = m_engine.cycle * static_cast<int64_t>(m_addCycles);
    if (m_engine.format)
    {
        m_engine.coding.roundTrip = [format = m_engine.format](std::vector<uint8_t>& bytes,
                                                               const MessagePlace&) {
            MessageCoder::RoundTrip(*format, CodecKey(), bytes);
        };
        m_engine.coding.codesOwner = true;
        m_engine.coding.codesCopies = true;
        m_engine.coding.codesInputs = true;
    }
    else
    {
        m_engine.coding = ofHosts;
    }
    m_engine.hasTable = m_lockstep != "off";
    m_engine.table.entries = m_tableEntries;
    m_engine.table.interfaces = m_interfaces;
    m_engine.table.lockstep = m_lockstep == "estimate";
    m_engine.oracles = asksOracles ? std::move(oracles) : nullptr;
    m_engine.subMessages =
        SubMessages(m_flowControl == "packet"    ? SubMessages::FlowControl::PACKET
                    : m_flowControl == "message" ? SubMessages::FlowControl::MESSAGE
                                                 : SubMessages::FlowControl::NONE,
                    m_subMessage);
    m_engine.lineSecondsPerByte = 8.0 / static_cast<double>(lines.link);
    m_engine.lineShare = lines.byteShare;
}

void
NicEngineAttributes::SetLockstep(std::string lockstep)
{
    FindAllowedValue("NicCommunicator::Lockstep", lockstep, {"off", "none", "estimate", "oracle"});
    m_lockstep = std::move(lockstep);
}

void
NicEngineAttributes::SetFlowControl(std::string flowControl)
{
    FindAllowedValue("NicCommunicator::FlowControl", flowControl, {"none", "packet", "message"});
    m_flowControl = std::move(flowControl);
}

void
NicEngineAttributes::SetNumberFormat(std::string format)
{
    FindAllowedValue("NicCommunicator::NumberFormat", format, {"float32", "float16", "bfloat16"});
    m_numberFormat = std::move(format);
    m_engine.format = m_numberFormat == "float16"    ? MakeCodec("fp16")
                      : m_numberFormat == "bfloat16" ? MakeCodec("bf16")
                                                     : nullptr;
}

uint32_t
NicEngineAttributes::GetLanes() const
{
    const double rate = static_cast<double>(m_lines.rate) * m_lines.count * m_lines.gain;
    const double needed = rate / (m_clock * 1e6 * ADDER_BITS);
    return m_lanes > 0 ? m_lanes : std::max(1U, static_cast<uint32_t>(std::ceil(needed)));
}

double
NicEngineAttributes::GetAddRate() const
{
    return GetLanes() * m_clock * 1e6 * ADDER_BITS;
}

} // namespace ns3::training
