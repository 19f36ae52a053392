/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PATH_CHOOSER_H
#define DISTRIBUTED_TRAINING_PATH_CHOOSER_H

#include "fabric-frame.h"
#include "fabric-port.h"
#include "forwarding-table.h"

#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

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
 *
 * How a switch chooses the port of a frame among those that lead equally well to its destination:
 * by the hash of its flow (ECMP), at random whenever a flow has paused (LetFlow, NSDI 2017), in
 * turn, by the place of an endpoint, or as explicit paths say.
 */
class PathChooser
{
  public:
    /// Instead of a port: none leads to the destination.
    static constexpr uint16_t NONE = std::numeric_limits<uint16_t>::max();

    /**
     * @param ports those of the switch
     * @param random where flowlets go
     */
    PathChooser(const std::vector<Ptr<FabricPort>>& ports, Ptr<UniformRandomVariable> random);

    /**
     * @param name ecmp, flowlet, spray, source-mod, destination-mod or schedule
     * @throw ConfigurationError if there is no such way
     */
    void SetPath(const std::string& name);

    /** @return its name */
    std::string GetPath() const;

    /** @param gap pause of a flow after which its next frame may take another port */
    void SetFlowletGap(Time gap);

    /** @return that pause */
    Time GetFlowletGap() const;

    /** @param seed makes the hashes of this switch unlike those of others */
    void SetHashSeed(uint32_t seed);

    /**
     * Says how endpoints are counted by source-mod and destination-mod: an endpoint's digit here is
     * its place / stride, modulo the number of ports to choose from.
     * @param order place of each endpoint; who is not in it has its number for a place
     * @param stride endpoints below each switch of the level below this one; 1 at the lowest level
     */
    void SetOrder(std::shared_ptr<const std::vector<uint32_t>> order, uint32_t stride);

    /**
     * Sends frames of a pair of endpoints by a port of choice, if the way is schedule and it is up.
     * @param source endpoint
     * @param destination endpoint
     * @param port number of the egress port
     */
    void Pin(uint32_t source, uint32_t destination, uint16_t port);

    /** Forgets flowlets. */
    void Clear();

    /**
     * @param frame with its addresses
     * @param group ports that lead to its destination
     * @return the port it is to take, or NONE
     */
    uint16_t Choose(const Frame& frame, const ForwardingTable::Ports& group)
    {
        if (m_path != Path::ECMP)
        {
            return ChooseOtherwise(frame, group);
        }
        return group.empty() ? NONE : AvoidDead(ChooseByHash(frame, group), frame, group);
    }

    /**
     * @param frame with its addresses
     * @param group ports that lead to its destination
     * @return the port it will take if that is known beforehand and the port is up, or NONE
     */
    uint16_t Foresee(const Frame& frame, const ForwardingTable::Ports& group) const
    {
        return m_path == Path::ECMP && !group.empty() ? ChooseByHash(frame, group) : NONE;
    }

  private:
    /** How a port is chosen. */
    enum class Path : uint8_t
    {
        ECMP,            ///< by hash of the flow
        FLOWLET,         ///< at random for each flowlet
        SPRAY,           ///< in turn, frame by frame
        SOURCE_MOD,      ///< by the place of the source
        DESTINATION_MOD, ///< by the place of the destination
        SCHEDULE         ///< by explicit paths; by hash if there is none
    };

    /** Where the latest frames of a flow went. */
    struct Flowlet
    {
        int64_t latest; ///< time of the latest, ps
        uint16_t port;  ///< number of the port
    };

    uint16_t ChooseByHash(const Frame& frame, const ForwardingTable::Ports& group) const
    {
        const std::size_t size = group.size();
        return size == 1 ? group[0]
                         : group[uint64_t{HashFlow(frame.flowHash, m_hashSeed, 0)} * size >> 32];
    }

    uint16_t AvoidDead(uint16_t choice,
                       const Frame& frame,
                       const ForwardingTable::Ports& group) const
    {
        return m_ports[choice]->IsDown() ? ChooseAlive(frame, group) : choice;
    }

    uint16_t ChooseOtherwise(const Frame& frame, const ForwardingTable::Ports& group);
    uint16_t ChooseByFlowlet(const Frame& frame, const ForwardingTable::Ports& group);
    uint16_t ChooseAlive(const Frame& frame, const ForwardingTable::Ports& group) const;
    uint32_t GetDigit(uint32_t endpoint) const;

    const std::vector<Ptr<FabricPort>>& m_ports;
    Ptr<UniformRandomVariable> m_random;
    Path m_path{Path::ECMP};
    uint32_t m_hashSeed{0};
    uint32_t m_sprayed{0};
    Time m_flowletGap;
    std::unordered_map<uint32_t, Flowlet> m_flowlets; // by flow hash
    std::unordered_map<uint64_t, uint16_t> m_pins;    // ports by source and destination
    std::shared_ptr<const std::vector<uint32_t>> m_order;
    uint32_t m_stride{1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PATH_CHOOSER_H
