/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_CHANNEL_H
#define DISTRIBUTED_TRAINING_FABRIC_CHANNEL_H

#include "fabric-port.h"

#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"

#include <array>
#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * A full-duplex point-to-point link. Frames in flight are simulator events themselves, so the
 * channel only knows its two ports. A switch port is not a NetDevice and does not appear in
 * GetDevice().
 */
class FabricChannel : public Channel
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /**
     * Connects two ports.
     * @param a port at one end
     * @param b port at the other end
     * @param rate line rate of each direction
     * @param delay propagation delay
     * @param pipelineA pipeline delay that the owner of `a` adds to each frame arriving there
     * @param pipelineB the same at `b`
     */
    void Connect(FabricPort& a,
                 FabricPort& b,
                 DataRate rate,
                 Time delay,
                 Time pipelineA,
                 Time pipelineB);

    /** @param device host device at one end */
    void AddDevice(Ptr<NetDevice> device);

    /// Impairments of the two directions.
    using Impairments = std::array<std::shared_ptr<LinkImpairment>, 2>;

    /**
     * Applies impairments to every frame sent from now on, separately per direction.
     * @param impairments impairments of the direction from end 0 and of the direction from end 1
     */
    void AddImpairments(const Impairments& impairments);

    /**
     * Removes impairments.
     * @param impairments impairments added before
     */
    void RemoveImpairments(const Impairments& impairments);

    /** @return whether the link is up */
    bool IsUp() const;

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

    /**
     * @param end end of the link, 0 or 1
     * @return the port at that end
     */
    FabricPort& GetPort(uint32_t end) const;

  private:
    void DoDispose() override;
    void NotifyOwners(bool wasUp);

    std::vector<Ptr<NetDevice>> m_devices;
    FabricPort* m_ports[2]{};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_CHANNEL_H
