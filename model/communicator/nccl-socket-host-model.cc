/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Hosts that run NCCL over kernel TCP (NET/Socket, without GPUDirect). The socket threads of a rank
 * copy what it sends to and receives from other servers, one slot after the other. NCCL's tuning
 * (NcclTuning) selects LL or Simple; LL128 is not available on this path. A rank has one thread for
 * all its connections, its proxy, as in net_socket.cc with NCCL_SOCKET_NTHREADS unset, except on
 * the NICs of two clouds. The socket threads of a server share its kernel and memory.
 *
 * The defaults are fitted to five measurements with NCCL 2.31 on ports of 200 Gbit/s: 18.8 us for 8
 * bytes and 40665 us for 128 MiB from one rank to another, 973 us for an all-reduce of 512 KiB
 * between two ranks, and 89.8 us and 417 ms for all-to-alls of 8 bytes and 128 MiB a message
 * between two servers of four (openfabric-systems/simllm). The latency includes NCCL's base latency
 * and the first slot.
 */

#include "communicator/nccl-tuning.h"
#include "communicator/server-map.h"
#include "host-model.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

using Algorithm = NcclTuning::Algorithm;
using Protocol = NcclTuning::Protocol;

/// Data in a slot of NCCL's buffers: an eighth of 4 MiB, for LL half of an eighth of 512 KiB.
constexpr uint64_t SOCKET_SLOT = 512 << 10;
constexpr uint64_t LL_SLOT = 32 << 10;

/**
 * @param bytes size of a message
 * @return data in a slot of sends and receives (NCCL_P2P_NET_CHUNKSIZE, addP2pToPlan())
 */
uint64_t
GetExchangeSlot(uint64_t bytes)
{
    constexpr uint64_t SLOT_OF_LARGE = 128 << 10;
    return bytes < SLOT_OF_LARGE       ? SLOT_OF_LARGE / 4
           : bytes < 8 * SLOT_OF_LARGE ? SLOT_OF_LARGE / 2
                                       : SLOT_OF_LARGE;
}

/** NCCL over sockets, for the ranks of one communicator. */
class NcclSocketHostModel : public HostModel
{
  public:
    explicit NcclSocketHostModel(const HostModelRequest& request)
        : m_map(request),
          m_rate(static_cast<double>(request.keys.GetRate("rate").GetBitRate()) / 8),
          m_serverRate(static_cast<double>(request.keys.GetRate("server-rate").GetBitRate()) / 8),
          m_hop(request.keys.GetTime("latency")),
          m_slot(request.keys.GetTime("slot")),
          m_exchange(request.keys.GetTime("exchange"))
    {
    }

    // HostModel
    HostCost GetCost(const CollectiveSchedule& schedule, uint64_t bytes) const override
    {
        const NcclTuning tuning = MakeTuning();
        const auto algorithm =
            schedule.algorithm == NcclTuning::GetName(schedule.operation, Algorithm::TREE, true)
                ? Algorithm::TREE
                : Algorithm::RING;
        const uint32_t ranks = m_map.GetRanks();
        const auto protocol = IsExchange(schedule.operation)
                                  ? tuning.SelectExchangeProtocol(bytes)
                                  : tuning.SelectProtocol(schedule.operation, algorithm, bytes);
        const bool isLow = protocol == Protocol::LL;
        HostCost cost;
        cost.localHop = m_map.GetLocalHop(tuning.GetLocalLatency(algorithm, protocol) * 1e-6);
        cost.remoteHop = m_map.GetRemoteHop(m_hop.GetSeconds());
        cost.wireFactor = NcclTuning::GetWireFactor(protocol);
        cost.perSlot = m_slot;
        cost.slotBytes = IsExchange(schedule.operation) ? GetExchangeSlot(bytes / ranks)
                         : isLow                        ? LL_SLOT
                                                        : SOCKET_SLOT;
        cost.perMessage = IsExchange(schedule.operation) ? m_exchange : Time(0);
        // A thread's own time for a byte and its slot, or its share of the server.
        const double slot = m_slot.GetSeconds() / static_cast<double>(cost.slotBytes);
        const double ofServer = cost.wireFactor * ranks / m_map.GetServers() / m_serverRate;
        cost.sendSecondsPerByte = std::max(cost.wireFactor / m_rate, ofServer - slot);
        const double line = m_map.GetRemoteRate() > 0 ? cost.wireFactor / m_map.GetRemoteRate() : 0;
        cost.remoteSecondsPerByte = std::max(0.0, cost.sendSecondsPerByte - line);
        cost.hasCommonChannel = true;
        return cost;
    }

    bool IsLocal(uint32_t a, uint32_t b) const override
    {
        return m_map.IsLocal(a, b);
    }

    std::vector<LibraryPlan> GetLibraryPlans(CollectiveOperation operation,
                                             uint64_t bytes) const override
    {
        return NcclTuning::Describe(MakeTuning().GetPlans(operation, bytes, false),
                                    operation,
                                    m_map.GetRanks() > m_map.GetServers());
    }

  private:
    NcclTuning MakeTuning() const
    {
        NcclTuning::System system;
        system.ranks = m_map.GetRanks();
        system.servers = m_map.GetServers();
        system.gpu = 1; // Ampere, which the constants were measured with
        system.hasNvlink = m_map.HasLocalLinks();
        system.localRate = m_map.GetLocalSum();
        system.remoteRate = m_map.GetRemoteRate(static_cast<double>(system.ranks) / system.servers);
        system.protocols = {Protocol::LL, Protocol::SIMPLE};
        return NcclTuning(system);
    }

    ServerMap m_map;
    double m_rate;       // bytes/s of a rank's thread, both directions together
    double m_serverRate; // bytes/s of all threads of a server, both directions together
    Time m_hop;          // latency of a message
    Time m_slot;         // of the thread, for each slot
    Time m_exchange;     // of the thread, for each message of an exchange
};

std::shared_ptr<const HostModel>
MakeNcclSocket(const HostModelRequest& request)
{
    return std::make_shared<NcclSocketHostModel>(request);
}

const Registry<HostModelEntry>::Entry g_ncclSocket(
    "nccl-socket",
    {"NCCL over kernel TCP: a rank's socket threads copy what it sends and receives",
     &MakeNcclSocket,
     {Key::Of("rate",
              Key::Type::RATE,
              "28Gbps",
              "of a rank's socket threads, sent and received bytes together"),
      Key::Of("server-rate",
              Key::Type::RATE,
              "82.4Gbps",
              "of all socket threads of a server, sent and received bytes together"),
      Key::Of("latency", Key::Type::TIME, "18.8us", "of a message to another server"),
      Key::Of("slot",
              Key::Type::TIME,
              "12us",
              "of the socket threads for each full slot of a message"),
      Key::Of("exchange",
              Key::Type::TIME,
              "8.9us",
              "of the socket threads for each message of an exchange, which has a connection of "
              "its own"),
      ServerMap::GetKey()},
     true,
     true,
     true});

} // namespace

} // namespace ns3::training
