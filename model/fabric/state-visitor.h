/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STATE_VISITOR_H
#define DISTRIBUTED_TRAINING_STATE_VISITOR_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
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

    /**
     * For an assertion in each Visit(): a new member makes the object larger, and whoever adds it
     * decides whether it is visited.
     * @param size of the members, bytes
     * @param expected the same with libstdc++ and 64 bits; true elsewhere
     * @return whether both are equal
     */
    static constexpr bool IsSize(std::size_t size, std::size_t expected)
    {
        constexpr bool IS_KNOWN = sizeof(void*) == 8 && sizeof(std::string) == 32;
        return size == expected || !IS_KNOWN;
    }

    /// Hears of each visited value, with its line of source; false: the value is left out.
    using Probe = std::function<bool(const char* file, int line)>;

    /** @param probe hears of all visits from now on; null: none. It must outlive its use. */
    static void SetProbe(const Probe* probe)
    {
        g_probe = probe;
    }

    /** @param now simulated time, ps; the visitor records what it visits */
    explicit StateVisitor(int64_t now = 0);

    /** What is idle is visited, too, so that states can be compared in which another part is. */
    void VisitIdle()
    {
        m_visitsIdle = true;
    }

    /**
     * @param isIdle whether a part of the network is at rest
     * @return whether few of its values are to be visited
     */
    bool PassesOver(bool isIdle) const
    {
        return isIdle && !m_visitsIdle;
    }

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
     * @param file of the caller, as in all functions below
     * @param line of the caller
     */
    void Same(uint64_t value, const char* file = __builtin_FILE(), int line = __builtin_LINE())
    {
        if (IsLeftOut(file, line))
        {
            return;
        }
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
     * @param values must be equal one period later
     * @param file of the caller
     * @param line of the caller
     */
    void Same(std::initializer_list<uint64_t> values,
              const char* file = __builtin_FILE(),
              int line = __builtin_LINE())
    {
        for (uint64_t value : values)
        {
            Same(value, file, line);
        }
    }

    /**
     * @param time must move by the period; or stay, if it is past already, ps
     * @param timeout how long after it something happens, unless it moves, ps; NONE: nothing
     * @param file of the caller
     * @param line of the caller
     */
    void Time(int64_t& time,
              uint64_t timeout = NONE,
              const char* file = __builtin_FILE(),
              int line = __builtin_LINE());

    /**
     * @param value must grow by the same number in every period, which may be 0
     * @param end what it must not reach; NONE: it may grow without limit
     * @param file of the caller
     * @param line of the caller
     */
    void Count(uint64_t& value,
               uint64_t end = NONE,
               const char* file = __builtin_FILE(),
               int line = __builtin_LINE());

    /**
     * @param value a count, or what must stay equal
     * @param isCount whether it is a count
     * @param file of the caller
     * @param line of the caller
     */
    void CountIf(bool isCount,
                 uint64_t& value,
                 const char* file = __builtin_FILE(),
                 int line = __builtin_LINE())
    {
        isCount ? Count(value, NONE, file, line) : Same(value, file, line);
    }

    /**
     * @param psn a count modulo 2^24
     * @param file of the caller
     * @param line of the caller
     */
    void Psn(uint32_t& psn, const char* file = __builtin_FILE(), int line = __builtin_LINE());

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

    /**
     * @param predicted a record that Advance() has made
     * @param simulated a record of the same time
     * @return number of the first visited value that differs; none: all are equal
     */
    static std::optional<std::size_t> FindDifference(const StateVisitor& predicted,
                                                     const StateVisitor& simulated);

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

    static bool IsLeftOut(const char* file, int line)
    {
        return g_probe && !(*g_probe)(file, line);
    }

    static bool Repeats(const Item& before, const Item& after, uint64_t period, uint64_t start);

    inline static const Probe* g_probe = nullptr;

    int64_t m_now;
    bool m_isRefused{false};
    bool m_visitsIdle{false};
    std::vector<Item> m_items;
    const StateVisitor* m_before{nullptr}; // not null: writes
    const StateVisitor* m_after{nullptr};
    uint64_t m_periods{0};
    std::size_t m_next{0}; // item to write next
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_STATE_VISITOR_H
