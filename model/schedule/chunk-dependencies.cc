/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule/chunk-dependencies.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

constexpr uint32_t NONE = 0xffffffff;

/// Maximum words of bits per border; above, the borders are sorted.
constexpr uint64_t MAX_WORDS_PER_BORDER = 4;

/** Calls a visitor for the ranges of a run, which may wrap around at the end of its copy. */
template <class F>
void
ForEachRange(ChunkRun run, uint32_t chunks, F visit)
{
    const uint32_t copy = run.first / chunks * chunks;
    const uint32_t begin = run.first - copy;
    const uint32_t count = std::min(run.count, chunks);
    const uint32_t ahead = std::min(count, chunks - begin);
    if (ahead > 0)
    {
        visit(ChunkRun{run.first, ahead});
    }
    if (count > ahead)
    {
        visit(ChunkRun{copy, count - ahead});
    }
}

/** Appends a range, as part of the last one if it follows that. */
void
AppendRange(std::vector<ChunkRun>& ranges, std::size_t begin, ChunkRun range)
{
    if (ranges.size() > begin && ranges.back().first + ranges.back().count == range.first)
    {
        ranges.back().count += range.count;
    }
    else
    {
        ranges.push_back(range);
    }
}

} // namespace

void
ChunkCells::Cut(const std::vector<ChunkRun>& ranges)
{
    m_count = 0;
    m_borders.clear();
    m_bits.clear();
    uint32_t last = 0;
    for (const ChunkRun& range : ranges)
    {
        last = std::max(last, range.first + range.count);
    }
    const uint64_t words = uint64_t{last} / 64 + 1;
    if (words > MAX_WORDS_PER_BORDER * 2 * ranges.size())
    {
        for (const ChunkRun& range : ranges)
        {
            m_borders.push_back(range.first);
            m_borders.push_back(range.first + range.count);
        }
        std::sort(m_borders.begin(), m_borders.end());
        m_borders.erase(std::unique(m_borders.begin(), m_borders.end()), m_borders.end());
        m_count = static_cast<uint32_t>(m_borders.size());
        return;
    }
    m_bits.assign(words, 0);
    for (const ChunkRun& range : ranges)
    {
        for (const uint32_t border : {range.first, range.first + range.count})
        {
            m_bits[border / 64] |= uint64_t{1} << border % 64;
        }
    }
    m_before.clear();
    for (uint64_t word : m_bits)
    {
        m_before.push_back(m_count);
        m_count += static_cast<uint32_t>(__builtin_popcountll(word));
    }
}

uint32_t
ChunkCells::Find(uint32_t chunk) const
{
    if (m_bits.empty())
    {
        const auto above = std::upper_bound(m_borders.begin(), m_borders.end(), chunk);
        return static_cast<uint32_t>(above - m_borders.begin()) - 1;
    }
    const uint64_t below = m_bits[chunk / 64] & (~uint64_t{0} >> (63 - chunk % 64));
    return m_before[chunk / 64] + static_cast<uint32_t>(__builtin_popcountll(below)) - 1;
}

ChunkOrder::ChunkOrder(const std::vector<std::vector<ChunkRun>>& lists,
                       uint32_t chunks,
                       uint32_t copies)
    : m_chunks(chunks)
{
    if (lists.empty())
    {
        return;
    }
    std::vector<ChunkRun> all;
    for (const auto& list : lists)
    {
        for (const ChunkRun& run : list)
        {
            ForEachRange(run, chunks, [&](ChunkRun range) { all.push_back(range); });
        }
    }
    for (uint32_t copy = 0; copy < copies; copy++)
    {
        all.push_back({copy * chunks, chunks});
    }
    m_cells.Cut(all);
    const uint32_t cells = m_cells.GetBorders() - 1;
    m_first.assign(cells + 1, 0);
    for (const ChunkRun& range : all)
    {
        m_first[m_cells.Find(range.first)] = range.first;
        m_first[m_cells.Find(range.first + range.count)] = range.first + range.count;
    }
    for (uint32_t cell = 0; cell < cells; cell++)
    {
        m_length.push_back(m_first[cell + 1] - m_first[cell]);
        m_position.push_back(cell);
        m_at.push_back(cell);
    }
    // Each copy is a class, so that it remains a range.
    m_classOf.resize(cells);
    for (uint32_t copy = 0; copy < copies; copy++)
    {
        const uint32_t begin = m_cells.Find(copy * chunks);
        const uint32_t end = m_cells.Find((copy + 1) * chunks);
        std::fill(m_classOf.begin() + begin, m_classOf.begin() + end, copy);
        m_classes.push_back({begin, end, 0});
    }

    // Long lists first: a list lies within a class unless it overlaps an earlier one in part.
    std::vector<std::vector<uint32_t>> cellsOf(lists.size());
    std::vector<uint32_t> byLength;
    for (uint32_t i = 0; i < lists.size(); i++)
    {
        for (const ChunkRun& run : lists[i])
        {
            ForEachRange(run, chunks, [&](ChunkRun range) {
                const uint32_t end = m_cells.Find(range.first + range.count);
                for (uint32_t cell = m_cells.Find(range.first); cell < end; cell++)
                {
                    cellsOf[i].push_back(cell);
                }
            });
        }
        byLength.push_back(i);
    }
    std::stable_sort(byLength.begin(), byLength.end(), [&](uint32_t a, uint32_t b) {
        return cellsOf[a].size() > cellsOf[b].size();
    });
    for (uint32_t list : byLength)
    {
        Refine(cellsOf[list]);
    }
    m_place.resize(cells);
    uint32_t place = 0;
    for (uint32_t cell : m_at)
    {
        m_place[cell] = place;
        place += m_length[cell];
    }
    for (const auto& list : cellsOf)
    {
        std::vector<uint32_t> positions;
        for (uint32_t cell : list)
        {
            positions.push_back(m_position[cell]);
        }
        std::sort(positions.begin(), positions.end());
        const std::size_t begin = m_ranges.size();
        m_rangeOf.push_back(static_cast<uint32_t>(begin));
        for (uint32_t position : positions)
        {
            const uint32_t cell = m_at[position];
            AppendRange(m_ranges, begin, {m_place[cell], m_length[cell]});
        }
    }
    m_rangeOf.push_back(static_cast<uint32_t>(m_ranges.size()));
    m_position = {};
    m_at = {};
    m_classOf = {};
    m_classes = {};
}

void
ChunkOrder::Refine(const std::vector<uint32_t>& cells)
{
    std::vector<uint32_t> touched;
    for (uint32_t cell : cells)
    {
        Class& mine = m_classes[m_classOf[cell]];
        const uint32_t target = mine.begin + mine.marked;
        if (m_position[cell] < target)
        {
            continue; // named twice
        }
        if (mine.marked++ == 0)
        {
            touched.push_back(m_classOf[cell]);
        }
        const uint32_t other = m_at[target];
        std::swap(m_at[target], m_at[m_position[cell]]);
        m_position[other] = m_position[cell];
        m_position[cell] = target;
    }
    for (uint32_t number : touched)
    {
        const Class whole = m_classes[number];
        m_classes[number].marked = 0;
        if (whole.begin + whole.marked == whole.end)
        {
            continue;
        }
        m_classes[number].begin += whole.marked;
        for (uint32_t i = 0; i < whole.marked; i++)
        {
            m_classOf[m_at[whole.begin + i]] = static_cast<uint32_t>(m_classes.size());
        }
        m_classes.push_back({whole.begin, whole.begin + whole.marked, 0});
    }
}

void
ChunkOrder::AppendList(uint32_t list, std::vector<ChunkRun>& places) const
{
    places.insert(places.end(),
                  m_ranges.begin() + m_rangeOf[list],
                  m_ranges.begin() + m_rangeOf[list + 1]);
}

void
ChunkOrder::AppendRun(ChunkRun run, std::vector<ChunkRun>& places) const
{
    ForEachRange(run, m_chunks, [&](ChunkRun range) {
        if (m_place.empty() || range.count == m_chunks)
        {
            places.push_back(range); // a whole copy keeps its place
            return;
        }
        const std::size_t begin = places.size();
        for (uint32_t cell = m_cells.Find(range.first); range.count > 0; cell++)
        {
            const uint32_t skipped = range.first - m_first[cell];
            const uint32_t count = std::min(range.count, m_length[cell] - skipped);
            AppendRange(places, begin, {m_place[cell] + skipped, count});
            range.first += count;
            range.count -= count;
        }
    });
}

ChunkDependencies::ChunkDependencies(const ChunkOrder& order, uint32_t chunks)
    : m_order(order),
      m_chunks(chunks)
{
}

void
ChunkDependencies::Clear()
{
    m_accesses.clear();
    m_ranges.clear();
}

void
ChunkDependencies::UseList(uint32_t action, uint32_t list, bool write)
{
    m_order.AppendList(list, m_ranges);
    m_accesses.push_back({action, static_cast<uint32_t>(m_ranges.size()), write});
}

void
ChunkDependencies::UseRun(uint32_t action, ChunkRun run, bool write)
{
    m_order.AppendRun(run, m_ranges);
    m_accesses.push_back({action, static_cast<uint32_t>(m_ranges.size()), write});
}

void
ChunkDependencies::Prepare()
{
    m_cells.Cut(m_ranges);
    // A range of cells in place of each range of chunks.
    for (ChunkRun& range : m_ranges)
    {
        const uint32_t cell = m_cells.Find(range.first);
        range = {cell, m_cells.Find(range.first + range.count) - cell};
    }
    m_users.assign(m_cells.GetBorders(), {NONE, NONE});
    m_pool.clear();
    m_next = 0;
}

void
ChunkDependencies::Append(uint32_t action, std::vector<uint32_t>& after)
{
    for (; m_next < m_accesses.size() && m_accesses[m_next].action == action; m_next++)
    {
        const Access& access = m_accesses[m_next];
        for (uint32_t i = m_next == 0 ? 0 : m_accesses[m_next - 1].end; i < access.end; i++)
        {
            const auto [first, count] = m_ranges[i];
            for (uint32_t cell = first; cell < first + count; cell++)
            {
                Users& users = m_users[cell];
                if (users.writer != NONE && users.writer != action)
                {
                    after.push_back(users.writer);
                }
                if (!access.write)
                {
                    m_pool.emplace_back(action, users.readers);
                    users.readers = static_cast<uint32_t>(m_pool.size() - 1);
                    continue;
                }
                for (uint32_t j = users.readers; j != NONE; j = m_pool[j].second)
                {
                    if (m_pool[j].first != action)
                    {
                        after.push_back(m_pool[j].first);
                    }
                }
                users = {action, NONE};
            }
        }
    }
}

} // namespace ns3::training
