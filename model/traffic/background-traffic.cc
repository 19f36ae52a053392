/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "background-traffic.h"

#include "core/random-streams.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

BackgroundTraffic::BackgroundTraffic(const BackgroundSettings& settings,
                                     std::vector<uint32_t> hosts,
                                     std::vector<Ptr<MessageTransport>> transports,
                                     uint64_t rate,
                                     std::unique_ptr<IdlePaths> idle)
    : m_settings(settings),
      m_hosts(std::move(hosts)),
      m_transports(std::move(transports)),
      m_idle(std::move(idle)),
      m_rate(rate)
{
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(GetRandomStream(RandomUse::BACKGROUND, PoissonFlows::STREAMS));
    auto pattern = m_settings.pattern.entry->make(m_settings.pattern.values,
                                                  static_cast<uint32_t>(m_hosts.size()),
                                                  *random);
    m_loadedHosts = pattern->GetLoadedHosts();
    const double gap =
        pattern->GetMeanGap(m_settings.load, static_cast<double>(rate), m_settings.sizes.GetMean());
    m_arrivals = std::make_unique<PoissonFlows>(
        m_settings.sizes,
        std::move(pattern),
        gap,
        GetRandomStream(RandomUse::BACKGROUND),
        [this](const HostPair& ends, uint64_t bytes) { Begin(ends, bytes); });
    for (const auto& transport : m_transports)
    {
        transport->SetMessageHandler(
            [this](uint32_t, const Message& message) { End(message.tag); });
        transport->SetErrorHandler([this](uint32_t peer, const std::string& reason) {
            if (m_failure.empty())
            {
                m_failure = "to host " + std::to_string(peer) + ": " + reason;
            }
        });
    }
}

BackgroundTraffic::~BackgroundTraffic()
{
    for (const auto& transport : m_transports)
    {
        transport->Dispose();
    }
}

void
BackgroundTraffic::Start()
{
    m_arrivals->Run(m_settings.start, m_settings.stop);
}

void
BackgroundTraffic::Begin(const HostPair& ends, uint64_t bytes)
{
    const uint64_t number = m_started++;
    m_startedBytes += bytes;
    m_open.emplace(number, Flow{ends, bytes, Simulator::Now()});
    m_transports[ends.source]->Send(m_hosts[ends.destination], {number, bytes});
}

void
BackgroundTraffic::End(uint64_t number)
{
    const auto found = m_open.find(number);
    const Flow& flow = found->second;
    const double idle =
        m_idle->GetTime(m_hosts[flow.ends.source], m_hosts[flow.ends.destination], flow.bytes);
    const double seconds = (Simulator::Now() - flow.start).GetSeconds();
    m_statistics.Add(flow.bytes, seconds / idle, seconds);
    m_endedBytes += flow.bytes;
    m_open.erase(found);
}

const BackgroundSettings&
BackgroundTraffic::GetSettings() const
{
    return m_settings;
}

const FlowStatistics&
BackgroundTraffic::GetStatistics() const
{
    return m_statistics;
}

uint64_t
BackgroundTraffic::GetStartedFlows() const
{
    return m_started;
}

uint64_t
BackgroundTraffic::GetStartedBytes() const
{
    return m_startedBytes;
}

uint64_t
BackgroundTraffic::GetEndedBytes() const
{
    return m_endedBytes;
}

const std::string&
BackgroundTraffic::GetFailure() const
{
    return m_failure;
}

uint32_t
BackgroundTraffic::GetLoadedHosts() const
{
    return m_loadedHosts;
}

double
BackgroundTraffic::GetOfferedLoad(Time now) const
{
    const double seconds = (std::min(now, m_settings.stop) - m_settings.start).GetSeconds();
    const double bytes = static_cast<double>(m_rate) / 8 * m_loadedHosts * seconds;
    return seconds > 0 ? static_cast<double>(m_startedBytes) / bytes : 0;
}

} // namespace ns3::training
