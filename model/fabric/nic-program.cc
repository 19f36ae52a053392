/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-program.h"

#include "fabric-port.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(NicProgram);

TypeId
NicProgram::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::NicProgram").SetParent<Object>().SetGroupName("DistributedTraining");
    return tid;
}

void
NicProgram::DoDispose()
{
    m_device = nullptr;
    Object::DoDispose();
}

Time
NicProgram::GetSendTime(const Frame&) const
{
    return Time(0);
}

Time
NicProgram::GetReceiveTime(const Frame&) const
{
    return Time(0);
}

bool
NicProgram::Send(Frame& frame, FabricPort& port)
{
    const uint32_t before = frame.bytes;
    if (!OnSend(frame))
    {
        return false;
    }
    const Time service = GetSendTime(frame);
    if (frame.bytes != before)
    {
        port.OnResize(frame, before);
    }
    if (service.IsStrictlyPositive())
    {
        port.Occupy(service);
    }
    return true;
}

void
NicProgram::SetDevice(HostDevice* device)
{
    m_device = device;
}

HostDevice&
NicProgram::GetDevice() const
{
    return *m_device;
}

} // namespace ns3::training
