/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PROGRAM_H
#define DISTRIBUTED_TRAINING_SWITCH_PROGRAM_H

#include "fabric-frame.h"

#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

class SwitchDevice;

/**
 * @ingroup distributed-training-fabric
 *
 * What runs in a switch's data plane beside forwarding: aggregation, multicast, counting. It is
 * shown every frame that arrives; it takes some, holds or changes them, and sends frames of its
 * own. What it needs of the pipeline is declared, checked against the switch (SwitchDevice::
 * AddProgram()), and charged: each frame it sends has spent the latency of its pass, and another
 * pass costs recirculation bandwidth.
 *
 * A new program is one subclass in one pair of files.
 */
class SwitchProgram : public Object
{
  public:
    /** What a program needs of the switch. */
    struct Resources
    {
        uint32_t stages{0};             ///< match-action stages
        uint64_t registerBytes{0};      ///< stateful memory, bytes
        Time latency;                   ///< that a pass adds to what it sends
        uint32_t recirculationPorts{0}; ///< ports that lead back into the pipeline
        uint32_t floatAdders{0};        ///< float32 adders
        uint64_t externalBytes{0};      ///< memory beside the chip, bytes
    };

    /** @return the type */
    static TypeId GetTypeId();

    /** @return its name, for messages */
    virtual std::string GetName() const = 0;

    /** @return what it needs; the same for its life */
    virtual Resources GetResources() const = 0;

    /**
     * A frame has arrived, from a port or by Recirculate().
     * @param frame not a pause frame; `ingress` is the port it came in by
     * @return whether the program takes it; it then owns it. If not, it may have changed it
     */
    virtual bool Receive(Frame* frame) = 0;

    /** The switch has restarted: all state is lost. Frames held are to be freed. */
    virtual void Reset() = 0;

    /**
     * Called by SwitchDevice::AddProgram().
     * @param device the switch; outlives the program's use
     */
    void SetSwitch(SwitchDevice* device);

  protected:
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

    /** @return the switch */
    SwitchDevice& GetSwitch() const;

  private:
    SwitchDevice* m_switch{nullptr};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PROGRAM_H
