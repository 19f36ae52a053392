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

class StateVisitor;

/**
 * @ingroup distributed-training-fabric
 *
 * The packet memory of a switch, shared by its ports with dynamic thresholds (Choudhury and Hahne,
 * "Dynamic queue length thresholds for shared-memory packet switches", 1998), as in commodity
 * data-center switches.
 *
 * Lossless classes are accounted at the ingress port: first a guaranteed part per port and
 * priority, then the shared pool up to `alpha * free pool`, then headroom for the frames in flight
 * until a pause takes effect. What programs of the switch emit is never dropped in a lossless
 * class. Lossy classes are accounted at the egress port with the same threshold rule; frames above
 * the threshold are dropped.
 */
class SharedBuffer
{
  public:
    /** Sizes (in bytes) and threshold factors of the memory. */
    struct Configuration
    {
        uint64_t size{0};           ///< total memory
        uint64_t guaranteed{0};     ///< guaranteed part per ingress port and lossless priority
        double losslessAlpha{0};    ///< threshold factor of lossless classes
        double lossyAlpha{0};       ///< threshold factor of lossy classes
        uint8_t losslessClasses{0}; ///< bit p: priority p is paused instead of dropped
        uint8_t creditClasses{0};   ///< those lossless classes whose senders need credits
        uint8_t pausedClasses{0};   ///< the others; set by Configure()
        uint32_t cellSize{1};       ///< frames take whole cells of this size
        uint64_t resumeOffset{0};   ///< use must drop this far below the threshold to resume
    };

    /**
     * Rule for the headroom of a lossless priority: the bytes that may still arrive after the
     * decision to pause (802.1Qbb, annex O).
     */
    struct Headroom
    {
        double scale{1};          ///< fraction of the computed headroom to reserve
        uint32_t largestFrame{0}; ///< maximum frame size, bytes

        /**
         * @param port a connected port
         * @param cellSize see Configuration
         * @return headroom for each lossless priority of the port, bytes
         */
        uint64_t GetBytes(const FabricPort& port, uint32_t cellSize) const;
    };

    /**
     * @param bytes of frames and their overhead on the line
     * @param cellSize see Configuration
     * @return memory that such frames take at most, bytes
     */
    static double GetCellBytes(double bytes, uint32_t cellSize);

    /** Flow control action after a change of an ingress queue. */
    enum class Action
    {
        NONE,
        PAUSE,  ///< use has exceeded the threshold
        RESUME, ///< use has dropped far enough below the threshold
        GRANT   ///< the sender needs credits, and may get some
    };

    /**
     * @param configuration sizes and factors
     * @param headroom headroom by port, for each of its lossless priorities, bytes
     * @throw ConfigurationError if guarantees and headroom leave no memory to share
     */
    void Configure(const Configuration& configuration, std::vector<uint64_t> headroom);

    /**
     * @param configuration sizes and factors
     * @param headroom headroom by port, for each of its lossless priorities, bytes
     * @return memory reserved for guarantees and headroom, bytes
     * @throw ConfigurationError if it exceeds the maximum memory size
     */
    static uint64_t GetReserved(const Configuration& configuration,
                                const std::vector<uint64_t>& headroom);

    /**
     * @param frame frame to enqueue; `ingress` and `ingressPriority` are set
     * @param egressBytes bytes in its egress queue
     * @return whether the frame is admitted; if so, its space is allocated
     */
    bool Admit(const Frame& frame, uint64_t egressBytes);

    /**
     * Frees the space of a frame.
     * @param frame frame that leaves the memory, or that was not admitted if it is a copy; it is no
     *        copy afterwards
     */
    void Release(Frame& frame);

    /**
     * Begins a multicast: its copies take the space of one frame, from the first copy that waits to
     * the last one that leaves.
     * @return the multicast, for Join(); Leave() ends the joining
     */
    uint64_t BeginMulticast();

    /**
     * @param frame frame that becomes a copy, until Release()
     * @param multicast begun and not ended
     */
    void Join(Frame& frame, uint64_t multicast);

    /**
     * @param multicast of a copy
     * @return whether it is not from before a restart
     */
    bool IsCurrent(uint64_t multicast) const
    {
        return m_multicasts[static_cast<uint32_t>(multicast)].generation == multicast >> 32;
    }

    /**
     * A copy leaves its multicast, or no further copy will join it.
     * @param multicast the multicast; not valid any more if nobody is left
     */
    void Leave(uint64_t multicast);

    /**
     * @return longest queue that must be ECN-marked, in an otherwise empty memory, bytes: with a
     *         longer one a lossless class pauses two senders, and a lossy one is half way to drops
     */
    double GetQueueLimit() const;

    /**
     * @param port ingress port
     * @param priority traffic class
     * @return whether to pause or resume the sender at that port now, which is recorded, or to
     *         grant it credits
     */
    Action Decide(uint16_t port, uint8_t priority);

    /**
     * @param priority traffic class
     * @return whether the class is paused, or granted credits, and not dropped
     */
    bool IsLossless(uint8_t priority) const
    {
        return m_configuration.losslessClasses >> priority & 1;
    }

    /**
     * @param port ingress port
     * @param priority traffic class
     * @return whether Decide() has paused the priority and not resumed it
     */
    bool IsPausing(uint16_t port, uint8_t priority) const
    {
        return m_ingress[port * PRIORITIES + priority].pausing;
    }

    /**
     * Prefetches the entry that Admit(), Release() and Decide() need.
     * @param port ingress port
     * @param priority traffic class
     */
    void Prefetch(uint16_t port, uint8_t priority) const
    {
        __builtin_prefetch(m_ingress.data() + port * PRIORITIES + priority, 1);
    }

    /**
     * @param alpha threshold factor
     * @return bytes of the shared pool that one queue may currently use
     */
    uint64_t GetThreshold(double alpha) const;

    /**
     * @param port ingress port
     * @param priority a lossless class
     * @return bytes in use of what came by this port in this class
     */
    uint64_t GetHeld(uint16_t port, uint8_t priority) const
    {
        return m_ingress[port * PRIORITIES + priority].total;
    }

    /** @param visitor visits what is in use */
    void Visit(StateVisitor& visitor) const;

    /**
     * @param visitor visits what frames from a port occupy
     * @param port its number
     */
    void VisitPort(StateVisitor& visitor, uint16_t port) const;

    /**
     * @param users number of parts of the network that use the memory at a time, each as much
     * @param hasLossy whether frames of lossy classes came
     * @return whether it has had space for them, so that none would be paused or dropped. What
     *         comes for credits has its own
     */
    bool HasSpaceFor(uint64_t users, bool hasLossy) const;

    /** @return bytes in use */
    uint64_t GetUsed() const
    {
        return m_used;
    }

    /** @return peak bytes in use */
    uint64_t GetPeak() const
    {
        return m_peak;
    }

  private:
    /** Account of one ingress port and priority. */
    struct Ingress
    {
        uint64_t total{0};    ///< bytes in use
        uint64_t headroom{0}; ///< of these, bytes in headroom
        bool pausing{false};
    };

    /** A multicast whose copies share space. */
    struct Multicast
    {
        uint32_t users{0};     ///< copies that have not left, and one until the end of joining
        uint32_t generation{}; ///< of the use of this entry
        uint32_t bytes{0};     ///< space allocated for all copies; 0: none yet
        uint16_t ingress{0};   ///< port that it is charged to
        uint8_t priority{0};   ///< class that it is charged to
    };

    bool AdmitCopy(const Frame& frame, uint64_t egressBytes);
    bool Charge(const Frame& frame, uint64_t egressBytes);
    void Discharge(uint64_t bytes, uint16_t port, uint8_t priority);
    Multicast* Find(uint64_t multicast);

    uint64_t SharedUse(const Ingress& ingress) const;

    uint64_t InCells(uint64_t bytes) const
    {
        const uint64_t cell = m_configuration.cellSize;
        return cell == 1 ? bytes : (bytes + cell - 1) / cell * cell;
    }

    Configuration m_configuration;
    std::vector<uint64_t> m_headroom;
    std::vector<Ingress> m_ingress;
    std::vector<Multicast> m_multicasts;
    std::vector<uint32_t> m_freeMulticasts; // indices of unused entries
    uint64_t m_poolSize{0};
    uint64_t m_poolUsed{0};
    uint64_t m_used{0};
    uint64_t m_peak{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_BUFFER_H
