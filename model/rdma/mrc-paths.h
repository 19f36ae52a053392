/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MRC_PATHS_H
#define DISTRIBUTED_TRAINING_MRC_PATHS_H

#include "uec-paths.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Paths of a connection in one plane, as Multipath Reliable Connection (MRC) has them (Araujo et
 * al., arXiv 2605.04333, sections 2.1 and 2.4; Sohan et al., arXiv 2606.18170, section II-A). Each
 * entropy value is a path. Those in use take turns, in an order that changes each round. A marked
 * or trimmed packet skips the value's next turn (state SKIP). A lost packet takes the value out
 * (ASSUMED_BAD), and a value in reserve takes its place. Values that were taken out are probed.
 * Some answers in a row bring one back.
 *
 * While all values are taken out, they are used all the same, in turns, as nothing is better.
 */
class MrcPaths : public UecPaths
{
  public:
    /** What it needs to know. */
    struct Settings
    {
        uint32_t bits;    ///< logarithm of the number of values in use, up to 14 without the plane
        uint32_t backups; ///< values in reserve
        uint32_t answers; ///< answered probes in a row that bring a value back
    };

    /**
     * @param settings numbers of values and probes
     * @param random source of random numbers
     * @param plane of the values
     */
    MrcPaths(const Settings& settings, Ptr<UniformRandomVariable> random, const UecPlane& plane);

    uint16_t Next() override;
    void Report(uint16_t entropy, Outcome outcome) override;
    bool HasPath() const override;

    bool HasBadPaths() const override
    {
        return !m_bad.empty();
    }

    void BeginProbes(std::vector<uint16_t>& values) override;
    void ReportProbe(uint16_t entropy) override;

  private:
    static constexpr int16_t NONE = -1;

    /** A value that is used, in reserve or taken out. Its number counts from the first value. */
    struct Path
    {
        int16_t turn{NONE};     ///< its place in a round; NONE: it has none
        bool isBad{false};      ///< whether it is taken out
        bool isAnswered{false}; ///< whether its last probe was
        uint32_t answers{0};    ///< in a row
    };

    uint16_t GetValue(int16_t number) const;
    int16_t FindNumber(uint16_t entropy) const;
    void Place(int16_t number, int16_t turn);

    const uint32_t m_answers;
    uint16_t m_prefix; // of the plane
    uint16_t m_free;   // bits that are not of the plane
    uint16_t m_first;  // value of path 0, without the prefix
    std::vector<Path> m_paths;
    std::vector<int16_t> m_turns; // path by place in a round; NONE: taken out
    std::vector<bool> m_skips;    // by place
    std::deque<int16_t> m_backups;
    std::deque<int16_t> m_bad;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MRC_PATHS_H
