/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_LINE_RATE_H
#define DISTRIBUTED_TRAINING_RDMA_LINE_RATE_H

#include "rdma-congestion-control.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 * No congestion control ("none"): always line rate; only priority flow control slows it down.
 */
class RdmaLineRate : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    void Initialize(const Path& path) override;
    double GetRate(int64_t now) override;
    int64_t GetRateEnd() const override;
    Needs GetNeeds() const override;

  private:
    double m_rate{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_LINE_RATE_H
