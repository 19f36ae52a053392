/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_PROGRAM_H
#define DISTRIBUTED_TRAINING_NIC_PROGRAM_H

#include "fabric-frame.h"

#include "ns3/nstime.h"
#include "ns3/object.h"

namespace ns3::training
{

class FabricPort;
class HostDevice;

/**
 * @ingroup distributed-training-fabric
 *
 * A processing engine in a NIC, between host and link, for example for compression or reduction. It
 * sees every frame that the host sends or receives, and may modify it, consume it, or send its own
 * frames. A frame takes the latency of its pipeline. An engine slower than the line also takes a
 * service time, during which it accepts no other frame.
 *
 * A new program is a subclass in its own pair of files; HostDevice::SetProgram() installs it.
 */
class NicProgram : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @return pipeline latency added to each sent frame */
    virtual Time GetSendLatency() const = 0;

    /** @return pipeline latency added to each received frame */
    virtual Time GetReceiveLatency() const = 0;

    /**
     * Called after OnSend().
     * @param frame frame that is sent
     * @return time until the engine accepts the next one; below that on the line, it is hidden
     */
    virtual Time GetSendTime(const Frame& frame) const;

    /**
     * Called after OnReceive(). Frames that arrive faster wait in the host's receive buffer, which
     * pauses lossless classes, see HostDevice::ReceiveBuffer.
     * @param frame frame for the host
     * @return time until the engine accepts the next one
     */
    virtual Time GetReceiveTime(const Frame& frame) const;

    /**
     * Called when a frame is about to be sent. Queue pairs pace the size that it has afterwards.
     * @param frame frame to send; its contents and size may be changed
     * @return whether to send it; if not, the program owns the frame now
     */
    virtual bool OnSend(Frame& frame) = 0;

    /**
     * Called when a frame has arrived.
     * @param frame received frame; its contents and size may be changed
     * @return whether to pass it to the host; if not, the program owns the frame now
     */
    virtual bool OnReceive(Frame& frame) = 0;

    /**
     * Lets the program see a frame that is about to be sent, and charges its time to the port.
     * @param frame the frame
     * @param port port of the NIC
     * @return as OnSend()
     */
    bool Send(Frame& frame, FabricPort& port);

    /**
     * Called by HostDevice::SetProgram().
     * @param device the NIC; must outlive the use of the program
     */
    void SetDevice(HostDevice* device);

  protected:
    void DoDispose() override;

    /** @return the NIC; a program sends its own frames through the port of the NIC */
    HostDevice& GetDevice() const;

  private:
    HostDevice* m_device{nullptr};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_PROGRAM_H
