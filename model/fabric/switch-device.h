/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_DEVICE_H
#define DISTRIBUTED_TRAINING_SWITCH_DEVICE_H

#include "fabric-port.h"
#include "forwarding-table.h"
#include "shared-buffer.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <deque>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * An output-queued store-and-forward Ethernet switch, aggregated to a plain ns3::Node. It forwards
 * by table with ECMP over flow hashes, holds frames in a SharedBuffer, marks ECN by queue length on
 * leaving (RED-like between Kmin and Kmax), and pauses senders of lossless classes (802.1Qbb).
 */
class SwitchDevice : public Object, public FabricPortOwner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    SwitchDevice();
    ~SwitchDevice() override;

    /**
     * @param nodeId node it is on
     */
    void SetNodeId(uint32_t nodeId);

    /** @return a new port, numbered from 0 */
    FabricPort& AddPort();

    /**
     * @param index port number
     * @return the port
     */
    FabricPort& GetPort(uint16_t index);

    /** @return number of ports */
    uint16_t GetNPorts() const;

    /** @return the routes, to be filled in */
    ForwardingTable& GetTable();

    /**
     * Divides the buffer when all ports are connected.
     * @return bytes of PFC headroom that its memory cannot hold (0: lossless classes never drop)
     */
    uint64_t ConfigureBuffer();

    /** @return the packet memory */
    const SharedBuffer& GetBuffer() const;

    /** @return time from a frame's arrival to when it can leave */
    Time GetPipelineDelay() const;

    /**
     * @param stream random number stream of the marking
     * @return streams used
     */
    int64_t AssignStreams(int64_t stream);

    // FabricPortOwner
    void Receive(Frame* frame, FabricPort& port) override;
    void BeginTransmit(Frame& frame, FabricPort& port) override;

    /**
     * A frame found no space.
     * @param frame the frame, freed afterwards
     * @param port the egress port
     */
    typedef void (*DropTracedCallback)(const Frame& frame, uint16_t port);

  private:
    void DoDispose() override;
    void ActOn(uint16_t ingress, uint8_t priority);
    void ScheduleRenewal(uint16_t ingress);
    void RenewPauses(uint16_t ingress);
    void Mark(Frame& frame, FabricPort& port);
    void Drop(Frame* frame, FabricPort& port);

    std::deque<FabricPort> m_ports; // a deque, because links hold addresses of ports
    std::vector<bool> m_renewing;   // by port: a renewal of its pauses is scheduled
    ForwardingTable m_table;
    SharedBuffer m_buffer;
    Ptr<UniformRandomVariable> m_random;
    uint32_t m_nodeId{0};
    uint32_t m_hashSeed{0};
    uint64_t m_bufferSize;
    uint64_t m_guaranteed;
    uint64_t m_resumeOffset;
    uint32_t m_largestFrame;
    double m_losslessAlpha;
    double m_lossyAlpha;
    double m_kminPerGbps;
    double m_kmaxPerGbps;
    double m_pmax;
    Time m_pipelineDelay;
    Time m_pauseResponse;
    uint8_t m_losslessClasses;
    TracedCallback<const Frame&, uint16_t> m_dropTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_DEVICE_H
