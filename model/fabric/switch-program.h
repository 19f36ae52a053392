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
 * A program in the data plane of a switch, beside forwarding: aggregation, multicast, counting. It
 * sees every frame that arrives, takes some, holds or changes them, and sends frames of its own. It
 * declares the resources it needs; the switch checks them (SwitchDevice::AddProgram()) and charges
 * them: each frame it sends has spent the latency of a pass, and another pass costs recirculation
 * bandwidth.
 *
 * A new program is one subclass in one pair of files.
 */
class SwitchProgram : public Object
{
  public:
    /** Resources of the switch that a program needs. */
    struct Resources
    {
        uint32_t stages{0};             ///< match-action stages
        uint64_t registerBytes{0};      ///< stateful memory, bytes
        Time latency;                   ///< of a pass, added to each frame it sends
        uint32_t recirculationPorts{0}; ///< ports that lead back into the pipeline
        uint32_t floatAdders{0};        ///< float32 adders
        uint64_t externalBytes{0};      ///< memory beside the chip, bytes
    };

    /** @return the type */
    static TypeId GetTypeId();

    /** @return its name, for messages */
    virtual std::string GetName() const = 0;

    /** @return the resources it needs; constant */
    virtual Resources GetResources() const = 0;

    /**
     * A frame has arrived, from a port or by Recirculate().
     * @param frame not a pause frame; `ingress` is the port it came in by
     * @return whether the program has taken it and owns it now; if not, it may have changed it
     */
    virtual bool Receive(Frame* frame) = 0;

    /**
     * Called when the program is loaded (SwitchDevice::AddProgram()).
     * @param host the switch; outlives the program's use
     */
    void SetSwitch(ProgramHost* host);

    /** Called by SwitchDevice::Restart(): a new life, without the state of the last. */
    void Restart();

    /** @param endpoint of the switch, which its frames come from and frames to it name */
    void SetEndpoint(uint32_t endpoint);

    /** @return endpoint of the switch */
    uint32_t GetEndpoint() const;

  protected:
    /** An endpoint that the program sends to. */
    struct Target
    {
        uint32_t endpoint;
        uint32_t flowHash; ///< of frames from the program's endpoint to it
    };

    /** The switch has restarted: loses all state, and frees the frames it holds. */
    virtual void Reset() = 0;

    void DoDispose() override;

    /**
     * Forwards a frame by the switch's routes, after the latency of a pass.
     * @param frame with destination, flow hash, and in `ingress` the port whose frame caused it,
     *        which its buffer space is counted for; owned by the switch from now on
     */
    void Send(Frame* frame);

    /**
     * Sends a frame by one port, after the latency of a pass.
     * @param frame as for Send()
     * @param port number of the egress port
     */
    void SendTo(Frame* frame, uint16_t port);

    /**
     * Sends a frame through the pipeline again: to Receive(), when the recirculation port has
     * carried it.
     * @param frame owned by the switch until then
     */
    void Recirculate(Frame* frame);

    /**
     * Sends a frame that has spent its time in the pipeline.
     * @param frame as for Send()
     */
    void Emit(Frame* frame);

    /**
     * Sends a frame, which has spent its time in the pipeline, from the program's endpoint.
     * @param frame as for Send(), but for its addresses
     * @param target whom to
     */
    void EmitTo(Frame* frame, const Target& target);

    /**
     * @param endpoint one to send to
     * @param flow tells the program's flows to that endpoint apart
     * @return it, ready to be sent to
     */
    Target MakeTarget(uint32_t endpoint, uint32_t flow) const;

    /** @return the switch */
    ProgramHost& GetSwitch() const;

    /**
     * Changes with each restart and at the end: events scheduled in an earlier life are void, as
     * their frames were lost with the pipeline.
     * @return number of this life
     */
    uint32_t GetLife() const;

  private:
    ProgramHost* m_switch{nullptr};
    uint32_t m_endpoint{0};
    uint32_t m_life{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PROGRAM_H
