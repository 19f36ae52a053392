/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_RCCC_H
#define DISTRIBUTED_TRAINING_UEC_RCCC_H

#include "uec-congestion-control.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * Receiver-credit congestion control (RCCC; Ultra Ethernet specification 1.0): a packet needs
 * credit, which the NIC of the receiver grants at its line rate to its senders in turn
 * (UecCreditPacer). The sender itself limits nothing.
 */
class UecRccc : public UecCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    void Initialize(const Path& path) override;
    bool NeedsCredit() const override;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_RCCC_H
