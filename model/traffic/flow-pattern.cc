/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flow-pattern.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3::training
{

double
FlowPattern::GetMeanGap(double load, double rate, double mean) const
{
    const double flowsPerHost =
        static_cast<double>(GetFlowsPerEvent()) * GetProcesses() / GetLoadedHosts();
    return mean / (load * rate / 8) * flowsPerHost;
}

namespace
{

/** @return one of the hosts, another one than `except` */
uint32_t
DrawOther(uint32_t hosts, uint32_t except, UniformRandomVariable& random)
{
    const uint32_t drawn = random.GetInteger(0, hosts - 2);
    return drawn + (drawn >= except ? 1 : 0);
}

/** Each host sends to any other one. */
class RandomPairs : public FlowPattern
{
  public:
    explicit RandomPairs(uint32_t hosts)
        : m_hosts(hosts)
    {
    }

    uint32_t GetProcesses() const override
    {
        return m_hosts;
    }

    uint32_t GetFlowsPerEvent() const override
    {
        return 1;
    }

    uint32_t GetLoadedHosts() const override
    {
        return m_hosts;
    }

    void Draw(uint32_t process,
              UniformRandomVariable& random,
              std::vector<HostPair>& flows) override
    {
        flows = {{process, DrawOther(m_hosts, process, random)}};
    }

  private:
    uint32_t m_hosts;
};

/** Each host sends to one other host; no two have the same. */
class Permutation : public FlowPattern
{
  public:
    Permutation(uint32_t hosts, UniformRandomVariable& random)
        : m_peers(hosts)
    {
        // Sattolo's algorithm: one cycle, so no host sends to itself.
        std::iota(m_peers.begin(), m_peers.end(), 0);
        for (uint32_t i = hosts - 1; i > 0; i--)
        {
            std::swap(m_peers[i], m_peers[random.GetInteger(0, i - 1)]);
        }
    }

    uint32_t GetProcesses() const override
    {
        return static_cast<uint32_t>(m_peers.size());
    }

    uint32_t GetFlowsPerEvent() const override
    {
        return 1;
    }

    uint32_t GetLoadedHosts() const override
    {
        return GetProcesses();
    }

    void Draw(uint32_t process, UniformRandomVariable&, std::vector<HostPair>& flows) override
    {
        flows = {{process, m_peers[process]}};
    }

  private:
    std::vector<uint32_t> m_peers; // by sender
};

/** Several hosts send to one host at the same time. */
class Incast : public FlowPattern
{
  public:
    Incast(uint32_t hosts, uint32_t senders)
        : m_order(hosts),
          m_senders(senders)
    {
        std::iota(m_order.begin(), m_order.end(), 0);
    }

    uint32_t GetProcesses() const override
    {
        return 1;
    }

    uint32_t GetFlowsPerEvent() const override
    {
        return m_senders;
    }

    uint32_t GetLoadedHosts() const override
    {
        return static_cast<uint32_t>(m_order.size());
    }

    void Draw(uint32_t, UniformRandomVariable& random, std::vector<HostPair>& flows) override
    {
        // The first steps of a shuffle: the receiver, then the senders.
        flows.clear();
        for (uint32_t i = 0; i <= m_senders; i++)
        {
            const auto last = static_cast<uint32_t>(m_order.size() - 1);
            std::swap(m_order[i], m_order[random.GetInteger(i, last)]);
            if (i > 0)
            {
                flows.push_back({m_order[i], m_order[0]});
            }
        }
    }

  private:
    std::vector<uint32_t> m_order;
    uint32_t m_senders;
};

/** Hosts write to storage, the last hosts, or read from it. */
class Storage : public FlowPattern
{
  public:
    Storage(uint32_t hosts, uint32_t targets, double reads)
        : m_clients(hosts - targets),
          m_targets(targets),
          m_reads(reads)
    {
    }

    uint32_t GetProcesses() const override
    {
        return m_clients;
    }

    uint32_t GetFlowsPerEvent() const override
    {
        return 1;
    }

    uint32_t GetLoadedHosts() const override
    {
        return std::min(m_clients, m_targets);
    }

    void Draw(uint32_t process,
              UniformRandomVariable& random,
              std::vector<HostPair>& flows) override
    {
        const uint32_t target = m_clients + random.GetInteger(0, m_targets - 1);
        // Without both directions there is nothing to draw.
        const bool isRead = m_reads == 1 || (m_reads > 0 && random.GetValue(0, 1) < m_reads);
        flows = {isRead ? HostPair{target, process} : HostPair{process, target}};
    }

  private:
    uint32_t m_clients;
    uint32_t m_targets;
    double m_reads; // part of the flows
};

std::unique_ptr<FlowPattern>
MakeRandomPairs(const KeyValues&, uint32_t hosts, UniformRandomVariable&)
{
    return std::make_unique<RandomPairs>(hosts);
}

std::unique_ptr<FlowPattern>
MakePermutation(const KeyValues&, uint32_t hosts, UniformRandomVariable& random)
{
    return std::make_unique<Permutation>(hosts, random);
}

/** @return the value of a key that is less than the number of hosts */
uint32_t
GetBelow(uint32_t hosts, const KeyValues& values, const std::string& key)
{
    const uint64_t count = values.GetCount(key);
    if (count >= hosts)
    {
        throw ConfigurationError("flow pattern with " + key + "=" + std::to_string(count) +
                                 " among " + std::to_string(hosts) + " hosts (allowed: 1 to " +
                                 std::to_string(hosts - 1) + ")");
    }
    return static_cast<uint32_t>(count);
}

std::unique_ptr<FlowPattern>
MakeIncast(const KeyValues& values, uint32_t hosts, UniformRandomVariable&)
{
    return std::make_unique<Incast>(hosts, GetBelow(hosts, values, "senders"));
}

std::unique_ptr<FlowPattern>
MakeStorage(const KeyValues& values, uint32_t hosts, UniformRandomVariable&)
{
    return std::make_unique<Storage>(hosts,
                                     GetBelow(hosts, values, "targets"),
                                     values.GetNumber("reads"));
}

/// Maximum number of hosts that a key names.
constexpr uint64_t MAX_HOSTS = 1 << 20;

const Registry<FlowPatternEntry>::Entry g_random(
    "random",
    {"each host sends to random others; load is that of each host's port", {}, &MakeRandomPairs});

const Registry<FlowPatternEntry>::Entry g_permutation(
    "permutation",
    {"each host sends to one other, no two to the same; load is that of each host's port",
     {},
     &MakePermutation});

const Registry<FlowPatternEntry>::Entry g_incast(
    "incast",
    {"several hosts send to a random one at once; load is what each host receives on average",
     {Key::Count("senders", 8, 1, MAX_HOSTS, "hosts that send at once")},
     &MakeIncast});

const Registry<FlowPatternEntry>::Entry g_storage(
    "storage",
    {"hosts write to storage, or read from it; load is that of each storage host's port, both "
     "directions together, or of each other host's if these are fewer",
     {Key::Count("targets", 1, 1, MAX_HOSTS, "storage hosts: the last ones"),
      Key::Number("reads", 0, 0, 1, "part of the flows that are reads, from storage to a host")},
     &MakeStorage});

} // namespace

} // namespace ns3::training
