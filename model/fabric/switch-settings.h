/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_SETTINGS_H
#define DISTRIBUTED_TRAINING_SWITCH_SETTINGS_H

#include "pause-watchdog.h"
#include "program-pipeline.h"
#include "red-curve.h"
#include "shared-buffer.h"
#include "switch-flow-control.h"
#include "trim-rule.h"

#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/type-id.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 * What the attributes of a switch set: their names, values and limits. SwitchDevice obeys them.
 */
class SwitchSettings
{
  public:
    /**
     * @param tid the type of a switch
     * @return the type, with the attributes
     */
    static TypeId AddAttributes(TypeId tid);

  protected:
    /** @param ports ports of the switch; must outlive this */
    explicit SwitchSettings(const std::vector<Ptr<FabricPort>>& ports);

    RedCurve m_ecn;                       ///< marks
    RedCurve m_wred;                      ///< early drops
    TrimRule m_trim;                      ///< frames cut to their headers
    bool m_marksLastHop;                  ///< whether frames are marked on links to hosts, too
    bool m_cutThrough;                    ///< cut-through
    Time m_pipelineDelay;                 ///< @see SwitchDevice::GetPipelineDelay()
    Time m_pauseResponse;                 ///< negative: limit of the standard
    SharedBuffer::Configuration m_memory; ///< packet memory
    SharedBuffer::Headroom m_headroom;    ///< headroom for pauses
    PauseWatchdog::Settings m_watchdog;   ///< watchdogs against pause storms
    ProgramPipeline::Capacity m_capacity; ///< resources for programs
    SwitchFlowControl m_flowControl;      ///< flow control, with its attributes

  private:
    void SetFlowControl(std::string name);
    std::string GetFlowControlName() const;
    void SetWatchdogAction(std::string name);
    std::string GetWatchdogAction() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_SETTINGS_H
