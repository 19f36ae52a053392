/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_BUFFER_H
#define DISTRIBUTED_TRAINING_SHARED_BUFFER_H

#include "fabric-port.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The packet memory of a switch, shared by its ports under dynamic thresholds (Choudhury and Hahne,
 * "Dynamic queue length thresholds for shared-memory packet switches", 1998), as in commodity
 * data-center switches.
 *
 * A lossless class is counted where its frames come in: a guaranteed part per port and priority,
 * then the shared pool up to `alpha * free pool`, then headroom for the
 * frames in flight while a pause takes effect. A lossy class is counted where its frames go out, by
 * the same threshold rule, and is dropped above it.
 */
class SharedBuffer
{
  public:
    /** Sizes, in bytes, and factors of the memory. */
    struct Configuration
    {
        uint64_t size{0};           ///< whole memory
        uint64_t guaranteed{0};     ///< own part of each ingress port and lossless priority
        double losslessAlpha{0};    ///< threshold factor of lossless classes
        double lossyAlpha{0};       ///< threshold factor of lossy classes
        uint8_t losslessClasses{0}; ///< bit p: priority p is never dropped but paused
        uint64_t resumeOffset{0};   ///< a resume is sent when use is this far below the threshold
    };

    /**
     * Rule for the headroom of a lossless priority: the bytes that may arrive after the decision to
     * pause (802.1Qbb, annex O).
     */
    struct Headroom
    {
        double scale{1};          ///< part of it that is reserved
        uint32_t largestFrame{0}; ///< bytes
        Time pauseResponse;       ///< longest time that a sender takes to obey a pause

        /**
         * @param port connected
         * @return headroom for each lossless priority of the port, bytes
         */
        uint64_t GetBytes(const FabricPort& port) const;
    };

    /** Reaction to a change of an ingress queue. */
    enum class Action
    {
        NONE,
        PAUSE, ///< use has crossed the threshold
        RESUME ///< use has fallen below it
    };

    /**
     * @param configuration sizes and factors
     * @param headroom bytes of each port, for each of its lossless priorities
     * @throw ConfigurationError if guarantees and headroom do not leave any memory to share
     */
    void Configure(const Configuration& configuration, std::vector<uint64_t> headroom);

    /**
     * @param configuration sizes and factors
     * @param headroom bytes of each port, for each of its lossless priorities
     * @return memory that guarantees and headroom take, bytes
     * @throw ConfigurationError if it exceeds the largest memory
     */
    static uint64_t GetReserved(const Configuration& configuration,
                                const std::vector<uint64_t>& headroom);

    /**
     * @param frame about to be queued; `ingress` and `ingressPriority` are set
     * @param egressBytes that wait in the queue it would join
     * @return whether there is space; if so, the frame takes it
     */
    bool Admit(const Frame& frame, uint64_t egressBytes);

    /**
     * Frees the space of a frame.
     * @param frame that leaves the memory
     */
    void Release(const Frame& frame);

    /**
     * @param port ingress port
     * @param priority traffic class
     * @return whether to pause or resume the sender at that port now; remembered
     */
    Action Decide(uint16_t port, uint8_t priority);

    /**
     * @param port ingress port
     * @param priority traffic class
     * @return whether Decide() has paused it and not resumed
     */
    bool IsPausing(uint16_t port, uint8_t priority) const
    {
        return m_ingress[port * PRIORITIES + priority].pausing;
    }

    /**
     * Brings into the cache the entry that Admit(), Release() and Decide() need.
     * @param port ingress port
     * @param priority traffic class
     */
    void Prefetch(uint16_t port, uint8_t priority) const
    {
        __builtin_prefetch(m_ingress.data() + port * PRIORITIES + priority, 1);
    }

    /**
     * @param alpha threshold factor
     * @return bytes of the shared pool that one queue may use now
     */
    uint64_t GetThreshold(double alpha) const;

    /** @return bytes in use */
    uint64_t GetUsed() const
    {
        return m_used;
    }

    /** @return most bytes ever in use */
    uint64_t GetPeak() const
    {
        return m_peak;
    }

  private:
    /** One port and priority. */
    struct Ingress
    {
        uint64_t total{0};    ///< bytes held
        uint64_t headroom{0}; ///< of these, in headroom
        bool pausing{false};
    };

    bool IsLossless(uint8_t priority) const
    {
        return m_configuration.losslessClasses >> priority & 1;
    }

    uint64_t SharedUse(const Ingress& ingress) const;

    Configuration m_configuration;
    std::vector<uint64_t> m_headroom;
    std::vector<Ingress> m_ingress;
    uint64_t m_poolSize{0};
    uint64_t m_poolUsed{0};
    uint64_t m_used{0};
    uint64_t m_peak{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_BUFFER_H
