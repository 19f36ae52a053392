/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-buffer.h"

#include "state-visitor.h"

#include "ns3/assert.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3::training
{

namespace
{

/// Maximum memory size, bytes; twice this size still fits into 64 bits.
constexpr double MAX_MEMORY = 1e18;

} // namespace

double
SharedBuffer::GetCellBytes(double bytes, uint32_t cellSize)
{
    // The worst frame is the shortest one of its number of cells.
    constexpr double LINE_OVERHEAD = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    const double cells = (Frame::MIN_BYTES + cellSize - 1) / cellSize;
    const double shortest = cellSize * cells / (Frame::MIN_BYTES + LINE_OVERHEAD);
    const double next = cellSize * (cells + 1) / (cellSize * cells + 1 + LINE_OVERHEAD);
    return bytes * std::max({1.0, shortest, next});
}

uint64_t
SharedBuffer::Headroom::GetBytes(const FabricPort& port, uint32_t cellSize) const
{
    // Bytes that may arrive once the threshold is crossed: the crossing frame, a round trip of the
    // link, the frame that delays the pause frame, the frame that the sender has already started,
    // and the response time of the sender.
    const double roundTrip = port.GetPeer()->GetDelay().GetSeconds() +
                             port.GetDelay().GetSeconds() +
                             port.GetPeer()->GetPauseResponse().GetSeconds();
    const double bytes = scale * GetCellBytes(roundTrip * static_cast<double>(port.GetRate()) / 8 +
                                                  3.0 * largestFrame + 2 * Frame::MIN_BYTES,
                                              cellSize);
    // GetReserved() rejects sizes that do not fit into 64 bits.
    return static_cast<uint64_t>(std::min(bytes, std::ldexp(1.0, 63)));
}

uint64_t
SharedBuffer::GetReserved(const Configuration& configuration, const std::vector<uint64_t>& headroom)
{
    const double reserved =
        __builtin_popcount(configuration.losslessClasses) *
        (static_cast<double>(configuration.guaranteed) * static_cast<double>(headroom.size()) +
         std::accumulate(headroom.begin(), headroom.end(), 0.0));
    if (reserved > MAX_MEMORY)
    {
        throw ConfigurationError("guarantees and PFC headroom of a switch of " +
                                 FormatDouble(reserved) + " bytes (allowed: up to " +
                                 FormatDouble(MAX_MEMORY) +
                                 "; they follow from delays and rates of links, and from "
                                 "Guaranteed, HeadroomScale, LargestFrame, CellSize and "
                                 "CreditBuffer of ns3::training::SwitchDevice, and PauseResponse)");
    }
    return static_cast<uint64_t>(reserved);
}

void
SharedBuffer::Configure(const Configuration& configuration, std::vector<uint64_t> headroom)
{
    const uint64_t reserved = GetReserved(configuration, headroom);
    if (reserved >= configuration.size)
    {
        throw ConfigurationError("packet memory (--buffer, SwitchDevice::BufferSize) of " +
                                 FormatBytes(configuration.size) + " (allowed: more than " +
                                 FormatBytes(reserved) +
                                 ", which the guarantees and the headroom of " +
                                 std::to_string(headroom.size()) + " ports take)");
    }
    m_configuration = configuration;
    m_configuration.pausedClasses = configuration.losslessClasses & ~configuration.creditClasses;
    m_headroom = std::move(headroom);
    m_ingress.assign(m_headroom.size() * PRIORITIES, {});
    m_poolSize = configuration.size - reserved;
    m_poolUsed = 0;
    m_used = 0;
    for (uint32_t index = 0; index < m_multicasts.size(); index++)
    {
        if (m_multicasts[index].users > 0)
        {
            m_multicasts[index].users = 0;
            m_multicasts[index].generation++;
            m_freeMulticasts.push_back(index);
        }
    }
}

double
SharedBuffer::GetQueueLimit() const
{
    // A queue q ends at alpha (pool - q), of each sender.
    const auto part = [](double alpha, double senders) {
        return senders * alpha / (1 + senders * alpha);
    };
    return static_cast<double>(m_poolSize) * std::min(part(m_configuration.losslessAlpha, 2),
                                                      part(m_configuration.lossyAlpha, 1) / 2);
}

bool
SharedBuffer::HasSpaceFor(uint64_t users, bool hasLossy) const
{
    if (m_configuration.pausedClasses == 0 && !hasLossy)
    {
        return true;
    }
    const uint64_t used = m_peak * users;
    const double alpha = std::min(m_configuration.losslessAlpha, m_configuration.lossyAlpha);
    return used < m_poolSize &&
           static_cast<double>(m_peak) < alpha * static_cast<double>(m_poolSize - used);
}

uint64_t
SharedBuffer::GetThreshold(double alpha) const
{
    const uint64_t free = m_poolSize > m_poolUsed ? m_poolSize - m_poolUsed : 0;
    // Clamp: a threshold above the maximum memory has no further effect.
    return static_cast<uint64_t>(std::min(alpha * static_cast<double>(free), MAX_MEMORY));
}

uint64_t
SharedBuffer::SharedUse(const Ingress& ingress) const
{
    const uint64_t rest = ingress.total - ingress.headroom;
    return rest > m_configuration.guaranteed ? rest - m_configuration.guaranteed : 0;
}

bool
SharedBuffer::Admit(const Frame& frame, uint64_t egressBytes)
{
    return frame.isCopy ? AdmitCopy(frame, egressBytes) : Charge(frame, egressBytes);
}

bool
SharedBuffer::AdmitCopy(const Frame& frame, uint64_t egressBytes)
{
    Multicast* multicast = Find(frame.multicast);
    if (multicast && multicast->bytes > 0)
    {
        return IsLossless(frame.ingressPriority) ||
               egressBytes + frame.bytes <= GetThreshold(m_configuration.lossyAlpha);
    }
    const bool isAdmitted = Charge(frame, egressBytes);
    if (multicast && isAdmitted)
    {
        multicast->bytes = static_cast<uint32_t>(InCells(frame.bytes));
        multicast->ingress = frame.ingress;
        multicast->priority = frame.ingressPriority;
    }
    return isAdmitted;
}

bool
SharedBuffer::Charge(const Frame& frame, uint64_t egressBytes)
{
    const uint64_t bytes = InCells(frame.bytes);
    if (!IsLossless(frame.ingressPriority))
    {
        if (m_poolUsed + bytes > m_poolSize ||
            egressBytes + bytes > GetThreshold(m_configuration.lossyAlpha))
        {
            return false;
        }
        m_poolUsed += bytes;
    }
    else
    {
        Ingress& ingress = m_ingress[frame.ingress * PRIORITIES + frame.ingressPriority];
        const uint64_t before = SharedUse(ingress);
        const uint64_t after =
            std::max(ingress.total - ingress.headroom + bytes, m_configuration.guaranteed) -
            m_configuration.guaranteed;
        const bool fits = after <= GetThreshold(m_configuration.losslessAlpha) &&
                          m_poolUsed + after - before <= m_poolSize;
        if (after == 0 || (fits && ingress.headroom == 0))
        {
            m_poolUsed += after - before;
        }
        else if (frame.isEmitted || m_configuration.creditClasses >> frame.ingressPriority & 1 ||
                 ingress.headroom + bytes <= m_headroom[frame.ingress])
        {
            // A program keeps what it cannot emit in memory of its own, and its senders are paused.
            // What has come for credits has its space besides that.
            ingress.headroom += bytes;
        }
        else if (fits)
        {
            m_poolUsed += after - before;
        }
        else
        {
            return false;
        }
        ingress.total += bytes;
    }
    m_used += bytes;
    m_peak = std::max(m_peak, m_used);
    return true;
}

uint64_t
SharedBuffer::BeginMulticast()
{
    if (m_freeMulticasts.empty())
    {
        m_freeMulticasts.push_back(static_cast<uint32_t>(m_multicasts.size()));
        m_multicasts.emplace_back();
    }
    const uint32_t index = m_freeMulticasts.back();
    m_freeMulticasts.pop_back();
    m_multicasts[index].users = 1;
    m_multicasts[index].bytes = 0;
    return uint64_t{m_multicasts[index].generation} << 32 | index;
}

SharedBuffer::Multicast*
SharedBuffer::Find(uint64_t multicast)
{
    return IsCurrent(multicast) ? &m_multicasts[static_cast<uint32_t>(multicast)] : nullptr;
}

void
SharedBuffer::Join(Frame& frame, uint64_t multicast)
{
    frame.isCopy = 1;
    frame.multicast = multicast;
    Find(multicast)->users++;
}

void
SharedBuffer::Leave(uint64_t multicast)
{
    Multicast* entry = Find(multicast);
    if (!entry || --entry->users > 0)
    {
        return;
    }
    if (entry->bytes > 0)
    {
        Discharge(entry->bytes, entry->ingress, entry->priority);
    }
    entry->generation++;
    m_freeMulticasts.push_back(static_cast<uint32_t>(multicast));
}

void
SharedBuffer::Release(Frame& frame)
{
    if (frame.isCopy)
    {
        frame.isCopy = 0;
        Leave(frame.multicast);
        return;
    }
    Discharge(InCells(frame.bytes), frame.ingress, frame.ingressPriority);
}

void
SharedBuffer::Discharge(uint64_t bytes, uint16_t port, uint8_t priority)
{
    m_used -= bytes;
    if (!IsLossless(priority))
    {
        m_poolUsed -= bytes;
        return;
    }
    Ingress& ingress = m_ingress[port * PRIORITIES + priority];
    NS_ASSERT(ingress.total >= bytes);
    const uint64_t before = SharedUse(ingress);
    ingress.total -= bytes;
    // Headroom is released first: it must be free again before the next pause.
    ingress.headroom -= std::min(ingress.headroom, bytes);
    ingress.headroom = std::min(ingress.headroom, ingress.total);
    m_poolUsed -= before - std::min(before, SharedUse(ingress));
}

void
SharedBuffer::Visit(StateVisitor& visitor) const
{
    static_assert(StateVisitor::IsSize(sizeof(SharedBuffer), 176),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Same({m_poolUsed, m_used, m_peak});
}

void
SharedBuffer::VisitPort(StateVisitor& visitor, uint16_t port) const
{
    static_assert(StateVisitor::IsSize(sizeof(Ingress), 24),
                  "a new member: visit it unless it stays, then correct the size");
    for (std::size_t i = port * PRIORITIES; i < (port + 1U) * PRIORITIES; i++)
    {
        const Ingress& ingress = m_ingress[i];
        if (ingress.total > 0 || ingress.pausing)
        {
            visitor.Same({i, ingress.total, ingress.headroom, ingress.pausing});
        }
    }
}

SharedBuffer::Action
SharedBuffer::Decide(uint16_t port, uint8_t priority)
{
    if (!(m_configuration.pausedClasses >> priority & 1))
    {
        return m_configuration.creditClasses >> priority & 1 ? Action::GRANT : Action::NONE;
    }
    Ingress& ingress = m_ingress[port * PRIORITIES + priority];
    const uint64_t use = SharedUse(ingress);
    const uint64_t threshold = GetThreshold(m_configuration.losslessAlpha);
    if (!ingress.pausing)
    {
        if (ingress.headroom > 0 || (use > 0 && use >= threshold))
        {
            ingress.pausing = true;
            return Action::PAUSE;
        }
    }
    else if (ingress.headroom == 0 &&
             (use == 0 || (use <= threshold && threshold - use >= m_configuration.resumeOffset)))
    {
        ingress.pausing = false;
        return Action::RESUME;
    }
    return Action::NONE;
}

} // namespace ns3::training
