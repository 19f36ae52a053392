/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_KEPT_PACKETS_H
#define DISTRIBUTED_TRAINING_RDMA_KEPT_PACKETS_H

#include "rdma-loss-recovery.h"

#include <deque>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 * Loss recovery whose receiver keeps the packets ahead of a gap.
 */
class RdmaKeptPackets : public RdmaLossRecovery
{
  public:
    ~RdmaKeptPackets() override
    {
        for (const Kept& kept : m_kept)
        {
            if (kept.frame)
            {
                Frame::Free(kept.frame);
            }
        }
    }

    bool Keep(uint64_t distance, Frame* frame, int64_t now) override
    {
        if (m_kept.size() <= distance)
        {
            m_kept.resize(distance + 1);
        }
        Kept& place = m_kept[distance];
        if (place.frame)
        {
            return false;
        }
        place = {frame, now, 0};
        return true;
    }

    Frame* PeekKept() const override
    {
        return m_kept.empty() ? nullptr : m_kept.front().frame;
    }

    Frame* Advance() override
    {
        Frame* frame = PeekKept();
        if (!m_kept.empty())
        {
            m_kept.pop_front();
        }
        return frame;
    }

    bool IsSelective() const override
    {
        return true;
    }

  protected:
    /** A kept packet. */
    struct Kept
    {
        Frame* frame{nullptr}; ///< null: missing
        int64_t time{0};       ///< arrival, or last report of the gap before it, ps
        uint32_t reports{0};   ///< of the gap before it
    };

    std::deque<Kept> m_kept; ///< from the expected packet on
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_KEPT_PACKETS_H
