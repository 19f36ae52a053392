/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "path-chooser.h"

#include "attribute-choice.h"

#include "ns3/simulator.h"

#include <array>
#include <iterator>

namespace ns3::training
{

namespace
{

/// Names of the ways, in the order of the enumeration.
const std::array<const char*, 6> PATHS{
    {"ecmp", "flowlet", "spray", "source-mod", "destination-mod", "schedule"}};

} // namespace

PathChooser::PathChooser(const std::vector<Ptr<FabricPort>>& ports,
                         Ptr<UniformRandomVariable> random)
    : m_ports(ports),
      m_random(random)
{
}

void
PathChooser::SetPath(const std::string& name)
{
    m_path =
        static_cast<Path>(FindChoice("SwitchDevice::Path", name, {PATHS.begin(), PATHS.end()}));
}

std::string
PathChooser::GetPath() const
{
    return PATHS[static_cast<std::size_t>(m_path)];
}

void
PathChooser::SetFlowletGap(Time gap)
{
    m_flowletGap = gap;
}

Time
PathChooser::GetFlowletGap() const
{
    return m_flowletGap;
}

void
PathChooser::SetHashSeed(uint32_t seed)
{
    m_hashSeed = seed;
}

void
PathChooser::SetOrder(std::shared_ptr<const std::vector<uint32_t>> order, uint32_t stride)
{
    m_order = std::move(order);
    m_stride = stride;
}

void
PathChooser::Pin(uint32_t source, uint32_t destination, uint16_t port)
{
    m_pins[uint64_t{source} << 32 | destination] = port;
}

void
PathChooser::Clear()
{
    m_flowlets.clear();
}

uint32_t
PathChooser::GetDigit(uint32_t endpoint) const
{
    return (m_order && endpoint < m_order->size() ? (*m_order)[endpoint] : endpoint) / m_stride;
}

uint16_t
PathChooser::ChooseOtherwise(const Frame& frame, const ForwardingTable::Ports& group)
{
    if (m_path == Path::SCHEDULE)
    {
        const auto pin = m_pins.find(uint64_t{frame.source} << 32 | frame.destination);
        if (pin != m_pins.end() && !m_ports[pin->second]->IsDown())
        {
            return pin->second;
        }
    }
    const std::size_t size = group.size();
    if (size == 0)
    {
        return NONE;
    }
    uint16_t choice = group[0];
    if (size > 1)
    {
        switch (m_path)
        {
        case Path::ECMP:
        case Path::SCHEDULE:
            choice = ChooseByHash(frame, group);
            break;
        case Path::FLOWLET:
            choice = ChooseByFlowlet(frame, group);
            break;
        case Path::SPRAY:
            choice = group[m_sprayed++ % size];
            break;
        case Path::SOURCE_MOD:
            choice = group[GetDigit(frame.source) % size];
            break;
        case Path::DESTINATION_MOD:
            choice = group[GetDigit(frame.destination) % size];
            break;
        }
    }
    return AvoidDead(choice, frame, group);
}

uint16_t
PathChooser::ChooseByFlowlet(const Frame& frame, const ForwardingTable::Ports& group)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    const auto [found, fresh] = m_flowlets.try_emplace(frame.flowHash, Flowlet{now, 0});
    Flowlet& flowlet = found->second;
    // The port may not lead there any more since routes have changed.
    if (fresh || now - flowlet.latest > m_flowletGap.GetTimeStep() ||
        m_ports[flowlet.port]->IsDown() ||
        std::find(group.begin(), group.end(), flowlet.port) == group.end())
    {
        const auto last = static_cast<uint32_t>(group.size()) - 1;
        flowlet.port = group[m_random->GetInteger(0, last)];
    }
    flowlet.latest = now;
    return flowlet.port;
}

uint16_t
PathChooser::ChooseAlive(const Frame& frame, const ForwardingTable::Ports& group) const
{
    // Until routes are computed anew, the switch next to a dead link knows it and goes around.
    ForwardingTable::Group alive;
    std::copy_if(group.begin(), group.end(), std::back_inserter(alive), [this](uint16_t port) {
        return !m_ports[port]->IsDown();
    });
    return alive.empty()
               ? NONE
               : alive[uint64_t{HashFlow(frame.flowHash, m_hashSeed, 1)} * alive.size() >> 32];
}

} // namespace ns3::training
