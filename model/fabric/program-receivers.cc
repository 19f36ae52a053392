/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "program-receivers.h"

#include "fabric-frame.h"
#include "fabric-wire-format.h"

#include "ns3/abort.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

void
ProgramReceivers::Set(uint16_t protocol, uint32_t key, Receiver receiver)
{
    auto found = std::find_if(m_protocols.begin(), m_protocols.end(), [=](const auto& receivers) {
        return receivers.protocol == protocol;
    });
    if (found == m_protocols.end())
    {
        const WireFormat& format = WireFormat::Find(protocol);
        NS_ABORT_MSG_IF(!format.key, "frames of " << format.name << " have no key of a receiver");
        found = m_protocols.insert(found, {protocol, format.key, {}});
    }
    found->byKey[key] = std::move(receiver);
}

bool
ProgramReceivers::Deliver(Frame* frame) const
{
    for (const Protocol& receivers : m_protocols)
    {
        if (receivers.protocol != frame->protocol)
        {
            continue;
        }
        const auto found = receivers.byKey.find(receivers.getKey(*frame));
        if (found != receivers.byKey.end() && found->second)
        {
            found->second(frame);
            return true;
        }
    }
    return false;
}

void
ProgramReceivers::Clear()
{
    m_protocols.clear();
}

} // namespace ns3::training
