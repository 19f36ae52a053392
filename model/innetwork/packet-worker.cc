/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "packet-worker.h"

#include "block-quantizer.h"
#include "core/attribute-choice.h"

#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

TypeId
PacketWorker::AddDataType(TypeId type, const std::string& coding)
{
    return type.AddAttribute(
        "DataType",
        "float32 (" + coding + ") or int32 (whole numbers, added as they are)",
        StringValue("float32"),
        MakeStringAccessor(&PacketWorker::SetDataType, &PacketWorker::GetDataType),
        MakeStringChecker());
}

TypeId
PacketWorker::AddPacketAttributes(TypeId type,
                                  const std::string& answer,
                                  const std::string& cores,
                                  uint32_t most)
{
    type.AddAttribute("PacketCost",
                      "CPU time per packet: receive " + answer + ", store it, send the next packet",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&PacketWorker::m_packetCost),
                      MakeTimeChecker(Time(0)));
    if (!cores.empty())
    {
        type.AddAttribute("Cores",
                          cores,
                          UintegerValue(4),
                          MakeUintegerAccessor(&PacketWorker::m_coreCount),
                          MakeUintegerChecker<uint32_t>(1, most));
    }
    return type.AddAttribute("Priority",
                             "Traffic class of all packets; 0 is lossy, 3 lossless",
                             UintegerValue(0),
                             MakeUintegerAccessor(&PacketWorker::m_priority),
                             MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1));
}

void
PacketWorker::SetDataType(std::string type)
{
    const std::string name = GetInstanceTypeId().GetName();
    m_isInteger = FindAllowedValue(name.substr(name.rfind(':') + 1) + "::DataType",
                                   type,
                                   {"float32", "int32"}) == 1;
}

std::string
PacketWorker::GetDataType() const
{
    return m_isInteger ? "int32" : "float32";
}

void
PacketWorker::DoDispose()
{
    Cancel();
    InNetworkCommunicator::DoDispose();
}

void
PacketWorker::SetPackets(uint32_t elements)
{
    m_elements = elements;
    m_check.Configure(GetJob(), GetRank(), GetSize());
    m_cores.Configure(m_coreCount);
}

bool
PacketWorker::BeginTensor(const Tensor& tensor)
{
    m_tensor = &tensor;
    m_result.assign(tensor.values.size(), 0);
    if (m_isInteger && !AreIntegers(tensor.values.data(), tensor.values.size()))
    {
        Abort("rank " + std::to_string(GetRank()) +
              ": a value is no 32-bit integer, which DataType int32 asks for");
        return false;
    }
    return true;
}

void
PacketWorker::Cancel()
{
    m_tensor = nullptr;
    m_result.clear();
}

std::string
PacketWorker::DescribeSilence(const std::string& answer,
                              const std::string& preposition,
                              uint64_t packet,
                              uint32_t slot,
                              Time silence) const
{
    return "rank " + std::to_string(GetRank()) + " has had no " + answer + " " + preposition +
           " packet " + std::to_string(packet) + " in slot " + std::to_string(slot) + " of " +
           GetName() + ", nor " + preposition + " any other, for " +
           FormatTime(MicroSeconds(silence.GetMicroSeconds()));
}

} // namespace ns3::training
