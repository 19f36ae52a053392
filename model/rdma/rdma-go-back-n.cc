/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-loss-recovery.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaGoBackN");

namespace
{

/**
 * Go-back-N as in RoCE NICs: the receiver discards packets ahead of a gap. The sender returns to
 * the first missing packet and resends everything from there.
 */
class GoBackN : public RdmaLossRecovery
{
  public:
    bool OnNak(Window& window, const Nak&) override
    {
        GoBack(window);
        return true;
    }

    void OnTimeout(Window& window) override
    {
        GoBack(window);
    }

    void OnRnrNak(Window& window) override
    {
        GoBack(window);
    }

  private:
    static void GoBack(Window& window)
    {
        NS_LOG_LOGIC("goes back from packet " << window.nextPsn << " to " << window.unackedPsn);
        window.nextPsn = window.unackedPsn;
    }
};

std::unique_ptr<RdmaLossRecovery>
MakeGoBackN(const KeyValues&)
{
    return std::make_unique<GoBackN>();
}

const Registry<LossRecoveryEntry>::Entry g_goBackN(
    "go-back-n",
    {"retransmits everything from the first missing packet on", {}, &MakeGoBackN});

} // namespace

} // namespace ns3::training
