/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * A queue pair that sends at a fixed fraction of the line rate, like a NIC whose rate limiter is
 * set by an operator. No feedback changes the rate.
 */

#include "ns3/double.h"
#include "ns3/rdma-congestion-control.h"

namespace
{

using namespace ns3;
using namespace ns3::training;

/** Sends at a fixed fraction of the line rate. */
class RdmaFixedShare : public RdmaCongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("example::RdmaFixedShare")
                                .SetParent<RdmaCongestionControl>()
                                .SetGroupName("Example")
                                .AddConstructor<RdmaFixedShare>()
                                .AddAttribute("Share",
                                              "Sending rate as a share of the line rate",
                                              DoubleValue(0.5),
                                              InOrder(MakeDoubleAccessor(&RdmaFixedShare::m_share)),
                                              MakeDoubleChecker<double>(0.01, 1));
        return tid;
    }

    void Initialize(const Path& path) override
    {
        m_rate = m_share * path.lineRate;
    }

    double GetRate(int64_t) override
    {
        return m_rate;
    }

  private:
    double m_share;   // attribute
    double m_rate{0}; // bit/s
};

NS_OBJECT_ENSURE_REGISTERED(RdmaFixedShare);

const Registry<CongestionControlEntry>::Entry g_fixedShare("fixed-share",
                                                           {"a fixed share of the line rate",
                                                            &RdmaFixedShare::GetTypeId});

} // namespace
