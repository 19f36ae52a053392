/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_HOST_RECEIVER_H
#define DISTRIBUTED_TRAINING_HOST_RECEIVER_H

#include "host-receive-buffer.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace ns3::training
{

class FabricPort;
class Frame;

/** What a host does with arrived frames: it takes them at once, or through a HostReceiveBuffer. */
class HostReceiver
{
  public:
    /**
     * @param settings of the buffer; must outlive this
     * @param deliver takes each processed frame
     */
    HostReceiver(const HostReceiveBuffer::Settings& settings, std::function<void(Frame*)> deliver);

    /** @param port ingress port; must outlive this */
    void SetPort(FabricPort& port)
    {
        m_port = &port;
    }

    /** @return whether the host takes frames at once, if none waits */
    bool IsUnlimited() const
    {
        return m_settings.rate.GetBitRate() == 0;
    }

    /** @return whether no frame waits or is processed */
    bool IsEmpty() const
    {
        return !m_buffer || m_buffer->IsEmpty();
    }

    /**
     * @param frame arrived frame; owned by this from now on
     * @param service least processing time of the frame
     */
    void Receive(Frame* frame, Time service);

    /** The rate of the settings has changed. */
    void OnRate();

    /**
     * @param priority a class that is received with credits
     * @return its bytes in the buffer
     */
    uint64_t GetHeldBytes(uint8_t priority) const
    {
        return m_buffer ? m_buffer->GetHeldBytes(priority) : 0;
    }

  private:
    const HostReceiveBuffer::Settings& m_settings;
    FabricPort* m_port{nullptr};
    std::function<void(Frame*)> m_deliver;
    std::unique_ptr<HostReceiveBuffer> m_buffer; // null: nothing has waited there
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_HOST_RECEIVER_H
