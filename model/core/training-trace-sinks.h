/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRACE_SINKS_H
#define DISTRIBUTED_TRAINING_TRACE_SINKS_H

namespace ns3::training
{

/** Finds out what only some releases of ns-3 tell. */
class TraceSinks
{
  public:
    /**
     * @tparam Trace an ns3::TracedCallback
     * @param trace a trace source
     * @return whether it has no sinks; false in ns-3.35, which does not tell
     */
    template <typename Trace>
    static bool AreNone(const Trace& trace)
    {
        return Ask(trace, 0);
    }

  private:
    template <typename Trace>
    static auto Ask(const Trace& trace, int) -> decltype(trace.IsEmpty())
    {
        return trace.IsEmpty();
    }

    template <typename Trace>
    static bool Ask(const Trace&, long)
    {
        return false;
    }
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRACE_SINKS_H
