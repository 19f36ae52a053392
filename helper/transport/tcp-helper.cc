/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tcp-helper.h"

#include "transport/rail-routing.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/host-device.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/tcp-transport.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <vector>

namespace ns3::training
{

namespace
{

/// Send buffer up to which Linux enlarges it by itself (tcp_wmem), bytes.
constexpr double LINUX_SEND_BUFFER = 4 << 20;
/// Largest receive buffer: the window scale option ends here.
constexpr uint64_t MAX_RECEIVE_BUFFER = 1 << 30;
/// Largest send buffer; the receive buffer is half as large again.
constexpr double MAX_SEND_BUFFER = 640 << 20;
/// Size of the timestamp option with its padding, bytes.
constexpr uint32_t TIMESTAMP_BYTES = 12;

/** @return whether objects of a type are TCP congestion controls, whatever parent it declares */
bool
IsTcpCongestionControl(TypeId tid)
{
    if (!tid.HasConstructor() || !tid.IsChildOf(Object::GetTypeId()))
    {
        return false;
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return DynamicCast<TcpCongestionOps>(factory.Create<Object>()) != nullptr;
}

/// Leading value with which ns-3's own class is taken.
const FirstValue ORIGINAL{"original",
                          "the class of ns-3, not this module's of the same name",
                          false,
                          false,
                          [](const std::string& text) { return text == "original"; }};

/** @return the TCP congestion controls of ns-3, of this module and of extensions */
std::string
ListTcpControls()
{
    std::string names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId type = TypeId::GetRegistered(i);
        // Cubic of ns-3 up to 3.37 declares another parent; other types are not created.
        if (type.GetName().find("::Tcp") != std::string::npos && IsTcpCongestionControl(type))
        {
            names += (names.empty() ? "" : ", ") + type.GetName();
        }
    }
    return names;
}

/** @return keys for the attributes of a congestion control, named after the attributes */
std::vector<Key>
GetTcpKeys(TypeId type)
{
    std::vector<Key> keys;
    for (; type != Object::GetTypeId(); type = type.GetParent())
    {
        for (std::size_t i = 0; i < type.GetAttributeN(); i++)
        {
            const auto attribute = type.GetAttribute(i);
            if ((attribute.flags & TypeId::ATTR_SET) &&
                attribute.supportLevel == TypeId::SupportLevel::SUPPORTED)
            {
                keys.push_back(Key::Attribute(type, attribute.name, attribute.name));
            }
        }
    }
    return keys;
}

/** @return the value of an attribute in new objects of a type */
template <typename Value>
Value
Get(const AttributeList& attributes, TypeId type, const std::string& name)
{
    return *DynamicCast<const Value>(attributes.Get(type, name));
}

/** Refuses values with which ns-3's sockets hang or abort. */
void
CheckSockets(const AttributeList& attributes)
{
    const TypeId type = TcpSocketBase::GetTypeId();
    const auto segment = Get<UintegerValue>(attributes, type, "SegmentSize").Get();
    const auto sending = Get<UintegerValue>(attributes, type, "SndBufSize").Get();
    const auto receiving = Get<UintegerValue>(attributes, type, "RcvBufSize").Get();
    if (receiving < segment)
    {
        throw ConfigurationError(
            "ns3::TcpSocket::RcvBufSize=" + std::to_string(receiving) +
            " (allowed: at least ns3::TcpSocket::SegmentSize=" + std::to_string(segment) + ")");
    }
    // ns-3 up to 3.40 sends an empty segment and crashes when the data in flight fill the announced
    // window exactly. The window scale option rounds the window down.
    if (receiving - receiving / 32768 - 1 <= sending)
    {
        throw ConfigurationError("ns3::TcpSocket::RcvBufSize=" + std::to_string(receiving) +
                                 " (allowed: more than ns3::TcpSocket::SndBufSize=" +
                                 std::to_string(sending) + ", by 1 in 32768)");
    }
    const auto pacing =
        Get<DataRateValue>(attributes, TcpSocketState::GetTypeId(), "MaxPacingRate").Get();
    if (pacing.GetBitRate() == 0)
    {
        throw ConfigurationError("ns3::TcpSocketState::MaxPacingRate=0bps (allowed: more)");
    }
}

} // namespace

TcpHelper::TcpHelper()
{
    SetCongestionControl("ns3::TcpCubic");
}

bool
TcpHelper::IsOriginal(const std::string& given)
{
    const std::string mark = ":" + ORIGINAL.name;
    return given.compare(KeyValues::Split(given).GetName().size(), mark.size(), mark) == 0;
}

std::string
TcpHelper::GetControl(const std::string& given)
{
    const std::string name = KeyValues::Split(given).GetName();
    const std::string space = "ns3::";
    const std::string keys = given.substr(name.size());
    TypeId own;
    if (name.compare(0, space.size(), space) != 0 || IsOriginal(given))
    {
        return given;
    }
    const std::string replacement = "ns3::training::" + name.substr(space.size());
    return TypeId::LookupByNameFailSafe(replacement, &own) && IsTcpCongestionControl(own)
               ? replacement + keys
               : given;
}

void
TcpHelper::SetCongestionControl(const std::string& congestionControl)
{
    KeyValues values = KeyValues::Split(GetControl(congestionControl));
    if (!TypeId::LookupByNameFailSafe(values.GetName(), &m_congestionControl) ||
        !IsTcpCongestionControl(m_congestionControl))
    {
        throw ConfigurationError(
            "congestion control",
            congestionControl,
            " (allowed with tcp: the TypeId of a TcpCongestionOps: " + ListTcpControls() + ")");
    }
    const auto keys = GetTcpKeys(m_congestionControl);
    values.Check("TCP congestion control", keys, ORIGINAL);
    m_keys = values.GetAttributes(keys);
}

void
TcpHelper::SetAttributes(const AttributeList& attributes)
{
    m_attributes = attributes;
}

void
TcpHelper::Tune(const std::string& name, const AttributeValue& value)
{
    const std::size_t separator = name.rfind("::");
    if (IsDefaultUnchanged(TypeId::LookupByName(name.substr(0, separator)),
                           name.substr(separator + 2)))
    {
        m_tuned.Set(name, value);
    }
}

template <typename Value>
Value
TcpHelper::GetOfSockets(const std::string& name) const
{
    const TypeId type = TcpSocketBase::GetTypeId();
    AttributeList values = m_tuned;
    values.Add(m_attributes.SelectFor(type));
    return Get<Value>(values, type, name);
}

uint64_t
TcpHelper::ChooseSendBuffer(uint64_t automatic) const
{
    const auto isGiven = [this](const std::string& name) {
        return m_attributes.Has(TcpSocketBase::GetTypeId(), name) ||
               !IsDefaultUnchanged(TcpSocket::GetTypeId(), name);
    };
    if (isGiven("SndBufSize"))
    {
        return GetOfSockets<UintegerValue>("SndBufSize").Get();
    }
    if (isGiven("RcvBufSize"))
    {
        return GetOfSockets<UintegerValue>("RcvBufSize").Get() / 3 * 2;
    }
    return automatic;
}

double
TcpHelper::GetEcnStep() const
{
    const TypeId dctcp = TcpDctcp::GetTypeId();
    return m_congestionControl == dctcp || m_congestionControl.IsChildOf(dctcp)
               ? Registry<CongestionControlEntry>::Find("dctcp").ecnStepPerGbps
               : 0;
}

bool
TcpHelper::UsesEcn() const
{
    const TypeId type = TcpSocketBase::GetTypeId();
    TypeId::AttributeInformation ecn;
    type.LookupAttributeByName("UseEcn", &ecn);
    const std::string use = m_attributes.Get(type, "UseEcn")->SerializeToString(ecn.checker);
    return GetEcnStep() > 0 || use == "On";
}

void
TcpHelper::SetNetwork(uint32_t mtu, Time roundTrip, uint64_t rate)
{
    const double product = roundTrip.GetSeconds() * static_cast<double>(rate) / 8;
    // A single sender's queue may double the round trip.
    const double buffer = std::clamp(2 * product, LINUX_SEND_BUFFER, MAX_SEND_BUFFER);
    const Time least = std::max(MilliSeconds(5), 4 * roundTrip);
    m_tuned = {};
    const uint64_t sending = ChooseSendBuffer(static_cast<uint64_t>(buffer));
    Tune("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    const bool stamps = GetOfSockets<BooleanValue>("Timestamp").Get();
    Tune("ns3::TcpSocket::SegmentSize",
         UintegerValue(mtu - TcpTransport::PACKET_HEADER_BYTES - (stamps ? TIMESTAMP_BYTES : 0)));
    Tune("ns3::TcpSocket::SndBufSize", UintegerValue(sending));
    Tune("ns3::TcpSocket::RcvBufSize",
         UintegerValue(std::min<uint64_t>(sending + sending / 2, MAX_RECEIVE_BUFFER)));
    Tune("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(1)));
    Tune("ns3::TcpSocket::DataRetries", UintegerValue(15));
    Tune("ns3::TcpSocket::ConnTimeout", TimeValue(std::max(MilliSeconds(10), 4 * roundTrip)));
    Tune("ns3::TcpSocketBase::MinRto", TimeValue(least));
    Tune("ns3::TcpSocketBase::ClockGranularity", TimeValue(least));
    Tune("ns3::TcpSocketState::MaxPacingRate", DataRateValue(DataRate(rate)));
    Tune("ns3::RttEstimator::InitialEstimation", TimeValue(std::max(MilliSeconds(1), roundTrip)));
    // Linux has 10 s and 200 ms, for round trips of the Internet of about 100 ms.
    Tune("ns3::TcpBbr::RttWindowLength", TimeValue(std::min(Seconds(10), 100 * roundTrip)));
    Tune("ns3::TcpBbr::ProbeRttDuration", TimeValue(std::min(MilliSeconds(200), 2 * roundTrip)));
}

AttributeList
TcpHelper::GetSocketAttributes(const Object& tcp) const
{
    AttributeList attributes = m_tuned;
    attributes.Add(m_keys);
    std::vector<TypeId> types{TcpSocketBase::GetTypeId(),
                              TcpSocketState::GetTypeId(),
                              m_congestionControl};
    for (const std::string name : {"RttEstimatorType", "RecoveryType"})
    {
        TypeIdValue type;
        tcp.GetAttribute(name, type);
        types.push_back(type.Get());
    }
    for (TypeId type : types)
    {
        attributes.Add(m_attributes.SelectFor(type));
    }
    CheckSockets(attributes);
    return attributes;
}

AttributeList
TcpHelper::Install(const Fabric& fabric,
                   uint32_t hosts,
                   const std::shared_ptr<PortPairTable>& portPairs) const
{
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.SetIpv6StackInstall(false);
    AttributeList sockets;
    for (uint32_t number = 0; number < hosts; number++)
    {
        Ptr<Node> host = fabric.hosts.Get(number);
        stack.Install(host);
        const auto tcp = host->GetObject<TcpL4Protocol>();
        if (IsDefaultUnchanged(TcpL4Protocol::GetTypeId(), "SocketType"))
        {
            tcp->SetAttribute("SocketType", TypeIdValue(m_congestionControl));
        }
        m_attributes.ApplyTo(*tcp);
        sockets = GetSocketAttributes(*tcp);
        const auto ipv4 = host->GetObject<Ipv4>();
        if (fabric.rails[number].size() > 1)
        {
            auto routing = CreateObject<RailRouting>();
            routing->SetPortPairs(number, portPairs);
            ipv4->SetRoutingProtocol(routing);
        }
        for (const auto& device : fabric.rails[number])
        {
            const uint32_t interface = ipv4->AddInterface(device);
            const Ipv4Address address = HostDevice::GetIpv4Address(device->GetEndpoint());
            ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, "255.0.0.0"));
            ipv4->SetUp(interface);
        }
    }
    return sockets;
}

} // namespace ns3::training
