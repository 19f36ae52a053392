/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_FIXED_WINDOW_H
#define DISTRIBUTED_TRAINING_RDMA_FIXED_WINDOW_H

#include "rdma-congestion-control.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 * Line rate, limited by a fixed window of unacknowledged bytes (IRN limits it to the
 * bandwidth-delay product: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018).
 */
class RdmaFixedWindow : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    Needs GetNeeds() const override;
    void Initialize(const Path& path) override;
    double GetRate(int64_t now) override;
    uint64_t GetWindow() const override;

  private:
    uint64_t m_window; // the attribute at first, later the effective window; bytes
    double m_rate{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_FIXED_WINDOW_H
