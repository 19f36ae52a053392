/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-transport.h"

#include "ns3/config.h"
#include "ns3/configuration-error.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/rail-routing.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/registry.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// The window scale option ends here.
constexpr double LARGEST_TCP_BUFFER = 1 << 30;

/** @return whether there is such an attribute, and the user has not set its default */
bool
IsUnchanged(TypeId tid, const std::string& name)
{
    for (std::size_t i = 0; i < tid.GetAttributeN(); i++)
    {
        const auto attribute = tid.GetAttribute(i);
        if (attribute.name == name)
        {
            return attribute.initialValue->SerializeToString(attribute.checker) ==
                   attribute.originalInitialValue->SerializeToString(attribute.checker);
        }
    }
    return false;
}

/** Sets the default of an attribute, unless the user has. */
void
SetUnlessChanged(const std::string& type, const std::string& name, const AttributeValue& value)
{
    if (IsUnchanged(TypeId::LookupByName(type), name))
    {
        Config::SetDefault(type + "::" + name, value);
    }
}

/** Puts the default of an attribute into the value. */
template <typename Value>
void
GetDefault(const std::string& type, const std::string& name, Value& value)
{
    TypeId::AttributeInformation attribute;
    TypeId::LookupByName(type).LookupAttributeByName(name, &attribute);
    value = *DynamicCast<const Value>(attribute.initialValue);
}

/** Refuses values with which ns-3 waits for ever or comes to a bad end. */
void
CheckTcpAttributes()
{
    const std::string socket = "ns3::TcpSocket";
    UintegerValue segment;
    UintegerValue buffer;
    DataRateValue pacing;
    GetDefault(socket, "SegmentSize", segment);
    GetDefault(socket, "RcvBufSize", buffer);
    GetDefault("ns3::TcpSocketState", "MaxPacingRate", pacing);
    if (buffer.Get() < segment.Get())
    {
        throw ConfigurationError("--" + socket + "::RcvBufSize=" + std::to_string(buffer.Get()) +
                                 " (allowed: at least --" + socket +
                                 "::SegmentSize=" + std::to_string(segment.Get()) + ")");
    }
    if (pacing.Get().GetBitRate() == 0)
    {
        throw ConfigurationError("--ns3::TcpSocketState::MaxPacingRate=0bps (allowed: more)");
    }
}

/** @return whether objects of a type are TCP congestion controls, whatever parent it names */
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

} // namespace

void
SetMarking(FabricHelper& helper, const std::string& congestionControl)
{
    const auto& entry = Registry<CongestionControlEntry>::Find(congestionControl);
    const TypeId type = SwitchDevice::GetTypeId();
    if (entry.ecnStepPerGbps > 0 && IsUnchanged(type, "EcnKminPerGbps") &&
        IsUnchanged(type, "EcnKmaxPerGbps"))
    {
        helper.SetSwitchAttribute("EcnKminPerGbps", DoubleValue(entry.ecnStepPerGbps));
        helper.SetSwitchAttribute("EcnKmaxPerGbps", DoubleValue(entry.ecnStepPerGbps));
    }
}

std::vector<std::vector<Ptr<RdmaNic>>>
InstallRdma(const HostTransport& transport, const std::string& recovery)
{
    const auto& entry = Registry<CongestionControlEntry>::Find(transport.congestionControl);
    const Time roundTrip = transport.roundTrip;
    std::vector<std::vector<Ptr<RdmaNic>>> nics(transport.ranks);
    for (uint32_t rank = 0; rank < transport.ranks; rank++)
    {
        for (const auto& device : transport.fabric.rails[rank])
        {
            auto nic = CreateObject<RdmaNic>();
            nic->SetAttribute("Mtu", UintegerValue(transport.mtu));
            nic->SetAttribute("CongestionControl", TypeIdValue(entry.getTypeId()));
            nic->SetAttribute("LossRecovery", StringValue(recovery));
            nic->SetAttribute("BaseRoundTrip", TimeValue(std::max(roundTrip, NanoSeconds(1))));
            nic->SetAttribute("PathHops", UintegerValue(transport.longest.links));
            // A timeout below the round trip would send everything twice.
            if (nic->GetTimeout() < 4 * roundTrip)
            {
                nic->SetAttribute("RetransmissionTimeout", TimeValue(4 * roundTrip));
            }
            if (nic->GetTimeoutLow() < 4 * roundTrip)
            {
                nic->SetAttribute("TimeoutHigh",
                                  TimeValue(std::max(nic->GetTimeoutHigh(), 12 * roundTrip)));
                nic->SetAttribute("TimeoutLow", TimeValue(4 * roundTrip));
            }
            nic->Attach(device);
            nics[rank].push_back(nic);
            device->AggregateObject(nic);
        }
    }
    return nics;
}

void
InstallTcp(const HostTransport& transport, std::shared_ptr<LaneTable> lanes)
{
    TypeId congestionControl;
    if (!TypeId::LookupByNameFailSafe(transport.congestionControl, &congestionControl) ||
        !IsTcpCongestionControl(congestionControl))
    {
        throw ConfigurationError("--congestion-control='" + transport.congestionControl +
                                 "' (allowed with tcp: the TypeId of a TcpCongestionOps, such as "
                                 "ns3::TcpCubic, ns3::TcpDctcp, ns3::TcpBbr)");
    }
    const Time roundTrip = transport.roundTrip;
    const double product = roundTrip.GetSeconds() * static_cast<double>(transport.longest.rate) / 8;
    const auto buffer =
        static_cast<uint32_t>(std::clamp(4 * product, 1024.0 * 1024.0, LARGEST_TCP_BUFFER));
    SetUnlessChanged("ns3::TcpL4Protocol", "SocketType", TypeIdValue(congestionControl));
    SetUnlessChanged("ns3::TcpSocket",
                     "SegmentSize",
                     UintegerValue(transport.mtu - HostTransport::TCP_IP_BYTES));
    SetUnlessChanged("ns3::TcpSocket", "SndBufSize", UintegerValue(buffer));
    SetUnlessChanged("ns3::TcpSocket", "RcvBufSize", UintegerValue(buffer));
    SetUnlessChanged("ns3::TcpSocket", "DelAckTimeout", TimeValue(MilliSeconds(1)));
    SetUnlessChanged("ns3::TcpSocket", "DataRetries", UintegerValue(15));
    SetUnlessChanged("ns3::TcpSocket",
                     "ConnTimeout",
                     TimeValue(std::max(MilliSeconds(10), 4 * roundTrip)));
    SetUnlessChanged("ns3::TcpSocketBase",
                     "MinRto",
                     TimeValue(std::max(MilliSeconds(5), 2 * roundTrip)));
    SetUnlessChanged("ns3::TcpSocketState",
                     "MaxPacingRate",
                     DataRateValue(DataRate(transport.longest.rate)));
    SetUnlessChanged("ns3::TcpSocketBase", "ClockGranularity", TimeValue(MicroSeconds(1)));
    SetUnlessChanged("ns3::RttEstimator",
                     "InitialEstimation",
                     TimeValue(std::max(MilliSeconds(1), roundTrip)));

    CheckTcpAttributes();

    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.SetIpv6StackInstall(false);
    for (uint32_t rank = 0; rank < transport.ranks; rank++)
    {
        Ptr<Node> host = transport.fabric.hosts.Get(rank);
        stack.Install(host);
        auto ipv4 = host->GetObject<Ipv4>();
        if (transport.fabric.rails[rank].size() > 1)
        {
            auto routing = CreateObject<RailRouting>();
            routing->SetLanes(rank, lanes);
            ipv4->SetRoutingProtocol(routing);
        }
        for (const auto& device : transport.fabric.rails[rank])
        {
            const uint32_t interface = ipv4->AddInterface(device);
            const Ipv4Address address = HostDevice::GetIpv4Address(device->GetEndpoint());
            ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, "255.0.0.0"));
            ipv4->SetUp(interface);
        }
    }
}

} // namespace ns3::training
