/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-flow-control.h"

#include "core/attribute-choice.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Default packet memory unless more is needed, bytes.
constexpr uint64_t DEFAULT_BUFFER = 32 << 20;

/// Values of FlowControl: by the kind of switch, then the enumerators.
const std::vector<std::string> FLOW_CONTROLS{"auto", "none", "pfc", "credit"};

/// Values of WatchdogAction, in the order of the enumerators.
const std::vector<std::string> WATCHDOG_ACTIONS{"drop", "forward"};

const std::string&
GetName(FlowControl flowControl)
{
    return FLOW_CONTROLS[1 + static_cast<std::size_t>(flowControl)];
}

} // namespace

SwitchFlowControl::SwitchFlowControl(const SharedBuffer::Configuration& memory,
                                     const SharedBuffer::Headroom& headroom,
                                     PauseWatchdog::Settings& watchdog,
                                     const std::vector<Ptr<FabricPort>>& ports)
    : m_memory(memory),
      m_headroom(headroom),
      m_watchdog(watchdog),
      m_ports(ports)
{
}

void
SwitchFlowControl::Choose(const std::string& name)
{
    m_choice = FindAllowedValue("SwitchDevice::FlowControl", name, FLOW_CONTROLS);
}

std::string
SwitchFlowControl::GetChoice() const
{
    return FLOW_CONTROLS[m_choice];
}

void
SwitchFlowControl::SetWatchdogAction(const std::string& name)
{
    m_watchdog.action = static_cast<PauseWatchdog::Action>(
        FindAllowedValue("SwitchDevice::WatchdogAction", name, WATCHDOG_ACTIONS));
}

std::string
SwitchFlowControl::GetWatchdogAction() const
{
    return WATCHDOG_ACTIONS[static_cast<std::size_t>(m_watchdog.action)];
}

void
SwitchFlowControl::SetScaleUp()
{
    m_isScaleUp = true;
}

FlowControl
SwitchFlowControl::Get() const
{
    if (m_choice == 0)
    {
        return m_isScaleUp ? FlowControl::CREDIT : FlowControl::PFC;
    }
    return static_cast<FlowControl>(m_choice - 1);
}

uint8_t
SwitchFlowControl::GetLosslessClasses() const
{
    return Get() == FlowControl::NONE ? 0 : m_memory.losslessClasses;
}

void
SwitchFlowControl::CheckNeighbor(FlowControl neighbor) const
{
    if (neighbor != Get())
    {
        throw ConfigurationError(
            "ns3::training::SwitchDevice::FlowControl of neighbors: " + GetName(Get()) + " and " +
            GetName(neighbor) + " (allowed: the same at both ends of a link)");
    }
}

void
SwitchFlowControl::ConfigureMemory(uint8_t lossless, SharedBuffer& buffer) const
{
    SharedBuffer::Configuration memory = m_memory;
    memory.losslessClasses = lossless;
    std::vector<uint64_t> headroom;
    for (const auto& port : m_ports)
    {
        headroom.push_back(m_headroom.GetBytes(*port, memory.cellSize));
    }
    if (Get() == FlowControl::CREDIT)
    {
        // All memory of a class is its receive buffer; what programs emit may take more.
        memory.creditClasses = lossless;
        memory.guaranteed = 0;
        memory.losslessAlpha = 0;
        std::transform(m_ports.begin(), m_ports.end(), headroom.begin(), [&](const auto& port) {
            const uint64_t bytes = GetCreditBytes(*port, lossless) + m_headroom.largestFrame;
            return static_cast<uint64_t>(
                SharedBuffer::GetCellBytes(static_cast<double>(bytes), memory.cellSize));
        });
    }
    if (memory.size == 0)
    {
        memory.size = std::max(DEFAULT_BUFFER, 2 * SharedBuffer::GetReserved(memory, headroom));
    }
    buffer.Configure(memory, std::move(headroom));
}

bool
SwitchFlowControl::ConfigurePorts(uint8_t lossless, bool (*isLastHop)(const FabricPort& port))
{
    for (const auto& port : m_ports)
    {
        port->SetFlowControl(Get());
        port->GetPeer()->SetFlowControl(Get());
        if (Get() == FlowControl::CREDIT)
        {
            const uint64_t bytes = GetCreditBytes(*port, lossless);
            port->StoreAll();
            port->ReceiveWithCredits(lossless, bytes);
            if (isLastHop(*port))
            {
                port->GetPeer()->ReceiveWithCredits(lossless, bytes);
            }
        }
        else if (Get() == FlowControl::PFC && m_watchdog.detection.IsStrictlyPositive())
        {
            m_watchdogs.emplace_back(*port, m_watchdog);
            port->GetPauses().SetFilter(&m_watchdogs.back());
        }
    }
    return !m_watchdogs.empty();
}

void
SwitchFlowControl::NotifyQueueLength(uint16_t port, uint8_t priority, uint64_t bytes)
{
    if (bytes > 0)
    {
        m_watchdogs[port].NotifyQueued(priority);
    }
}

uint64_t
SwitchFlowControl::GetCreditBytes(const FabricPort& port, uint8_t lossless) const
{
    if (creditBuffer > 0)
    {
        return creditBuffer;
    }
    const double roundTrip = port.GetPeer()->GetDelay().GetSeconds() + port.GetDelay().GetSeconds();
    const double frame = m_headroom.largestFrame;
    const double least = roundTrip * static_cast<double>(port.GetRate()) / 8 + 2 * frame;
    const double classes = __builtin_popcount(lossless);
    const auto size = static_cast<double>(m_memory.size == 0 ? DEFAULT_BUFFER : m_memory.size);
    const double share = size / 2 / (classes * static_cast<double>(m_ports.size())) /
                         SharedBuffer::GetCellBytes(1, m_memory.cellSize);
    return static_cast<uint64_t>(std::clamp(share - frame, least, std::max(least, 1e15)));
}

} // namespace ns3::training
