/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-frame.h"

#include "state-visitor.h"

#include "ns3/simulator.h"
#include "ns3/training-mix-bits.h"

#include <cstring>
#include <memory>
#include <vector>

namespace ns3::training
{

/** A slab allocator with a LIFO free list: a reused frame is likely still cached. */
class FramePool
{
  public:
    /** @return the pool of this process; a memory allocator only, carries no data between nodes */
    static FramePool& Get()
    {
        // Never destroyed: if a program exits in the middle of a simulation, nodes free their
        // frames after the destruction of static objects.
        static auto* const pool = new FramePool;
        return *pool;
    }

    Frame* Take()
    {
        if (m_stale)
        {
            // Frames still in flight at the end of the previous simulation are freed here, because
            // the simulator held references to them until its destruction was complete.
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
    static_cast<FrameHeaders&>(*frame) = FrameHeaders();
    frame->kind = kind;
    frame->next = nullptr;
    frame->port = nullptr;
    frame->ingress = 0;
    frame->ingressPriority = 0;
    frame->isEmitted = 0;
    frame->isCopy = 0;
    if (kind == FrameKind::PROGRAM)
    {
        std::memset(frame->programHeader, 0, PROGRAM_HEADER_BYTES);
    }
    return frame;
}

void
Frame::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(Frame), 192),
                  "a new member: visit it unless it stays, then correct the size");
    const bool repeats = (kind == FrameKind::ROCE_DATA || kind == FrameKind::ROCE_ACK ||
                          kind == FrameKind::CREDIT) &&
                         !payload && !hasTelemetry && !isCopy;
    if (!repeats)
    {
        visitor.Refuse();
        return;
    }
    FrameHeaders equal = *this;
    equal.psn = 0;
    equal.timestamp = 0;
    constexpr std::size_t WORD = sizeof(uint64_t);
    static_assert(sizeof(FrameHeaders) % WORD == 0, "visited word by word");
    for (std::size_t offset = 0; offset < sizeof(FrameHeaders); offset += WORD)
    {
        uint64_t word;
        std::memcpy(&word, reinterpret_cast<const char*>(&equal) + offset, WORD);
        visitor.Same(word);
    }
    visitor.Same({ingress, ingressPriority});
    visitor.Psn(psn);
    visitor.Time(timestamp);
}

Frame*
Frame::Clone() const
{
    Frame* copy = FramePool::Get().Take();
    static_cast<FrameHeaders&>(*copy) = *this;
    copy->next = nullptr;
    copy->port = nullptr;
    copy->ingress = ingress;
    copy->ingressPriority = ingressPriority;
    copy->isEmitted = 0;
    copy->isCopy = 0;
    if (hasTelemetry)
    {
        copy->SetTelemetry(std::make_unique<TelemetryStack>(*m_telemetry));
    }
    if (MayHavePacket())
    {
        copy->packet = packet;
    }
    copy->payload = payload;
    if (kind == FrameKind::PROGRAM)
    {
        std::memcpy(copy->programHeader, programHeader, PROGRAM_HEADER_BYTES);
    }
    return copy;
}

void
Frame::Free(Frame* frame)
{
    frame->payload = nullptr;
    frame->TakeTelemetry();
    if (frame->MayHavePacket())
    {
        frame->packet = nullptr;
    }
    FramePool::Get().Give(frame);
}

uint64_t
Frame::GetInUse()
{
    return FramePool::Get().GetInUse();
}

uint32_t
HashFlow(uint32_t a, uint32_t b, uint32_t ports)
{
    return static_cast<uint32_t>(MixBits(MixBits(uint64_t{a} << 32 | b) ^ ports));
}

} // namespace ns3::training
