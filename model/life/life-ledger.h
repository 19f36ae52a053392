/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LIFE_LEDGER_H
#define DISTRIBUTED_TRAINING_LIFE_LEDGER_H

#include "ns3/nstime.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-life
 * What the time of a job is used for.
 */
enum class LifeUse : uint8_t
{
    PRODUCTIVE, ///< work that is not lost
    CHECKPOINT, ///< standing still for checkpoints that are not lost
    LOST,       ///< work and checkpoints that a failure has undone
    DETECTION,  ///< from a failure until it is noticed
    WAITING,    ///< waiting for a spare or a repair
    RESTART     ///< restarts, also those that failed
};

/// Number of uses. @ingroup distributed-training-life
constexpr uint32_t LIFE_USES = 6;

/**
 * @param use of time
 * @return name of a use, such as "productive"
 * @ingroup distributed-training-life
 */
const char* GetName(LifeUse use);

/**
 * @ingroup distributed-training-life
 * A part of the time of a job.
 */
struct LifeSpan
{
    LifeUse use{LifeUse::PRODUCTIVE}; ///< what for
    Time start;                       ///< since the start of the job
    Time end;                         ///< likewise
    uint32_t iteration{0};            ///< work, checkpoint: of this one; otherwise the next one
    std::string node;                 ///< detection: what has failed
    std::string detail;               ///< detection: why; lost: what it was
};

/**
 * @ingroup distributed-training-life
 *
 * Where the time of a job goes, as it goes. Each picosecond has one use, so the uses add up to the
 * time since the start. What ends at the time of a failure has ended before it.
 */
class LifeLedger
{
  public:
    /**
     * Ends the present span.
     * @param end now; the span begins where the last one has ended
     * @param use of the span
     * @param iteration see LifeSpan
     * @param node see LifeSpan
     * @param detail see LifeSpan
     */
    void Add(Time end,
             LifeUse use,
             uint32_t iteration,
             const std::string& node = "",
             const std::string& detail = "");

    /** @param iterations that are complete and can be loaded: a failure does not undo them */
    void Save(uint32_t iterations);

    /** Marks as lost what a failure has undone: all work and checkpoints that are not saved. */
    void Lose();

    /** @return number of iterations that can be loaded */
    uint32_t GetSaved() const
    {
        return m_saved;
    }

    /** @return end of the last span */
    Time GetEnd() const
    {
        return m_end;
    }

    /** @param use of time @return all time of this use */
    Time GetTime(LifeUse use) const
    {
        return m_times[static_cast<uint32_t>(use)];
    }

    /** @return productive part of the time: effective training time ratio; 1 if there is no time */
    double GetEffectiveRatio() const;

    /** @return the spans that are longer than 0, in order */
    const std::vector<LifeSpan>& GetSpans() const
    {
        return m_spans;
    }

  private:
    Time m_end;
    uint32_t m_saved{0};
    std::size_t m_checked{0}; // spans before are saved, lost, or neither work nor checkpoint
    std::array<Time, LIFE_USES> m_times{};
    std::vector<LifeSpan> m_spans;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LIFE_LEDGER_H
