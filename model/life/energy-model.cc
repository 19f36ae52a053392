/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-life
 *
 * Power models:
 *
 * - llmservingsim: the block "power" of configs/cluster/single_node_power_instance.json of
 *   LLMServingSim: 60 W of a node, 16 DIMMs of 2 W, two storage devices of 5 W; a GPU 300 W between
 *   its computations (standby) and 600 W in them; CPUs 10 and 200 W; NIC 20 W; 6 pJ/bit of memory,
 * 4 pJ/bit and 5 W of a link. It has no switches;
 * - h100: GPUs at the 700 W of NVIDIA's data sheet of the H100 SXM, 8 in a server. Optical links of
 *   15 pJ/bit, the lower end of what is published for pluggable optics. All else as llmservingsim.
 */

#include "energy-model.h"

#include <cmath>

namespace ns3::training
{

namespace
{

/// Largest power of a part, W, and energy of a bit, pJ.
constexpr double MAX_FIGURE = 1e6;

/** A figure that is a key. */
struct Figure
{
    const char* name;
    double PowerFigures::*member;
    const char* help;
};

constexpr Figure FIGURES[] = {
    {"server", &PowerFigures::server, "W, of a server without GPUs, CPUs and NICs"},
    {"gpu-waiting", &PowerFigures::gpuWaiting, "W, of a GPU that does not compute"},
    {"gpu-active", &PowerFigures::gpuActive, "W, of a GPU that computes"},
    {"cpu-idle", &PowerFigures::cpuIdle, "W, of the CPUs of a server without collectives"},
    {"cpu-active", &PowerFigures::cpuActive, "W, of the CPUs of a server during collectives"},
    {"nic", &PowerFigures::nic, "W, of a NIC"},
    {"switch", &PowerFigures::switchIdle, "W, of a switch without its ports"},
    {"port", &PowerFigures::port, "W, of a port of a switch"},
    {"link-bit", &PowerFigures::linkBit, "pJ, of a bit on a link"},
    {"switch-bit", &PowerFigures::switchBit, "pJ, of a bit that a switch receives"},
    {"memory-bit", &PowerFigures::memoryBit, "pJ, of a bit that a NIC reads or writes"}};

/** @return figures of LLMServingSim */
PowerFigures
MakeServingFigures()
{
    PowerFigures figures;
    figures.server = 60 + 16 * 2 + 2 * 5;
    figures.gpuWaiting = 300;
    figures.gpuActive = 600;
    figures.cpuIdle = 10;
    figures.cpuActive = 200;
    figures.nic = 20 + 5;
    figures.linkBit = 4;
    figures.memoryBit = 6;
    return figures;
}

/** @return figures of a server with 8 H100 */
PowerFigures
MakeH100Figures()
{
    PowerFigures figures = MakeServingFigures();
    figures.gpuActive = 700;
    figures.linkBit = 15;
    figures.gpus = 8;
    return figures;
}

const Registry<PowerEntry>::Entry g_serving(
    "llmservingsim",
    {"node with an RTX PRO 6000 as in LLMServingSim's example; no switches", MakeServingFigures()});

const Registry<PowerEntry>::Entry g_h100(
    "h100",
    {"8 H100 of 700 W (NVIDIA), optics of 15 pJ/bit, else as llmservingsim", MakeH100Figures()});

} // namespace

std::vector<Key>
GetKeys(const PowerEntry& entry)
{
    std::vector<Key> keys;
    for (const Figure& figure : FIGURES)
    {
        keys.push_back(
            Key::Number(figure.name, entry.figures.*figure.member, 0, MAX_FIGURE, figure.help));
    }
    keys.push_back(Key::Count("gpus", entry.figures.gpus, 1, 1 << 20, "GPUs of a server"));
    return keys;
}

PowerFigures
MakePowerFigures(const std::string& text)
{
    const auto choice = Choose<PowerEntry>(text);
    PowerFigures figures;
    for (const Figure& figure : FIGURES)
    {
        figures.*figure.member = choice.values.GetNumber(figure.name);
    }
    figures.gpus = static_cast<uint32_t>(choice.values.GetCount("gpus"));
    return figures;
}

double
EnergyAccount::GetTotal() const
{
    return compute + waiting + hosts + switches + bits;
}

EnergyAccount
GetEnergy(const PowerFigures& figures, const ClusterActivity& activity)
{
    constexpr double PICO = 1e-12;
    const double servers = std::ceil(static_cast<double>(activity.ranks) / figures.gpus);
    const double waitingSeconds = activity.ranks * activity.seconds - activity.computeSeconds;
    const double cpuSeconds = servers * activity.collectiveSeconds / activity.ranks;
    EnergyAccount account;
    account.compute = figures.gpuActive * activity.computeSeconds;
    account.waiting = figures.gpuWaiting * waitingSeconds;
    account.hosts = (servers * (figures.server + figures.cpuIdle) + activity.nics * figures.nic) *
                        activity.seconds +
                    (figures.cpuActive - figures.cpuIdle) * cpuSeconds;
    account.switches =
        (activity.switches * figures.switchIdle + activity.ports * figures.port) * activity.seconds;
    account.bits =
        PICO * (figures.linkBit * activity.linkBits + figures.switchBit * activity.switchBits +
                figures.memoryBit * activity.memoryBits);
    account.retransmissions = account.bits * activity.retransmittedPart;
    return account;
}

} // namespace ns3::training
