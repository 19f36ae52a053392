/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_ENDPOINT_H
#define DISTRIBUTED_TRAINING_SHARP_ENDPOINT_H

#include "sharp-connection.h"
#include "sharp-trees.h"

#include "ns3/block-quantizer.h"
#include "ns3/contribution-check.h"
#include "ns3/in-network-communicator.h"

#include <memory>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Common base of the ranks at aggregation trees, whether ranks or switches request the sums:
 * reliable connections to switches, number formats, equal parts of the tensor per tree, and the
 * checksum of contributions.
 */
class SharpEndpoint : public InNetworkCommunicator, private SharpConnection::Owner
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @return connection parameters set by the attributes */
    virtual SharpConnection::Settings GetSettings() const;

    /** @return number format of the addition */
    NumberFormat GetNumberFormat() const
    {
        return m_dataType;
    }

    /**
     * Call SetGroup() before.
     * @param sums by tree, the same at every rank
     * @param member number of this rank among those whose contributions a sum's check covers
     * @param members how many they are
     */
    void SetSums(std::shared_ptr<const std::vector<SharpSums>> sums,
                 uint32_t member,
                 uint32_t members);

    // InNetworkCommunicator
    std::vector<float> GetSum(const std::vector<std::vector<float>>& inputs) const override;
    double GetLineShare() const override;

    double GetErrorBound() const override
    {
        return m_errorBound;
    }

  protected:
    void DoDispose() override;

    uint16_t GetProtocol() const override
    {
        return SharpHeader::PROTOCOL;
    }

    void Begin(const Tensor& tensor) override;
    void Cancel() override;
    void OnData(Frame* frame) override;
    void OnLateData(Frame* frame) override;

    /**
     * @param bytes size of the current operation's tensor
     * @return time that the host takes before Start(); HostLatency
     */
    virtual Time GetHostTime(uint64_t bytes) const;

    /** Starts the current operation, GetHostTime() after its call. */
    virtual void Start() = 0;

    /**
     * A message has arrived, in order on its connection or as a datagram.
     * @param connection its number
     * @param frame the message
     */
    virtual void OnMessage(uint32_t connection, const Frame& frame) = 0;

    /**
     * @param peer the remote end
     * @return number of the connection, equal to this side's queue pair number
     */
    uint32_t Connect(const SharpConnection::Peer& peer);

    /**
     * @param connection its number
     * @param message to send
     */
    void Send(uint32_t connection, const SharpMessage& message);

    /**
     * @param packet sequence number on a connection, from 0
     * @param window packets in flight, equal to the slots at the switches
     * @return packet number on the wire; its slot is the number modulo the window
     */
    static uint32_t GetNumber(uint64_t packet, uint32_t window);

    /** @return what the trees add */
    const SharpTrees& GetSums() const
    {
        return m_trees;
    }

    /**
     * @param connection its number
     * @param packet number on the connection
     * @param operation bits of SharpOperation
     * @return a message without values, with this rank's checksum
     */
    SharpMessage MakeMessage(uint32_t connection, uint64_t packet, uint8_t operation) const;

    /**
     * @param message receives the numbers
     * @param begin first number of the tensor
     * @param end end of the range, exclusive
     */
    void WriteValues(SharpMessage& message, uint64_t begin, uint64_t end) const;

    /**
     * Copies a message's numbers into the result.
     * @param frame the message
     * @param begin first number of the tensor
     * @param end end of the range, exclusive
     * @param isSum whether the numbers are sums
     */
    void ReadValues(const Frame& frame, uint64_t begin, uint64_t end, bool isSum);

    /**
     * Aborts the run if a sum lacks or repeats a rank's contribution, or overflows.
     * @param header of the sum
     * @param connection its number
     * @param packet number on the connection
     * @return whether the sum is correct
     */
    bool Check(const SharpHeader& header, uint32_t connection, uint64_t packet);

    /** Notes an answer: the network is alive. */
    void NoteAnswer()
    {
        m_latestAnswer = Simulator::Now();
    }

    /** Completes the current operation. */
    void End();

    /** @return whether an operation is in progress */
    bool IsUnderWay() const
    {
        return m_tensor != nullptr;
    }

    /** @return number format of the current operation */
    NumberFormat GetFormat() const
    {
        return m_format;
    }

    /** @return whether this rank contributes numbers to the current operation */
    bool Contributes() const
    {
        return m_contributes;
    }

    /** @return size of the current operation's tensor, numbers */
    uint64_t GetValueCount() const
    {
        return m_values;
    }

  private:
    // SharpConnection::Owner
    void Transmit(Frame* frame) override;
    void OnPacket(const Frame& frame) override;

    void OnResent() override
    {
        CountResent(1);
    }

    void OnDuplicate() override
    {
        CountDuplicate();
    }

    void OnBroken(const SharpConnection& connection) override;

    void SetDataType(std::string type);
    std::string GetDataType() const;
    bool CheckTensor();
    void Watch();

    static uint64_t GetKey(uint32_t connection, uint64_t packet)
    {
        return uint64_t{connection} << 40 ^ packet;
    }

    const Tensor* m_tensor{nullptr};              // of the current operation
    NumberFormat m_format{NumberFormat::FLOAT32}; // number format of the current operation
    bool m_contributes{false};                    // this rank contributes numbers
    uint64_t m_values{0};                         // numbers in the tensor
    NumberFormat m_dataType{NumberFormat::FLOAT32};
    uint32_t m_ackInterval;
    Time m_ackDelay;
    Time m_timeout;
    uint32_t m_retryLimit;
    uint8_t m_priority;
    Time m_hostLatency;
    ContributionCheck m_check;
    SharpTrees m_trees;
    std::vector<std::unique_ptr<SharpConnection>> m_connections;
    std::vector<float> m_result;
    Time m_latestAnswer; // or start of the operation
    EventId m_watch;
    EventId m_start;
    int m_exponent{NO_EXPONENT}; // maximum exponent of any packet's numbers
    double m_errorBound{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_ENDPOINT_H
