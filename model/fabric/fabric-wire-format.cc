/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-wire-format.h"

#include "ns3/training-configuration-error.h"

#include <map>

namespace ns3::training
{

namespace
{

/**
 * @return the formats by protocol; a function-local static, because formats register before main()
 */
std::map<uint16_t, WireFormat>&
All()
{
    static std::map<uint16_t, WireFormat> all;
    return all;
}

/** @return whether some packets match both bindings and neither has an Accept filter */
bool
Collide(const WireFormat::Binding& a, const WireFormat::Binding& b)
{
    return a.isUdp == b.isUdp && !a.accept && !b.accept &&
           ((a.number ^ b.number) & a.mask & b.mask) == 0;
}

} // namespace

WireFormat::Entry::Entry(const WireFormat& format)
{
    for (const auto& [number, other] : All())
    {
        if (number == format.protocol)
        {
            throw ConfigurationError("wire format '" + format.name + "' with protocol number " +
                                     std::to_string(number) + ", that of '" + other.name +
                                     "' (allowed: another number)");
        }
        for (const Binding& mine : format.bindings)
        {
            for (const Binding& theirs : other.bindings)
            {
                if (Collide(mine, theirs))
                {
                    throw ConfigurationError("wire format '" + format.name + "' with " +
                                             (mine.isUdp ? "UDP port " : "EtherType ") +
                                             std::to_string(mine.number) + ", one of '" +
                                             other.name + "' (allowed: another one)");
                }
            }
        }
    }
    All().emplace(format.protocol, format);
}

const WireFormat&
WireFormat::Find(uint16_t protocol)
{
    const auto found = All().find(protocol);
    if (found == All().end())
    {
        std::string known;
        for (const auto& [number, format] : All())
        {
            known += (known.empty() ? "" : ", ") + std::to_string(number) + " " + format.name;
        }
        throw ConfigurationError("unknown protocol " + std::to_string(protocol) +
                                 " of a frame (allowed: " + known + ")");
    }
    return found->second;
}

WireFormat::Match
WireFormat::FindEtherType(uint16_t etherType)
{
    for (const auto& [protocol, format] : All())
    {
        for (const Binding& binding : format.bindings)
        {
            if (!binding.isUdp && binding.number == etherType)
            {
                return {&format, binding.read};
            }
        }
    }
    return {};
}

WireFormat::Match
WireFormat::FindUdp(const uint8_t* udp, uint32_t bytes)
{
    const auto port = static_cast<uint16_t>(GetNumber(udp + 2, 2));
    Match match;
    for (const auto& [protocol, format] : All())
    {
        for (const Binding& binding : format.bindings)
        {
            if (!binding.isUdp || ((binding.number ^ port) & binding.mask) != 0)
            {
                continue;
            }
            if (binding.accept && binding.accept(udp, bytes))
            {
                return {&format, binding.read};
            }
            if (!binding.accept)
            {
                match = {&format, binding.read};
            }
        }
    }
    return match;
}

} // namespace ns3::training
