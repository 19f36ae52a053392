/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STATE_VISITOR_H
#define DISTRIBUTED_TRAINING_STATE_VISITOR_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Visits all that decides what a network does next, in a fixed order. Two visits one period apart
 * tell whether the network is in a steady state: everything equal, except that times have moved by
 * the period and counts have grown. A third visit then writes the state of some periods later.
 *
 * Each class with such state has a function Visit(), which calls the functions below for each
 * member. What cannot repeat calls Refuse().
 */
class StateVisitor
{
  public:
    /// Value in place of a limit or a time: none.
    static constexpr uint64_t NONE = std::numeric_limits<uint64_t>::max();

    /** @param now simulated time, ps; the visitor records what it visits */
    explicit StateVisitor(int64_t now = 0);

    /**
     * Begins to record anew.
     * @param now simulated time, ps
     */
    void Restart(int64_t now);

    /**
     * Turns the record into that of some periods later.
     * @param before recorded one period before
     * @param periods at most GetPeriods() of both
     */
    void Advance(const StateVisitor& before, uint64_t periods);

    /**
     * Makes a visitor that writes the state of some periods after `after`.
     * @param before recorded one period before `after`
     * @param after recorded from the present state
     * @param periods at most GetPeriods(before, after)
     */
    StateVisitor(const StateVisitor& before, const StateVisitor& after, uint64_t periods);

    /**
     * @param value must be equal one period later
     */
    void Same(uint64_t value)
    {
        if (!m_before)
        {
            m_items.push_back({value, NONE, Kind::SAME, 0});
        }
        else
        {
            m_next++;
        }
    }

    /**
     * @param time must move by the period; or stay, if it is past already, ps
     * @param timeout how long after it something happens, unless it moves, ps; NONE: nothing
     */
    void Time(int64_t& time, uint64_t timeout = NONE);

    /**
     * @param value must grow by the same number in every period, which may be 0
     * @param end what it must not reach; NONE: it may grow without limit
     */
    void Count(uint64_t& value, uint64_t end = NONE);

    /**
     * @param value a count, or what must stay equal
     * @param isCount whether it is a count
     */
    void CountIf(bool isCount, uint64_t& value)
    {
        isCount ? Count(value) : Same(value);
    }

    /** @param psn a count modulo 2^24 */
    void Psn(uint32_t& psn);

    /** The state cannot repeat. */
    void Refuse()
    {
        m_isRefused = true;
    }

    /** @return simulated time of the visit, ps */
    int64_t GetTime() const
    {
        return m_now;
    }

    /**
     * @param before visit of the state at some time
     * @param after visit of the present state
     * @param likeBefore whether counts must have grown as in the periods before `before`, which
     *        Advance() has made
     * @return how many more periods pass before any count reaches its end; 0 if the state does not
     *         repeat; NONE if nothing ends it
     */
    static uint64_t GetPeriods(const StateVisitor& before,
                               const StateVisitor& after,
                               bool likeBefore = false);

    /**
     * @param before visit of the state at some time
     * @param after visit of the present state, which repeats
     * @return when the first timeout of a time that does not move is over, ps; NONE: never
     */
    static uint64_t GetDeadline(const StateVisitor& before, const StateVisitor& after);

  private:
    enum class Kind : uint8_t
    {
        SAME,
        TIME,
        COUNT,
        PSN
    };

    /** One visited value. */
    struct Item
    {
        uint64_t value;
        uint64_t end; // of a count; or timeout of a time
        Kind kind;
        uint64_t growth{0}; // in a period, after Advance()
    };

    static bool Repeats(const Item& before, const Item& after, uint64_t period, uint64_t start);

    int64_t m_now;
    bool m_isRefused{false};
    std::vector<Item> m_items;
    const StateVisitor* m_before{nullptr}; // not null: writes
    const StateVisitor* m_after{nullptr};
    uint64_t m_periods{0};
    std::size_t m_next{0}; // item to write next
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_STATE_VISITOR_H
