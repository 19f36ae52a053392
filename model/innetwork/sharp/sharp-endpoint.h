/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_ENDPOINT_H
#define DISTRIBUTED_TRAINING_SHARP_ENDPOINT_H

#include "sharp-connection.h"

#include "ns3/block-quantizer.h"
#include "ns3/contribution-check.h"
#include "ns3/in-network-communicator.h"
#include "ns3/number-format.h"

#include <memory>
#include <utility>
#include <vector>

namespace ns3::training
{

/** Who adds whose numbers in which order, at one switch of a tree. */
struct SharpSum
{
    /** An addend, in the order of addition. */
    struct Child
    {
        bool isRank;    ///< a rank's numbers, or the sum of another switch
        uint32_t index; ///< which rank, or which element of the tree
    };

    std::vector<Child> children; ///< what it adds
};

/// Switches of a tree, the root first.
using SharpSums = std::vector<SharpSum>;

/**
 * @ingroup distributed-training-innetwork
 *
 * What ranks at aggregation trees have in common, whoever asks for sums: reliable connections to
 * switches, numbers of a format, in equal parts for each tree, and the proof of what is in a sum.
 */
class SharpEndpoint : public InNetworkCommunicator, private SharpConnection::Owner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @return how its connections behave, by the attributes */
    SharpConnection::Settings GetSettings() const;

    /** @return what numbers are added as */
    NumberFormat GetNumberFormat() const;

    /** @param sums by tree, the same for all ranks; SetGroup() comes first */
    void SetSums(std::shared_ptr<const std::vector<SharpSums>> sums);

    // InNetworkCommunicator
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;
    double GetErrorBound() const override;

  protected:
    void DoDispose() override;
    uint16_t GetProtocol() const override;
    void Begin(const Tensor& tensor) override;
    void Cancel() override;
    void OnData(Frame* frame) override;
    void OnLateData(Frame* frame) override;

    /** Begins the operation under way, HostLatency after its call. */
    virtual void Start() = 0;

    /**
     * A message has come, in the order of its connection or as a datagram.
     * @param connection number of it
     * @param frame the message
     */
    virtual void OnMessage(uint32_t connection, const Frame& frame) = 0;

    /**
     * @param peer the other end
     * @return number of the connection, which is that of this end's queue pair
     */
    uint32_t Connect(const SharpConnection::Peer& peer);

    /**
     * @param connection number of it
     * @param message to be sent
     */
    void Send(uint32_t connection, const SharpMessage& message);

    /**
     * @param packet of a connection, from 0
     * @param window packets in flight, which is places at the switches
     * @return its number as packets carry it: its place is that modulo the window
     */
    static uint32_t GetNumber(uint64_t packet, uint32_t window);

    /** @return trees */
    uint32_t GetTreeCount() const;

    /**
     * @param tree one of them
     * @param values of a tensor
     * @return the first of those that the tree adds, and the one behind the last
     */
    std::pair<uint64_t, uint64_t> GetPart(uint32_t tree, uint64_t values) const;

    /**
     * @param connection its number
     * @param packet number on it
     * @param operation bits of SharpOperation
     * @return a message without values, with this rank's proof
     */
    SharpMessage MakeMessage(uint32_t connection, uint64_t packet, uint8_t operation) const;

    /**
     * @param message to put numbers into
     * @param begin first number of the tensor
     * @param end behind the last one
     */
    void WriteValues(SharpMessage& message, uint64_t begin, uint64_t end) const;

    /**
     * Puts a message's numbers into the result.
     * @param frame the message
     * @param begin first number of the tensor
     * @param end behind the last one
     * @param isSum whether they have been added
     */
    void ReadValues(const Frame& frame, uint64_t begin, uint64_t end, bool isSum);

    /**
     * Ends the run if a sum has not got each rank's part once, or has left the range.
     * @param header of the sum
     * @param connection its number
     * @param packet number on it
     * @return whether it is right
     */
    bool Check(const SharpHeader& header, uint32_t connection, uint64_t packet);

    /** An answer has come: the network is there. */
    void NoteAnswer();

    /** The operation under way has its result. */
    void End();

    /** @return whether an operation is under way */
    bool IsUnderWay() const;

    /** @return what the numbers of the operation under way travel as */
    NumberFormat GetFormat() const;

    /** @return whether this rank has numbers for the operation under way */
    bool Contributes() const;

    /** @return numbers in the tensor of the operation under way */
    uint64_t GetValueCount() const;

  private:
    // SharpConnection::Owner
    void Transmit(Frame* frame) override;
    void OnResent(uint64_t packets) override;
    void OnDuplicate() override;
    void OnBroken(const SharpConnection& connection) override;

    void SetDataType(std::string type);
    std::string GetDataType() const;
    bool CheckTensor();
    void Watch();
    static uint64_t GetKey(uint32_t connection, uint64_t packet);

    const Tensor* m_tensor{nullptr};              // of the operation under way
    NumberFormat m_format{NumberFormat::FLOAT32}; // of its numbers
    bool m_contributes{false};                    // this rank has numbers for it
    uint64_t m_values{0};                         // numbers in the tensor
    NumberFormat m_dataType{NumberFormat::FLOAT32};
    uint32_t m_ackInterval;
    Time m_ackDelay;
    Time m_timeout;
    uint32_t m_retryLimit;
    uint8_t m_priority;
    Time m_hostLatency;
    ContributionCheck m_check;
    std::shared_ptr<const std::vector<SharpSums>> m_sums;
    std::vector<std::unique_ptr<SharpConnection>> m_connections;
    std::vector<float> m_result;
    Time m_latestAnswer; // or start
    EventId m_watch;
    EventId m_start;
    int m_exponent{NO_EXPONENT}; // largest of any packet's numbers
    double m_errorBound{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_ENDPOINT_H
