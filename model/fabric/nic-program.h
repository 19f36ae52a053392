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

class HostDevice;

/**
 * @ingroup distributed-training-fabric
 *
 * An engine in a NIC, between the host and the line, for compression or reduction. It sees every
 * frame that the host sends or receives, and may change it, take it, or send frames of its own. Its
 * time is charged as the latency of a pipeline that keeps up with the line.
 *
 * A new program is one subclass in one pair of files; HostDevice::SetProgram() installs it.
 */
class NicProgram : public Object
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @return latency that its pipeline adds to each frame sent */
    virtual Time GetSendLatency() const = 0;

    /** @return latency that its pipeline adds to each frame received */
    virtual Time GetReceiveLatency() const = 0;

    /**
     * A frame is about to go onto the line.
     * @param frame its contents and size may be changed
     * @return whether to send it; if not, the program owns it now
     */
    virtual bool OnSend(Frame& frame) = 0;

    /**
     * A frame has arrived from the line.
     * @param frame its contents and size may be changed
     * @return whether to pass it to the host; if not, the program owns it now
     */
    virtual bool OnReceive(Frame& frame) = 0;

    /**
     * Called by HostDevice::SetProgram().
     * @param device the NIC; outlives the program's use
     */
    void SetDevice(HostDevice* device);

  protected:
    void DoDispose() override;

    /** @return the NIC; a program sends a frame of its own by its port */
    HostDevice& GetDevice() const;

  private:
    HostDevice* m_device{nullptr};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_PROGRAM_H
