/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-settings.h"

#include "core/field-accessor.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3::training
{

SwitchSettings::SwitchSettings(const std::vector<Ptr<FabricPort>>& ports)
    : m_flowControl(m_memory, m_headroom, m_watchdog, ports)
{
}

TypeId
SwitchSettings::AddAttributes(TypeId tid)
{
    return tid
        .AddAttribute("BufferSize",
                      "Packet memory shared by all ports, bytes; 0: 32 MiB, or twice the "
                      "guarantees and headroom if that is more",
                      UintegerValue(0),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_memory,
                                                       &SharedBuffer::Configuration::size),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("Guaranteed",
                      "Guaranteed memory per ingress port and lossless priority, bytes",
                      UintegerValue(4096),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_memory,
                                                       &SharedBuffer::Configuration::guaranteed),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute(
            "ResumeOffset",
            "A paused sender is resumed when its buffer use is this far below the threshold, "
            "bytes: two of the largest frames, or it is paused again by the next one",
            UintegerValue(18432),
            MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_memory,
                                             &SharedBuffer::Configuration::resumeOffset),
            MakeUintegerChecker<uint64_t>())
        .AddAttribute("LargestFrame",
                      "Maximum frame size assumed for the PFC headroom, bytes",
                      UintegerValue(9216),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_headroom,
                                                       &SharedBuffer::Headroom::largestFrame),
                      MakeUintegerChecker<uint32_t>(64))
        .AddAttribute("HeadroomScale",
                      "Fraction of the 802.1Qbb PFC headroom to reserve; below 1, lossless "
                      "frames may be dropped under overload",
                      DoubleValue(1),
                      MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_headroom,
                                                     &SharedBuffer::Headroom::scale),
                      MakeDoubleChecker<double>(0))
        .AddAttribute(
            "LosslessAlpha",
            "Dynamic threshold alpha of lossless classes: the threshold is alpha times the "
            "free pool",
            DoubleValue(0.125),
            MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_memory,
                                           &SharedBuffer::Configuration::losslessAlpha),
            MakeDoubleChecker<double>(0))
        .AddAttribute("LossyAlpha",
                      "Dynamic threshold alpha of lossy classes: the threshold is alpha times "
                      "the free pool",
                      DoubleValue(1),
                      MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_memory,
                                                     &SharedBuffer::Configuration::lossyAlpha),
                      MakeDoubleChecker<double>(0))
        .AddAttribute(
            "LosslessClasses",
            "Bit p set: priority p is lossless (802.1Qbb)",
            UintegerValue(1 << 3),
            MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_memory,
                                             &SharedBuffer::Configuration::losslessClasses),
            MakeUintegerChecker<uint8_t>())
        .AddAttribute(
            "EcnKminPerGbps",
            "Kmin: queue length above which frames are ECN-marked with rising probability, "
            "bytes per Gbit/s of the port (HPCC's simulator: 100 KB at 25 Gbit/s)",
            DoubleValue(4000),
            MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_ecn, &RedCurve::kminPerGbps),
            MakeDoubleChecker<double>(0))
        .AddAttribute(
            "EcnKmaxPerGbps",
            "Kmax: queue length above which every frame is ECN-marked, bytes per Gbit/s of the "
            "port (HPCC's simulator: 400 KB at 25 Gbit/s)",
            DoubleValue(16000),
            MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_ecn, &RedCurve::kmaxPerGbps),
            MakeDoubleChecker<double>(0))
        .AddAttribute("EcnPmax",
                      "Marking probability at Kmax",
                      DoubleValue(0.2),
                      MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_ecn, &RedCurve::pmax),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("EcnLastHop",
                      "Whether frames are ECN-marked on links to hosts too",
                      BooleanValue(true),
                      InOrder(MakeBooleanAccessor(&SwitchSettings::m_marksLastHop)),
                      MakeBooleanChecker())
        .AddAttribute(
            "TrimClasses",
            "Bit p set: a frame of priority p, a lossy one, that finds its queue full is cut "
            "to its header (packet trimming); other protocols than Ultra Ethernet drop it",
            UintegerValue(0),
            MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_trim, &TrimRule::classes),
            MakeUintegerChecker<uint8_t>())
        .AddAttribute(
            "TrimPerGbps",
            "Queue length up to which frames of TrimClasses stay whole, bytes per Gbit/s of "
            "the port (htsim: a bandwidth-delay product, here of 12 us)",
            DoubleValue(1500),
            MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_trim, &TrimRule::perGbps),
            MakeDoubleChecker<double>(0))
        .AddAttribute(
            "TrimmedPriority",
            "Traffic class of frames that were cut to their headers; a strict one",
            UintegerValue(6),
            MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_trim, &TrimRule::priority),
            MakeUintegerChecker<uint8_t>(0, PRIORITIES - 1))
        .AddAttribute(
            "WredKminPerGbps",
            "Queue length of a lossy class above which frames that are not ECN-capable are "
            "dropped with rising probability, bytes per Gbit/s of the port",
            DoubleValue(4000),
            MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_wred, &RedCurve::kminPerGbps),
            MakeDoubleChecker<double>(0))
        .AddAttribute(
            "WredKmaxPerGbps",
            "Queue length of a lossy class above which every such frame is dropped, unless "
            "WredPmax is 0, bytes per Gbit/s of the port",
            DoubleValue(16000),
            MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_wred, &RedCurve::kmaxPerGbps),
            MakeDoubleChecker<double>(0))
        .AddAttribute("WredPmax",
                      "Drop probability at WredKmaxPerGbps; 0: no early drops",
                      DoubleValue(0),
                      MakeFieldAccessor<DoubleValue>(&SwitchSettings::m_wred, &RedCurve::pmax),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("CutThrough",
                      "Cut-through: forward a frame once its headers have arrived; frames from "
                      "ports below the highest port rate are stored and forwarded",
                      BooleanValue(false),
                      InOrder(MakeBooleanAccessor(&SwitchSettings::m_cutThrough)),
                      MakeBooleanChecker())
        .AddAttribute("Stages",
                      "Match-action stages available to programs (Tofino: 12)",
                      UintegerValue(12),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_capacity,
                                                       &ProgramPipeline::Capacity::stages),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("RegisterMemory",
                      "Stateful memory available to programs, bytes",
                      UintegerValue(15 << 20),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_capacity,
                                                       &ProgramPipeline::Capacity::registerBytes),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute(
            "RecirculationRate",
            "Rate of each recirculation port",
            DataRateValue(DataRate("100Gbps")),
            MakeFieldAccessor<DataRateValue>(&SwitchSettings::m_capacity,
                                             &ProgramPipeline::Capacity::recirculationRate),
            MakeDataRateChecker())
        .AddAttribute(
            "RecirculationPorts",
            "Recirculation ports available to programs (Tofino with 4 pipes: 8, and the 48 "
            "ports of 3 pipes looped back)",
            UintegerValue(56),
            MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_capacity,
                                             &ProgramPipeline::Capacity::recirculationPorts),
            MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("FloatAdders",
                      "Float32 adders available to programs: none in a switch chip; as an "
                      "FPGA, half the 3600 DSP slices of NetFPGA-SUME's XC7VX690T",
                      UintegerValue(1800),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_capacity,
                                                       &ProgramPipeline::Capacity::floatAdders),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("ExternalMemory",
                      "External memory available to programs, bytes (NetFPGA-SUME: 8 GiB)",
                      UintegerValue(8ULL << 30),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_capacity,
                                                       &ProgramPipeline::Capacity::externalBytes),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("PipelineDelay",
                      "Delay from the arrival of a frame to its earliest departure",
                      TimeValue(TimeStep(0)),
                      InOrder(MakeTimeAccessor(&SwitchSettings::m_pipelineDelay)),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("PauseResponse",
                      "Time from the arrival of a pause until a port obeys it, for which the "
                      "headroom of its peer provides; negative: the maximum of IEEE 802.3, "
                      "31B.3.7",
                      TimeValue(NanoSeconds(-1)),
                      InOrder(MakeTimeAccessor(&SwitchSettings::m_pauseResponse)),
                      MakeTimeChecker())
        .AddAttribute("FlowControl",
                      "How lossless classes are kept from overrunning a buffer: pfc, credit, "
                      "none, or auto: credit for NVSwitches, otherwise pfc",
                      StringValue("auto"),
                      InOrder(MakeStringAccessor(&SwitchSettings::SetFlowControl,
                                                 &SwitchSettings::GetFlowControlName)),
                      MakeStringChecker())
        .AddAttribute("CreditBuffer",
                      "Receive buffer of each port and lossless class with credits, bytes; 0: an "
                      "equal part of half the packet memory, at least the round trip of the "
                      "link and two of the largest frames",
                      UintegerValue(0),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_flowControl,
                                                       &SwitchFlowControl::creditBuffer),
                      MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
        .AddAttribute("CellSize",
                      "Frames take whole cells of the packet memory, bytes (Broadcom Trident and "
                      "Tomahawk: 208, Tomahawk 3: 254); 1: just their bytes",
                      UintegerValue(1),
                      MakeFieldAccessor<UintegerValue>(&SwitchSettings::m_memory,
                                                       &SharedBuffer::Configuration::cellSize),
                      MakeUintegerChecker<uint32_t>(1, 1 << 16))
        .AddAttribute("WatchdogDetection",
                      "A class of a port that is paused for so long is in a pause storm (SONiC: "
                      "200 ms); 0: no watchdog",
                      TimeValue(TimeStep(0)),
                      MakeFieldAccessor<TimeValue>(&SwitchSettings::m_watchdog,
                                                   &PauseWatchdog::Settings::detection),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("WatchdogRestoration",
                      "A pause storm is over when no pause has come for so long (SONiC: "
                      "200 ms)",
                      TimeValue(MilliSeconds(200)),
                      MakeFieldAccessor<TimeValue>(&SwitchSettings::m_watchdog,
                                                   &PauseWatchdog::Settings::restoration),
                      MakeTimeChecker(TimeStep(1)))
        .AddAttribute("WatchdogAction",
                      "What happens to frames of a class in a pause storm: drop or forward",
                      StringValue("drop"),
                      InOrder(MakeStringAccessor(&SwitchSettings::SetWatchdogAction,
                                                 &SwitchSettings::GetWatchdogAction)),
                      MakeStringChecker());
}

void
SwitchSettings::SetFlowControl(std::string name)
{
    m_flowControl.Choose(name);
}

std::string
SwitchSettings::GetFlowControlName() const
{
    return m_flowControl.GetChoice();
}

void
SwitchSettings::SetWatchdogAction(std::string name)
{
    m_flowControl.SetWatchdogAction(name);
}

std::string
SwitchSettings::GetWatchdogAction() const
{
    return m_flowControl.GetWatchdogAction();
}

} // namespace ns3::training
