/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/tcp-bbr.h"

#include "ns3/simulator.h"
#include "ns3/tcp-socket-state.h"

#include <algorithm>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * BBR of ns-3 with samples of the delivery rate as Linux takes them (Cheng et al.,
 * draft-cheng-iccrg-delivery-rate-estimation-02, section 3.3). ns-3 up to 3.40 counts the time of a
 * sample from the segment before. With delayed acknowledgements, each sample is then too low by a
 * part of the window, and BBR, which sends at the highest of ten round trips, comes to a stop. It
 * also repeats the last rate when a sample is invalid.
 */
class TcpBbr : public ns3::TcpBbr
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    void CongControl(Ptr<TcpSocketState> socket,
                     const TcpRateOps::TcpRateConnection& connection,
                     const TcpRateOps::TcpRateSample& given) override;
    Ptr<TcpCongestionOps> Fork() override;
};

NS_OBJECT_ENSURE_REGISTERED(TcpBbr);

TypeId
TcpBbr::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::TcpBbr")
                            .SetParent<ns3::TcpBbr>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<TcpBbr>();
    return tid;
}

void
TcpBbr::CongControl(Ptr<TcpSocketState> socket,
                    const TcpRateOps::TcpRateConnection& connection,
                    const TcpRateOps::TcpRateSample& given)
{
    TcpRateOps::TcpRateSample sample = given;
    sample.m_deliveryRate = DataRate(0); // none
    if (given.m_priorTime.IsStrictlyPositive())
    {
        sample.m_ackElapsed = Simulator::Now() - given.m_priorTime;
        sample.m_interval = std::max(given.m_sendElapsed, sample.m_ackElapsed);
        // The earlier count has 32 bits.
        const uint32_t bytes =
            static_cast<uint32_t>(connection.m_delivered) - given.m_priorDelivered;
        sample.m_delivered = static_cast<int32_t>(bytes);
        sample.m_deliveryRate =
            DataRate(static_cast<uint64_t>(8 * bytes / sample.m_interval.GetSeconds()));
    }
    ns3::TcpBbr::CongControl(socket, connection, sample);
}

Ptr<TcpCongestionOps>
TcpBbr::Fork()
{
    return CopyObject<TcpBbr>(this);
}

} // namespace ns3::training
