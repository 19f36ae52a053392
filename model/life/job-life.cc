/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-life.h"

#include "spare-nodes.h"

#include <algorithm>
#include <deque>

namespace ns3::training
{

namespace
{

/** Work and checkpoints that a failure would undo. */
struct Unsaved
{
    LifeTime work{0};
    LifeTime checkpoint{0};
};

/** A job and its account. */
class Life
{
  public:
    Life(const LifeSpans& spans, const std::function<Failure()>& next)
        : m_spans(spans),
          m_next(next),
          m_failure(next())
    {
    }

    LifeAccount Run();

  private:
    /** What a job does. */
    enum class Phase
    {
        WORK,
        CHECKPOINT, // also waits for the drain of the checkpoint before
        RESTART,
        WAITING
    };

    LifeTime GetPhaseEnd() const;
    void Account(LifeTime span);
    void Drained();
    void EndPhase();
    void Fail();
    void Recover();

    const LifeSpans& m_spans;
    const std::function<Failure()>& m_next;
    Failure m_failure; // the next one
    LifeAccount m_account;
    LifeTime m_now{0};
    Phase m_phase{Phase::WORK};
    LifeTime m_left{m_spans.interval};   // of the phase, without waiting
    Unsaved m_unsaved;                   // since the last checkpoint that can be loaded
    Unsaved m_draining;                  // part of it that the draining checkpoint holds
    LifeTime m_drained{LifeTime::max()}; // end of the drain; max(): nothing drains
    std::deque<LifeTime> m_repairs;      // ends of repairs of nodes
    SpareNodes m_nodes{m_spans.spares};
};

LifeTime
Life::GetPhaseEnd() const
{
    const bool isDraining = m_drained != LifeTime::max();
    return m_phase == Phase::WAITING || (m_phase == Phase::CHECKPOINT && isDraining)
               ? LifeTime::max() // a repair or the drain ends it
               : m_now + m_left;
}

void
Life::Account(LifeTime span)
{
    m_now += span;
    switch (m_phase)
    {
    case Phase::WORK:
        m_unsaved.work += span;
        m_left -= span;
        return;
    case Phase::CHECKPOINT:
        m_unsaved.checkpoint += span;
        m_left -= m_drained == LifeTime::max() ? span : LifeTime(0);
        return;
    case Phase::RESTART:
        m_account.restart += span;
        m_left -= span;
        return;
    case Phase::WAITING:
        m_account.waiting += span;
        return;
    }
}

void
Life::Drained()
{
    m_account.productive += m_draining.work;
    m_account.checkpoint += m_draining.checkpoint;
    m_account.checkpoints++;
    m_unsaved.work -= m_draining.work;
    m_unsaved.checkpoint -= m_draining.checkpoint;
    m_drained = LifeTime::max();
}

void
Life::Recover()
{
    m_phase = m_nodes.Replace() ? Phase::RESTART : Phase::WAITING;
    m_left = m_spans.restart;
}

void
Life::EndPhase()
{
    if (m_phase == Phase::WORK)
    {
        m_phase = Phase::CHECKPOINT;
        m_left = m_spans.checkpoint;
        return;
    }
    if (m_phase == Phase::CHECKPOINT)
    {
        m_draining = m_unsaved;
        m_drained = m_now + m_spans.drain;
    }
    m_phase = Phase::WORK;
    m_left = m_spans.interval;
}

void
Life::Fail()
{
    m_account.failures++;
    m_account.byCause[m_failure.cause]++;
    m_account.lost += m_unsaved.work + m_unsaved.checkpoint;
    m_unsaved = {};
    m_drained = LifeTime::max();
    m_repairs.push_back(m_now + m_spans.repair);
    m_nodes.Fail();
    m_failure = m_next();
}

LifeAccount
Life::Run()
{
    while (true)
    {
        // At equal times: repairs and drains, then phases, then failures, then the end.
        const LifeTime repair = m_repairs.empty() ? LifeTime::max() : m_repairs.front();
        const LifeTime phase = GetPhaseEnd();
        const LifeTime at = std::min({repair, m_drained, phase, m_failure.time, m_spans.duration});
        Account(at - m_now);
        if (at == repair)
        {
            m_repairs.pop_front();
            m_nodes.Repair();
            if (m_phase == Phase::WAITING)
            {
                Recover();
            }
        }
        else if (at == m_drained)
        {
            Drained();
        }
        else if (at == phase)
        {
            EndPhase();
        }
        else if (at == m_failure.time)
        {
            Fail();
            Recover();
        }
        else
        {
            break;
        }
    }
    m_account.elapsed = m_now;
    m_account.productive += m_unsaved.work;
    m_account.checkpoint += m_unsaved.checkpoint;
    return m_account;
}

} // namespace

double
LifeAccount::GetEffectiveRatio() const
{
    return elapsed.count() > 0
               ? static_cast<double>(productive.count()) / static_cast<double>(elapsed.count())
               : 1;
}

LifeAccount
LiveJob(const LifeSpans& spans, const std::function<Failure()>& next)
{
    return Life(spans, next).Run();
}

} // namespace ns3::training
