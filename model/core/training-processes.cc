/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-processes.h"

#include "training-quantity.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>
#include <cstdlib>

#ifdef NS3_MPI
#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/mpi-interface.h"
#include "ns3/mpi-receiver.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simple-channel.h"
#include "ns3/simple-net-device.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <mpi.h>
#endif

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingProcesses");

namespace
{

#ifdef NS3_MPI

/**
 * Reads a number from the environment.
 * @param names names of environment variables, one per MPI implementation
 * @param otherwise value if none of them is set
 * @return the number in the first variable that is set
 */
uint32_t
GetFromEnvironment(std::initializer_list<const char*> names, uint32_t otherwise)
{
    for (const char* name : names)
    {
        const char* text = std::getenv(name);
        const auto value = text ? ParseUnsigned(text) : std::nullopt;
        if (value)
        {
            return static_cast<uint32_t>(*value);
        }
    }
    return otherwise;
}

bool g_started = false;
Processes::Receiver g_receiver;
std::vector<std::pair<uint32_t, uint32_t>> g_mailboxes; // node and interface per process

void
OnPacket(Ptr<Packet> packet)
{
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    g_receiver(bytes.data(), packet->GetSize());
}

#endif

} // namespace

#ifdef NS3_MPI

uint32_t
Processes::GetCount()
{
    static const uint32_t count =
        std::max<uint32_t>(1, GetFromEnvironment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1));
    return count;
}

uint32_t
Processes::GetId()
{
    static const uint32_t id =
        GetCount() == 1 ? 0 : GetFromEnvironment({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0);
    return id;
}

void
Processes::Start()
{
    if (g_started || GetCount() == 1)
    {
        return;
    }
    NS_LOG_FUNCTION_NOARGS();
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DistributedSimulatorImpl"));
    int argc = 0;
    char** argv = nullptr;
    MpiInterface::Enable(&argc, &argv);
    g_started = true;
    NS_ABORT_MSG_IF(MpiInterface::GetSize() != GetCount() || MpiInterface::GetSystemId() != GetId(),
                    "the environment of this process is not that of MPI");
}

void
Processes::Finish()
{
    if (g_started)
    {
        g_started = false;
        g_receiver = nullptr;
        MpiInterface::Disable();
    }
}

void
Processes::Abort(int status)
{
    if (g_started)
    {
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    std::exit(status);
}

std::vector<std::string>
Processes::Gather(const std::string& mine)
{
    if (!g_started)
    {
        return {mine};
    }
    const MPI_Comm communicator = MpiInterface::GetCommunicator();
    std::vector<int> sizes(GetCount());
    auto size = static_cast<int>(mine.size());
    MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, communicator);
    std::vector<int> offsets(1, 0);
    for (int each : sizes)
    {
        offsets.push_back(offsets.back() + each);
    }
    std::string all(static_cast<std::size_t>(offsets.back()), '\0');
    MPI_Allgatherv(mine.data(),
                   size,
                   MPI_CHAR,
                   all.data(),
                   sizes.data(),
                   offsets.data(),
                   MPI_CHAR,
                   communicator);
    std::vector<std::string> result;
    for (std::size_t i = 0; i < sizes.size(); i++)
    {
        result.push_back(
            all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(sizes[i])));
    }
    return result;
}

void
Processes::Connect(const std::vector<uint32_t>& nodes, Time lookAhead, Receiver receiver)
{
    NS_LOG_FUNCTION(lookAhead);
    g_receiver = std::move(receiver);
    g_mailboxes.clear();
    // The MPI engine derives its lookahead from the Delay attribute of point-to-point channels to
    // nodes of other processes, and delivers messages to a device on such a channel.
    auto channel = CreateObject<SimpleChannel>();
    channel->SetAttribute("Delay", TimeValue(lookAhead));
    for (uint32_t node : nodes)
    {
        auto device = CreateObject<SimpleNetDevice>();
        device->SetAttribute("PointToPointMode", BooleanValue(true));
        NodeList::GetNode(node)->AddDevice(device);
        device->SetChannel(channel); // also registers the device with the channel
        auto mailbox = CreateObject<MpiReceiver>();
        mailbox->SetReceiveCallback(MakeCallback(&OnPacket));
        device->AggregateObject(mailbox);
        g_mailboxes.emplace_back(node, device->GetIfIndex());
    }
}

void
Processes::Send(uint32_t process, const uint8_t* data, uint32_t size, Time delay)
{
    NS_ABORT_MSG_IF(size > MAX_MESSAGE, "too long");
    const auto& [node, interface] = g_mailboxes.at(process);
    MpiInterface::SendPacket(Create<Packet>(data, size), Simulator::Now() + delay, node, interface);
}

#else

uint32_t
Processes::GetCount()
{
    return 1;
}

uint32_t
Processes::GetId()
{
    return 0;
}

void
Processes::Start()
{
}

void
Processes::Finish()
{
}

void
Processes::Abort(int status)
{
    std::exit(status);
}

std::vector<std::string>
Processes::Gather(const std::string& mine)
{
    return {mine};
}

void
Processes::Connect(const std::vector<uint32_t>&, Time, Receiver)
{
}

void
Processes::Send(uint32_t, const uint8_t*, uint32_t, Time)
{
    NS_ABORT_MSG("there is no other process");
}

#endif

} // namespace ns3::training
