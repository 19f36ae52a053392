/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PROGRAM_H
#define DISTRIBUTED_TRAINING_SWITCH_PROGRAM_H

#include "fabric-frame.h"
#include "program-host.h"

#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * A program in the data plane of a switch, in addition to forwarding: aggregation, multicast,
 * counting. It sees every arriving frame, may consume, hold or modify it, and may send its own
 * frames. It declares its resources, and the switch checks them (SwitchDevice::AddProgram()). Each
 * frame it sends is delayed by the latency of a pass, and every additional pass consumes
 * recirculation bandwidth.
 *
 * A new program is a subclass in its own pair of files.
 */
class SwitchProgram : public Object
{
  public:
    /** Resources of the switch that a program needs. */
    struct Resources
    {
        uint32_t stages{0};             ///< match-action stages
        uint64_t registerBytes{0};      ///< stateful memory, bytes
        Time latency;                   ///< latency of a pass, added to each frame it sends
        uint32_t recirculationPorts{0}; ///< number of recirculation ports
        uint32_t floatAdders{0};        ///< number of float32 adders
        uint64_t externalBytes{0};      ///< external memory, bytes
    };

    /** @return the type */
    static TypeId GetTypeId();

    /** @return program name, for messages */
    virtual std::string GetName() const = 0;

    /** @return the required resources; constant */
    virtual Resources GetResources() const = 0;

    /**
     * Handles a frame that has arrived from a port or by Recirculate().
     * @param frame frame, never a pause frame; `ingress` is its ingress port
     * @return whether the program has consumed the frame and owns it now; otherwise it may have
     *         modified the frame
     */
    virtual bool Receive(Frame* frame) = 0;

    /**
     * Called when the program is loaded (SwitchDevice::AddProgram()).
     * @param host the switch; must outlive the use of the program
     */
    void SetSwitch(ProgramHost* host);

    /** Restarts the program without its former state. Called by SwitchDevice::Restart(). */
    void Restart();

    /**
     * @param endpoint endpoint of the switch: source of its frames and destination of frames to it
     */
    void SetEndpoint(uint32_t endpoint);

    /** @return endpoint of the switch */
    uint32_t GetEndpoint() const;

  protected:
    /** A destination of the program's frames. */
    struct Target
    {
        uint32_t endpoint; ///< endpoint that receives them
        uint32_t flowHash; ///< flow hash of frames from the program's endpoint
    };

    /** Clears all state and frees all held frames, because the switch has restarted. */
    virtual void Reset() = 0;

    void DoDispose() override;

    /**
     * Forwards a frame by the switch's routes, after the latency of a pass.
     * @param frame frame with destination and flow hash; `ingress` is the port of the frame that
     *        caused it, to which its buffer space is charged; owned by the switch from now on
     */
    void Send(Frame* frame);

    /**
     * Sends a frame to a port, after the latency of a pass.
     * @param frame as in Send()
     * @param port number of the egress port
     */
    void SendTo(Frame* frame, uint16_t port);

    /**
     * Recirculates a frame: it reaches Receive() again after passing the recirculation port.
     * @param frame frame to recirculate; owned by the switch until then
     */
    void Recirculate(Frame* frame);

    /**
     * Sends a frame without further latency, because it has already spent the latency of a pass.
     * @param frame as in Send()
     */
    void Emit(Frame* frame);

    /**
     * Sends a frame from the program's endpoint without further latency, like Emit().
     * @param frame as in Send(), but without addresses
     * @param target the destination
     */
    void EmitTo(Frame* frame, const Target& target);

    /**
     * @param endpoint destination endpoint
     * @param flow flow number that distinguishes the program's flows to that endpoint
     * @return the destination, for EmitTo()
     */
    Target MakeTarget(uint32_t endpoint, uint32_t flow) const;

    /** @return the switch */
    ProgramHost& GetSwitch() const;

    /**
     * Identifies the time between two restarts. An event that was scheduled before a restart is
     * void, because its frame was lost with the pipeline.
     * @return number of restarts so far; disposal counts as one
     */
    uint32_t GetRestarts() const;

  private:
    ProgramHost* m_switch{nullptr};
    uint32_t m_endpoint{0};
    uint32_t m_restarts{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PROGRAM_H
