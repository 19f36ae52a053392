/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-program.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSwitchProgram");
NS_OBJECT_ENSURE_REGISTERED(SwitchProgram);

TypeId
SwitchProgram::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::SwitchProgram")
                            .SetParent<Object>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

void
SwitchProgram::DoDispose()
{
    m_switch = nullptr;
    m_restarts++;
    Object::DoDispose();
}

void
SwitchProgram::SetSwitch(ProgramHost* host)
{
    m_switch = host;
}

void
SwitchProgram::Restart()
{
    NS_LOG_FUNCTION(this);
    Reset();
    m_restarts++;
}

void
SwitchProgram::SetEndpoint(uint32_t endpoint)
{
    m_endpoint = endpoint;
}

uint32_t
SwitchProgram::GetEndpoint() const
{
    return m_endpoint;
}

ProgramHost&
SwitchProgram::GetSwitch() const
{
    return *m_switch;
}

uint32_t
SwitchProgram::GetRestarts() const
{
    return m_restarts;
}

void
SwitchProgram::Send(Frame* frame)
{
    NS_LOG_FUNCTION(this << frame->destination);
    m_switch->Emit(frame, ProgramHost::BY_ROUTE, GetResources().latency);
}

void
SwitchProgram::SendTo(Frame* frame, uint16_t port)
{
    NS_LOG_FUNCTION(this << port);
    m_switch->Emit(frame, port, GetResources().latency);
}

void
SwitchProgram::Emit(Frame* frame)
{
    m_switch->Emit(frame, ProgramHost::BY_ROUTE, Time(0));
}

void
SwitchProgram::EmitTo(Frame* frame, const Target& target)
{
    frame->source = m_endpoint;
    frame->destination = target.endpoint;
    frame->flowHash = target.flowHash;
    Emit(frame);
}

SwitchProgram::Target
SwitchProgram::MakeTarget(uint32_t endpoint, uint32_t flow) const
{
    return {endpoint, HashFlow(m_endpoint, endpoint, flow)};
}

void
SwitchProgram::Recirculate(Frame* frame)
{
    NS_LOG_FUNCTION(this);
    m_switch->Recirculate(frame);
}

} // namespace ns3::training
