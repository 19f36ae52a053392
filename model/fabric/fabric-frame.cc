/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-frame.h"

#include "fabric-port.h"
#include "mix-bits.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <memory>
#include <vector>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFrame");

/** Frames in slabs, the last one freed first out again because it is still in the cache. */
class FramePool
{
  public:
    /** @return the pool of this process: memory only, no data passes between nodes by it */
    static FramePool& Get()
    {
        // Never destroyed: when a program ends in the middle of a simulation, nodes give back what
        // they hold after all static objects of this file have gone.
        static auto* const pool = new FramePool;
        return *pool;
    }

    Frame* Take()
    {
        if (m_stale)
        {
            // Frames of the previous simulation, in flight when it ended, go only now: the
            // simulator still held references to them while it was destroyed.
            m_slabs.clear();
            m_free = nullptr;
            m_inUse = 0;
            m_stale = false;
            Frame::m_alive = true;
            Simulator::ScheduleDestroy(&FramePool::MarkStale);
        }
        if (!m_free)
        {
            AddSlab();
        }
        Frame* frame = m_free;
        m_free = frame->next;
        m_inUse++;
        return frame;
    }

    void Give(Frame* frame)
    {
        frame->next = m_free;
        m_free = frame;
        m_inUse--;
    }

    uint64_t GetInUse() const
    {
        return m_stale ? 0 : m_inUse;
    }

  private:
    static constexpr size_t SLAB_FRAMES = 256;

    static void MarkStale()
    {
        Get().m_stale = true;
        Frame::m_alive = false;
    }

    void AddSlab()
    {
        m_slabs.emplace_back(new Frame[SLAB_FRAMES]);
        for (size_t i = SLAB_FRAMES; i-- > 0;)
        {
            m_slabs.back()[i].next = m_free;
            m_free = &m_slabs.back()[i];
        }
    }

    std::vector<std::unique_ptr<Frame[]>> m_slabs;
    Frame* m_free{nullptr};
    uint64_t m_inUse{0};
    bool m_stale{true};
};

Frame*
Frame::Allocate(FrameKind kind)
{
    Frame* frame = FramePool::Get().Take();
    frame->kind = kind;
    frame->remoteAddress = 0;
    frame->messageBytes = 0;
    frame->payloadOffset = 0;
    frame->messageNumber = 0;
    frame->selectivePsn = 0;
    frame->sourceQp = 0;
    frame->immediate = 0;
    frame->ecn = Ecn::NOT_ECT;
    frame->ackRequest = false;
    frame->ecnEcho = false;
    frame->timestamp = 0;
    frame->syndrome = 0;
    frame->payloadBytes = 0;
    frame->ingress = 0;
    return frame;
}

Frame*
Frame::Clone() const
{
    Frame* copy = Allocate(kind);
    copy->bytes = bytes;
    copy->source = source;
    copy->destination = destination;
    copy->flowHash = flowHash;
    copy->ingress = ingress;
    copy->ingressPriority = ingressPriority;
    copy->priority = priority;
    copy->ecn = ecn;
    copy->ackRequest = ackRequest;
    copy->ecnEcho = ecnEcho;
    copy->opcode = opcode;
    copy->telemetry = telemetry ? std::make_unique<TelemetryStack>(*telemetry) : nullptr;
    copy->payloadBytes = payloadBytes;
    copy->destinationQp = destinationQp;
    copy->psn = psn;
    copy->immediate = immediate;
    copy->packet = packet;
    copy->payload = payload;
    copy->payloadOffset = payloadOffset;
    copy->remoteAddress = remoteAddress;
    copy->messageBytes = messageBytes;
    copy->timestamp = timestamp;
    copy->sourceQp = sourceQp;
    copy->messageNumber = messageNumber;
    copy->selectivePsn = selectivePsn;
    copy->protocol = protocol;
    copy->pauseQuanta = pauseQuanta;
    copy->pauseClasses = pauseClasses;
    copy->syndrome = syndrome;
    copy->aggregation = aggregation;
    return copy;
}

void
Frame::Free(Frame* frame)
{
    frame->packet = nullptr;
    frame->payload = nullptr;
    frame->telemetry = nullptr;
    FramePool::Get().Give(frame);
}

uint64_t
Frame::GetInUse()
{
    return FramePool::Get().GetInUse();
}

void
Frame::Notify()
{
    port->Arrive(this);
}

uint32_t
HashFlow(uint32_t a, uint32_t b, uint32_t ports)
{
    return static_cast<uint32_t>(MixBits(MixBits(uint64_t{a} << 32 | b) ^ ports));
}

} // namespace ns3::training
