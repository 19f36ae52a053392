/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-collective
 *
 * Hosts that run an all-reduce of MPI over kernel TCP, as frameworks for data parallelism did
 * before NCCL: each tensor costs a time of the framework and the library, each message between
 * servers the latency of the kernel.
 *
 * The latency is that of nccl-socket, which was measured without MPI. The time of a tensor is
 * calibrated with the all-reduce of 8 ranks over 10GbE that HKBU-HPML/MG-WFBP fits: 523 us before
 * the first byte counts. The 908 us of 16 ranks are predicted.
 */

#include "communicator/server-map.h"
#include "host-model.h"

namespace ns3::training
{

namespace
{

/** MPI over sockets, for the ranks of one communicator. */
class MpiTcpHostModel : public HostModel
{
  public:
    explicit MpiTcpHostModel(const HostModelRequest& request)
        : m_map(request)
    {
        m_cost.start = request.keys.GetTime("tensor");
        m_cost.remoteHop = m_map.GetRemoteHop(request.keys.GetTime("latency").GetSeconds());
    }

    // HostModel
    HostCost GetCost(const CollectiveSchedule&, uint64_t) const override
    {
        return m_cost;
    }

    bool IsLocal(uint32_t a, uint32_t b) const override
    {
        return m_map.IsLocal(a, b);
    }

  private:
    ServerMap m_map;
    HostCost m_cost;
};

std::shared_ptr<const HostModel>
MakeMpiTcp(const HostModelRequest& request)
{
    return std::make_shared<MpiTcpHostModel>(request);
}

const Registry<HostModelEntry>::Entry g_mpiTcp(
    "mpi-tcp",
    {"MPI over kernel TCP: each tensor and each message between servers take a time",
     &MakeMpiTcp,
     {Key::Of("tensor", Key::Type::TIME, "246us", "of the hosts for each collective"),
      Key::Of("latency", Key::Type::TIME, "18.8us", "of a message to another server"),
      ServerMap::GetKey()},
     false,
     true});

} // namespace

} // namespace ns3::training
