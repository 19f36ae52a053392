/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_SUMS_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_SUMS_H

#include "switch-ps-wire-format.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The sums of gradients in the slots of a parameter server, two versions of each. Gradients are
 * added in the order of the workers, whatever the order of arrival; one that comes early waits.
 */
class SwitchPsSums
{
  public:
    /** A sum, partial or complete: one of the two versions of a slot. */
    struct Sum
    {
        uint64_t check{0};    ///< sum of the contributions' checksums
        uint64_t seen{0};     ///< bit w: worker w has contributed
        uint32_t packet{0};   ///< number of the packet
        uint32_t range{0};    ///< number of the key range
        uint8_t added{0};     ///< contributions added: those of workers 0 to added - 1
        int8_t exponent{0};   ///< maximum exponent of the contributions
        bool used{false};     ///< the version has been used
        bool complete{false}; ///< all workers have contributed
        bool overflow{false}; ///< a contribution exceeded the range of exponents
    };

    /**
     * @param slots number of slots
     * @param elements numbers per packet
     * @param workers most of a job
     * @param verify whether the program ends when an invariant does not hold
     */
    void Configure(uint32_t slots, uint32_t elements, uint32_t workers, bool verify);

    /** @return whether Configure() has been called */
    bool IsConfigured() const
    {
        return !m_sums.empty();
    }

    /** Clears all slots. */
    void Clear();

    /**
     * @param slot its number
     * @return whether it has a sum that is not complete
     */
    bool IsTaken(uint32_t slot) const;

    /**
     * @param header of a gradient
     * @param worker number of its worker
     * @return whether the worker has completed that step
     */
    bool IsStale(const SwitchPsHeader& header, uint32_t worker) const;

    /**
     * @param header of a gradient that is not stale
     * @return its sum, begun now if it is the first
     */
    Sum& Find(const SwitchPsHeader& header);

    /**
     * Adds a gradient and those that have waited for it.
     * @param sum of the gradient
     * @param frame the gradient, new to the sum
     * @param worker number of its worker
     * @param workers of the job
     */
    void Add(Sum& sum, const Frame& frame, uint32_t worker, uint32_t workers);

    /**
     * @param header of a gradient
     * @return the numbers of its sum
     */
    float* GetValues(const SwitchPsHeader& header);

  private:
    /** A gradient that waits for its turn. */
    struct Part
    {
        Ptr<ByteBuffer> payload;
        uint64_t offset{0};
    };

    uint32_t m_elements{0};
    uint32_t m_workers{0};
    bool m_verify{false};
    std::vector<Sum> m_sums;     // by slot and version
    std::vector<float> m_values; // real payload: of each slot and version
    std::vector<Part> m_parts;   // real payload: by slot and worker
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_SUMS_H
