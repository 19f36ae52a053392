/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PATH_CHOICE_H
#define DISTRIBUTED_TRAINING_PATH_CHOICE_H

#include "fabric-frame.h"
#include "fabric-port.h"
#include "forwarding-table.h"

#include "ns3/random-variable-stream.h"
#include "ns3/training-key-values.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * The interface of a switch to its path choice.
 */
class PathContext
{
  public:
    /// Value in place of a port: no port leads to the destination.
    static constexpr uint16_t NONE = std::numeric_limits<uint16_t>::max();

    /**
     * @param ports ports of the switch
     * @param random random variable for random choices
     */
    PathContext(const std::vector<Ptr<FabricPort>>& ports, Ptr<UniformRandomVariable> random)
        : m_ports(ports),
          m_random(random)
    {
    }

    /**
     * @param port port number
     * @return whether its link is up
     */
    bool IsUp(uint16_t port) const
    {
        return !m_ports[port]->IsDown();
    }

    /**
     * @param port port number
     * @param priority traffic class
     * @return whether the peer has paused the class on the port
     */
    bool IsPaused(uint16_t port, uint8_t priority) const
    {
        return m_ports[port]->IsPaused(priority);
    }

    /**
     * @param port port number
     * @param now simulated time, ps
     * @return time at which the port will have sent all frames queued now, ps
     */
    int64_t GetDrainTime(uint16_t port, int64_t now) const
    {
        return m_ports[port]->GetDrainTime(now);
    }

    /** @return hash seed of the switch */
    uint32_t GetHashSeed() const
    {
        return m_hashSeed;
    }

    /**
     * Chooses a port by the flow hash of a frame (ECMP).
     * @param frame frame with its flow hash
     * @param group candidate ports, at least one
     * @return the chosen port
     */
    uint16_t ChooseByHash(const Frame& frame, const ForwardingTable::Ports& group) const
    {
        const std::size_t size = group.size();
        return size == 1 ? group[0]
                         : group[uint64_t{HashFlow(frame.flowHash, m_hashSeed, 0)} * size >> 32];
    }

    /**
     * Chooses by the flow hash of a frame among the ports whose links are up.
     * @param frame frame with its flow hash
     * @param group candidate ports
     * @return the chosen port, or NONE
     */
    uint16_t ChooseAlive(const Frame& frame, const ForwardingTable::Ports& group) const;

    /**
     * Chooses a port at random.
     * @param group candidate ports, at least one
     * @return the chosen port
     */
    uint16_t ChooseAtRandom(const ForwardingTable::Ports& group) const
    {
        return group[m_random->GetInteger(0, static_cast<uint32_t>(group.size()) - 1)];
    }

    /**
     * @param endpoint source or destination endpoint of a frame
     * @return its digit at this switch, see SetOrder()
     */
    uint32_t GetDigit(uint32_t endpoint) const
    {
        return (m_order && endpoint < m_order->size() ? (*m_order)[endpoint] : endpoint) / m_stride;
    }

    /**
     * @param number any number, such as an entropy value
     * @return its digit at this switch, see SetOrder()
     */
    uint32_t GetDigitOf(uint32_t number) const
    {
        return number / m_stride;
    }

    /**
     * @param source endpoint
     * @param destination endpoint
     * @return the port pinned for the pair by Pin(), or NONE
     */
    uint16_t GetPin(uint32_t source, uint32_t destination) const
    {
        const auto pin = m_pins.find(uint64_t{source} << 32 | destination);
        return pin == m_pins.end() ? NONE : pin->second;
    }

    /** @param seed hash seed that decorrelates the choices of different switches */
    void SetHashSeed(uint32_t seed)
    {
        m_hashSeed = seed;
    }

    /**
     * Numbers the endpoints for choices by digit: the digit of an endpoint at this switch is
     * position / stride, modulo the number of candidate ports.
     * @param order position of each endpoint; an endpoint outside `order` has its number as
     *        position
     * @param stride number of endpoints below each switch of the next lower level; 1 at the lowest
     *        level
     */
    void SetOrder(std::shared_ptr<const std::vector<uint32_t>> order, uint32_t stride)
    {
        m_order = std::move(order);
        m_stride = stride;
    }

    /**
     * Pins a pair of endpoints to a port, for path choices that follow explicit paths.
     * @param source endpoint
     * @param destination endpoint
     * @param port number of the egress port
     */
    void Pin(uint32_t source, uint32_t destination, uint16_t port)
    {
        m_pins[uint64_t{source} << 32 | destination] = port;
    }

  private:
    const std::vector<Ptr<FabricPort>>& m_ports;
    Ptr<UniformRandomVariable> m_random;
    uint32_t m_hashSeed{0};
    std::unordered_map<uint64_t, uint16_t> m_pins; // pinned ports by source and destination
    std::shared_ptr<const std::vector<uint32_t>> m_order;
    uint32_t m_stride{1};
};

/**
 * @ingroup distributed-training-fabric
 *
 * A load balancing algorithm: chooses the egress port among the equal-cost ports to a frame's
 * destination. Each algorithm is a subclass in its own file in model/fabric/path, registered by
 * name (Registry<PathChoiceEntry>). The switch itself avoids ports whose links are down.
 */
class PathChoice
{
  public:
    virtual ~PathChoice() = default;

    /**
     * @param frame frame with its addresses
     * @param group equal-cost ports to its destination, at least GetMinPorts()
     * @return the egress port, in the group or not; PathContext::NONE drops the frame
     */
    virtual uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group) = 0;

    /** @return minimum group size for which Choose() is called */
    virtual std::size_t GetMinPorts() const
    {
        return 2;
    }

    /** @return whether the switch takes another port if the link of the chosen one is down */
    virtual bool AvoidsFailures() const
    {
        return true;
    }

    /**
     * @return whether it is equivalent to PathContext::ChooseByHash(), which the switch then calls
     *         directly
     */
    virtual bool IsByHash() const
    {
        return false;
    }

    /** Clears its state, because the switch has restarted. */
    virtual void Clear()
    {
    }
};

/** Description of a path choice algorithm. @ingroup distributed-training-fabric */
struct PathChoiceEntry
{
    static constexpr const char* KIND = "path choice"; ///< for messages
    std::string help;                                  ///< one line
    std::vector<Key> keys;                             ///< its keys
    /// Creates the path choice of a switch; the context must outlive it.
    std::unique_ptr<PathChoice> (*make)(const KeyValues& values, const PathContext& context);
    bool sprays{false};   ///< whether the frames of one flow are spread over all ports
    bool isPinned{false}; ///< whether it follows explicit paths, see PathContext::Pin()
    bool repeats{false};  ///< whether the frames of a flow take the same path whenever they come
    bool isStatic{false}; ///< whether routes stay when a link goes down or returns
};

/**
 * @ingroup distributed-training-fabric
 * @param path NAME or NAME:key=value,...
 * @return description of the path choice of that name
 * @throw ConfigurationError if there is none
 */
inline const PathChoiceEntry&
GetPathChoice(const std::string& path)
{
    return Registry<PathChoiceEntry>::Find(KeyValues::Split(path).GetName());
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PATH_CHOICE_H
