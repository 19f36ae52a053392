/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PROGRAM_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_SWITCH_PROGRAM_TEST_COMMON_H

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/string.h"
#include "ns3/switch-device.h"
#include "ns3/topology-builder.h"
#include "ns3/wire-bytes.h"

namespace ns3::training::tests
{

/** Attributes of an object, as strings. */
using Attributes = std::vector<std::pair<std::string, std::string>>;

/** @return an object with these attributes */
template <typename T>
Ptr<T>
CreateWith(const Attributes& attributes)
{
    auto object = CreateObject<T>();
    for (const auto& [name, value] : attributes)
    {
        object->SetAttribute(name, StringValue(value));
    }
    return object;
}

/** @return the refusal of a program by a switch with these attributes; empty if accepted */
inline std::string
RefuseProgram(Ptr<SwitchProgram> program, const Attributes& attributes = {})
{
    auto device = CreateWith<SwitchDevice>(attributes);
    const std::string text = GetRefusal([&]() { device->AddProgram(program); });
    device->Dispose();
    return text;
}

/** @return the words of a frame's payload, in host order */
inline std::vector<uint32_t>
GetWords(const Frame& frame)
{
    std::vector<uint32_t> words;
    for (uint32_t i = 0; i < frame.payloadBytes / 4; i++)
    {
        words.push_back(GetWord(frame.payload->bytes.data() + frame.payloadOffset + 4 * i));
    }
    return words;
}

/** Hosts on one switch with a program. The test scripts their packets. */
template <typename Program>
class ProgramBench
{
  public:
    /** @param program with its attributes set @param hosts number of hosts on the switch */
    ProgramBench(Ptr<Program> program, uint32_t hosts)
        : program(program)
    {
        m_fabric = FabricHelper().Install(
            BuildTopology("single-switch", hosts, DataRate("100Gbps"), NanoSeconds(500)));
        program->SetEndpoint(m_fabric.AddressSwitch(0));
        device = m_fabric.devicesOfSwitches[0];
        device->AddProgram(program);
    }

    ~ProgramBench()
    {
        Simulator::Destroy();
    }

    ProgramBench(const ProgramBench&) = delete;
    ProgramBench& operator=(const ProgramBench&) = delete;

    Ptr<Program> program;
    Ptr<SwitchDevice> device;

  protected:
    /**
     * Sends a packet of a host.
     * @param frame with its headers; its source is the host
     * @param words of its payload
     */
    void Send(Frame* frame, const std::vector<uint32_t>& words)
    {
        frame->payloadBytes = static_cast<uint32_t>(4 * words.size());
        frame->payload = Create<ByteBuffer>();
        frame->payload->bytes.resize(frame->payloadBytes);
        for (std::size_t i = 0; i < words.size(); i++)
        {
            SetWord(frame->payload->bytes.data() + 4 * i, words[i]);
        }
        m_fabric.devices[frame->source]->GetPort().Send(frame);
    }

    Fabric m_fabric;
};

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_SWITCH_PROGRAM_TEST_COMMON_H
