/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_DEVICE_H
#define DISTRIBUTED_TRAINING_SWITCH_DEVICE_H

#include "fabric-port.h"
#include "forwarding-table.h"
#include "path-chooser.h"
#include "shared-buffer.h"
#include "switch-program.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <limits>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * An output-queued Ethernet switch, store-and-forward or cut-through, aggregated to a plain
 * ns3::Node. It forwards by table, choosing among equally good ports by flow, flowlet, packet, or
 * endpoint, holds frames in a SharedBuffer, marks ECN by queue length on leaving (RED-like between
 * Kmin and Kmax; equal values make a step), drops early in lossy classes (WRED), and pauses senders
 * of lossless classes (802.1Qbb). Programs in its data plane see frames first (SwitchProgram).
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

    /**
     * Says where in a topology with datelines a port leads. A lossless frame that comes in behind a
     * dateline goes on in the second class of its own, the next higher one, until it leaves the
     * dimension: so a cycle of links is no cycle of buffers (Dally and Seitz, 1987).
     * @param index port number
     * @param dimension of its link
     * @param dateline whether its link is one
     */
    void SetPlace(uint16_t index, uint8_t dimension, bool dateline);

    /** @return the routes, to be filled in */
    ForwardingTable& GetTable();

    /**
     * Divides the buffer when all ports are connected.
     * @throw ConfigurationError if it is too small, Kmin is above Kmax, or a lossless class has no
     *        second one where it needs one
     */
    void Configure();

    /** @return how ports are chosen among equally good ones, beside the attribute Path */
    PathChooser& GetPaths();

    /** @return the packet memory */
    const SharedBuffer& GetBuffer() const;

    /** @return time from a frame's arrival to when it can leave */
    Time GetPipelineDelay() const;

    /**
     * @param stream random number stream of the marking
     * @return streams used
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * @param program sees frames from now on, after those already there
     * @throw ConfigurationError if the switch has not got the resources it needs
     */
    void AddProgram(Ptr<SwitchProgram> program);

    /**
     * @param index in the order they were added
     * @return the program, or null
     */
    Ptr<SwitchProgram> GetProgram(uint32_t index) const;

    /// Instead of a port: the switch's routes decide.
    static constexpr uint16_t BY_ROUTE = std::numeric_limits<uint16_t>::max();

    /**
     * Sends a frame of a program.
     * @param frame owned by the switch from now on
     * @param port number of the egress port, or BY_ROUTE
     * @param latency from now
     */
    void Emit(Frame* frame, uint16_t port, Time latency);

    /**
     * Sends a frame through the pipeline again, at the rate of the first recirculation port.
     * @param frame owned by the switch until the programs have it back
     */
    void Recirculate(Frame* frame);

    /**
     * Takes the time of a recirculation port for a frame, which a program then need not have back:
     * several passes in a row cost no events.
     * @param port number of the recirculation port
     * @param bytes of the frame, which may shrink or grow from pass to pass
     * @param ready when the frame is there, ps; of one port in rising order
     * @return when it has gone through, ps
     */
    int64_t ReserveRecirculation(uint32_t port, uint32_t bytes, int64_t ready);

    /** Loses all state: what waits, pauses, flowlets, programs' memory. Routes stay. */
    void Restart();

    /** @return bytes that have been recirculated */
    uint64_t GetRecirculatedBytes() const;

    // FabricPortOwner
    void Receive(Frame* frame, FabricPort& port) override;
    void Expect(const Frame& frame) override;
    void ExpectSoon(const Frame& frame) override;
    bool BeginTransmit(Frame& frame, FabricPort& port) override;

    /**
     * A frame found no space.
     * @param frame the frame, freed afterwards
     * @param port the egress port
     */
    typedef void (*DropTracedCallback)(const Frame& frame, uint16_t port);

    /**
     * A frame has been marked.
     * @param frame the frame
     * @param port the egress port
     */
    typedef void (*MarkTracedCallback)(const Frame& frame, uint16_t port);

  private:
    /** Where the link of a port leads. */
    struct Place
    {
        uint8_t dimension{0};
        bool dateline{false};
    };

    void DoDispose() override;
    void SetPath(std::string name);
    std::string GetPath() const;
    void SetFlowletGap(Time gap);
    Time GetFlowletGap() const;
    void SetStrictPriorities(uint8_t priorities);
    uint8_t GetStrictPriorities() const;
    void SetWeights(std::string weights);
    std::string GetWeights() const;
    void Forward(Frame* frame);
    void SendFrom(Frame* frame, uint16_t port);
    void ChangeClass(Frame& frame, uint16_t egress) const;
    bool OfferToPrograms(Frame* frame);
    void EndRecirculation(Frame* frame);
    bool DropsEarly(const Frame& frame, const FabricPort& port);
    static double GetProbability(const FabricPort& port,
                                 uint8_t priority,
                                 double kminPerGbps,
                                 double kmaxPerGbps,
                                 double pmax);
    void ActOn(uint16_t ingress, uint8_t priority);
    void ScheduleRenewal(uint16_t ingress);
    void RenewPauses(uint16_t ingress);
    void Mark(Frame& frame, FabricPort& port);
    void Drop(Frame* frame, FabricPort& port);

    std::vector<Ptr<FabricPort>> m_ports;
    Ptr<UniformRandomVariable> m_random;
    PathChooser m_paths;
    uint8_t m_secondClasses{0};   // bit p: priority p is the second class of p - 1
    std::vector<bool> m_renewing; // by port: a renewal of its pauses is scheduled
    ForwardingTable m_table;
    SharedBuffer m_buffer;
    std::vector<Ptr<SwitchProgram>> m_programs;
    std::vector<int64_t> m_recirculationFree; // when each recirculation port is, ps
    uint64_t m_recirculatedBytes{0};
    uint32_t m_nodeId{0};
    std::vector<Place> m_places; // by port; empty: there are no datelines
    uint64_t m_bufferSize;
    uint64_t m_guaranteed;
    uint64_t m_resumeOffset;
    uint32_t m_largestFrame;
    double m_losslessAlpha;
    double m_lossyAlpha;
    double m_kminPerGbps;
    double m_kmaxPerGbps;
    double m_pmax;
    double m_wredKminPerGbps;
    double m_wredKmaxPerGbps;
    double m_wredPmax;
    double m_headroomScale;
    bool m_cutThrough;
    uint32_t m_stages;
    uint64_t m_registerBytes;
    DataRate m_recirculationRate;
    uint32_t m_recirculationPorts;
    uint32_t m_floatAdders;
    uint64_t m_externalBytes;
    Time m_pipelineDelay;
    Time m_pauseResponse;
    uint8_t m_losslessClasses;
    TracedCallback<const Frame&, uint16_t> m_dropTrace;
    TracedCallback<const Frame&, uint16_t> m_markTrace;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_DEVICE_H
