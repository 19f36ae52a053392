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
 * Line rate, but no more than a window of unacknowledged bytes (as IRN caps it by the
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
    uint64_t m_window; // attribute, then in use; bytes
    double m_rate{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_FIXED_WINDOW_H
