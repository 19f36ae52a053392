/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-helper.h"

#include "ns3/aggregation-tree.h"
#include "ns3/block-quantizer.h"
#include "ns3/data-rate.h"
#include "ns3/switchml-wire-format.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <map>
#include <memory>

namespace ns3::training
{

namespace
{

/// Rate of a host for which the default number of slots is meant, bit/s.
constexpr uint64_t RATE_OF_SLOTS = 100000000000;
/// Faster hosts get up to this multiple of the slots: more would not fit into switches.
constexpr uint64_t MAX_SLOT_FACTOR = 4;

/** @return slots of the job's programs: the default grows with the rate of the hosts */
uint32_t
ChooseSlots(const InNetworkRequest& request)
{
    const TypeId program = SwitchMlProgram::GetTypeId();
    const uint32_t slots = GetNumber(request.attributes, program, "Slots");
    if (request.attributes.Has(program, "Slots") || !IsDefaultUnchanged(program, "Slots"))
    {
        return slots;
    }
    uint64_t rate = 0;
    for (uint32_t endpoint : request.endpoints)
    {
        rate = std::max(rate, request.fabric.devices[endpoint]->GetPort().GetRate());
    }
    const uint64_t factor = (rate + RATE_OF_SLOTS - 1) / RATE_OF_SLOTS;
    return slots * static_cast<uint32_t>(std::clamp<uint64_t>(factor, 1, MAX_SLOT_FACTOR));
}

/** @return packets per message with RDMA framing; 0: UDP framing */
uint32_t
GetMessagePackets(const KeyValues& values)
{
    const bool isRdma = values.GetText("framing") == "rdma";
    if (!isRdma && values.IsGiven("message-packets"))
    {
        throw ConfigurationError(std::string(InNetworkSystem::KIND) + " '" + values.GetSpelling() +
                                 "': message-packets (allowed with framing=rdma)");
    }
    return isRdma ? static_cast<uint32_t>(values.GetCount("message-packets")) : 0;
}

/** Gives a helper the attributes and keys of a request. */
void
Configure(SwitchMlHelper& helper, const InNetworkRequest& request, uint32_t slots)
{
    helper.SetAttributes(request.attributes);
    helper.SetProgramAttribute("Slots", UintegerValue(slots));
    helper.SetMessagePackets(GetMessagePackets(request.values));
}

std::vector<Ptr<InNetworkCommunicator>>
InstallSwitchMl(const InNetworkRequest& request)
{
    const KeyValues& values = request.values;
    const uint32_t slots = ChooseSlots(request);
    SwitchMlHelper helper;
    Configure(helper, request, slots);
    const auto workers =
        helper.AddJob(request.fabric, request.endpoints, request.hosts, GetWindow(values, slots));
    request.notes.push_back(workers.front()->DescribeTimers());
    return {workers.begin(), workers.end()};
}

/** Divides the slots of each pool among jobs. A job has the same range in all its switches. */
class SwitchMlController : public HelperController<SwitchMlHelper>
{
  public:
    explicit SwitchMlController(const InNetworkRequest& request)
        : HelperController(request.fabric),
          m_slots(ChooseSlots(request)),
          m_message(GetMessagePackets(request.values))
    {
        if (request.values.IsGiven("window"))
        {
            throw ConfigurationError(std::string(InNetworkSystem::KIND) + " '" +
                                     request.values.GetSpelling() +
                                     "' with jobs that share switches: window (allowed: the key "
                                     "slots of a job)");
        }
        Configure(m_helper, request, m_slots);
        BuildAggregationTree(m_fabric.topology, GetHosts(m_fabric, request.endpoints), 0);
        m_helper.InstallEverywhere(m_fabric, request.largestJob);
        request.attributes.Create<SwitchMlCommunicator>(); // its attributes are valid, and used
    }

    uint32_t GetDividedSlots() const override
    {
        return m_slots;
    }

    void Check(const InNetworkJob& job, uint32_t ranks) const override
    {
        if (!job.servers.empty())
        {
            throw ConfigurationError("servers with switchml (allowed: with atp)");
        }
        if (ranks > MAX_QUANTIZED_GROUP)
        {
            throw ConfigurationError("ranks=" + std::to_string(ranks) +
                                     " with switchml (allowed: up to " +
                                     std::to_string(MAX_QUANTIZED_GROUP) + ")");
        }
        const uint32_t least = std::max<uint32_t>(1, m_message);
        const uint32_t most =
            m_message > 0 ? std::min(m_slots, (SWITCHML_MAX_QUEUE_PAIRS + 1) * m_message - 1)
                          : m_slots;
        if (job.slots < least || job.slots > most)
        {
            throw ConfigurationError(
                "slots=" + std::to_string(job.slots) + " of " + std::to_string(m_slots) +
                " (allowed: " + std::to_string(least) + " to " + std::to_string(most) + ")");
        }
    }

    bool HasRoom(const InNetworkJob& job) const override
    {
        return m_helper.HasRoom(job.number, job.endpoints, job.slots);
    }

    InNetworkShare GetShare(uint32_t number) const override
    {
        const SwitchMlCounters counters = m_helper.GetCountersOf(number);
        const auto slots = m_slotsOf.find(number);
        InNetworkShare share;
        share.slots = slots == m_slotsOf.end() ? 0 : slots->second;
        share.packets = counters.received;
        share.added = counters.added;
        share.repeated = counters.repeated + counters.stale;
        share.completed = counters.completed;
        return share;
    }

  private:
    std::vector<Ptr<InNetworkCommunicator>> InstallJob(const InNetworkJob& job,
                                                       std::vector<std::string>& notes) override
    {
        const auto workers = m_helper.AddJob(m_fabric, job.endpoints, job.hosts, job.slots);
        m_slotsOf[job.number] = job.slots;
        notes.push_back(workers.front()->DescribeTimers());
        return {workers.begin(), workers.end()};
    }

    uint32_t m_slots;                       // of each pool
    uint32_t m_message;                     // packets of a message; 0: UDP framing
    std::map<uint32_t, uint32_t> m_slotsOf; // by job
};

std::unique_ptr<InNetworkController>
ControlSwitchMl(const InNetworkRequest& request)
{
    return std::make_unique<SwitchMlController>(request);
}

std::vector<Key>
GetSwitchMlKeys()
{
    return SwitchMlHelper::MakeKeys(
        {MakeWindowKey(SWITCHML_MAX_SLOTS),
         Key::Word("framing", "udp", {"udp", "rdma"}, "framing of packets"),
         Key::Count("message-packets",
                    4,
                    1,
                    SWITCHML_MAX_SLOTS,
                    "framing=rdma: packets in a message")});
}

const Registry<InNetworkSystem>::Entry g_switchMl(
    "switchml",
    {"switches add 32-bit integers (SwitchML, NSDI 2021)",
     &InstallSwitchMl,
     &GetSwitchMlKeys,
     "all-reduce",
     0,
     &ControlSwitchMl,
     true});

} // namespace

void
SwitchMlHelper::SetMessagePackets(uint32_t packets)
{
    m_message = packets;
}

Ptr<SwitchMlProgram>
SwitchMlHelper::Install(uint32_t index, uint32_t children)
{
    return InstallProgram(index, [&](SwitchMlProgram& program) {
        RaiseAttribute(program, "Workers", children, SwitchMlProgram::MAX_CHILDREN);
    });
}

void
SwitchMlHelper::InstallEverywhere(Fabric& fabric, uint32_t children)
{
    UseFabric(fabric);
    for (uint32_t index = 0; index < fabric.devicesOfSwitches.size(); index++)
    {
        Install(index, children);
    }
}

uint32_t
SwitchMlHelper::FindSlots(const std::vector<Ptr<SwitchMlProgram>>& programs, uint32_t count)
{
    uint32_t slot = 0;
    uint32_t before = 0;
    do
    {
        before = slot;
        for (const auto& program : programs)
        {
            slot = program->FindFreeSlots(slot, count);
        }
    } while (slot != before);
    return slot;
}

bool
SwitchMlHelper::HasRoom(uint32_t number,
                        const std::vector<uint32_t>& endpoints,
                        uint32_t window) const
{
    std::vector<Ptr<SwitchMlProgram>> programs;
    for (const AggregationNode& node :
         BuildAggregationTree(GetFabric().topology, GetHosts(GetFabric(), endpoints), number))
    {
        programs.push_back(GetProgram(node.switchIndex));
    }
    return uint64_t{FindSlots(programs, window)} + window <= programs.front()->GetSlots();
}

std::vector<Ptr<SwitchMlCommunicator>>
SwitchMlHelper::AddJob(Fabric& fabric,
                       const std::vector<uint32_t>& endpoints,
                       const std::vector<Ptr<ScheduledCommunicator>>& hosts,
                       uint32_t window)
{
    UseFabric(fabric);
    const uint8_t number = TakeNumber("switchml");
    const auto hostOf = GetHosts(fabric, endpoints);
    const auto tree = BuildAggregationTree(fabric.topology, hostOf, number);
    // The same range of slots at all switches, because packets keep their slot from level to level.
    std::vector<Ptr<SwitchMlProgram>> programs;
    for (const AggregationNode& node : tree)
    {
        const auto children = static_cast<uint32_t>(node.hosts.size() + node.below.size());
        programs.push_back(Install(node.switchIndex, children));
    }
    const uint32_t firstSlot = FindSlots(programs, window);
    std::map<uint32_t, uint32_t> switchOf; // by host: endpoint of its aggregating switch
    for (std::size_t i = 0; i < tree.size(); i++)
    {
        SwitchMlJob job;
        job.number = number;
        job.firstSlot = firstSlot;
        job.slots = window;
        job.queuePairs = m_message > 0 ? window / m_message : 0;
        for (uint32_t rank = 0; rank < endpoints.size(); rank++)
        {
            if (std::count(tree[i].hosts.begin(), tree[i].hosts.end(), hostOf[rank]))
            {
                job.children.push_back(endpoints[rank]);
                switchOf[hostOf[rank]] = programs[i]->GetEndpoint();
            }
        }
        for (uint32_t below : tree[i].below)
        {
            job.children.push_back(programs[below]->GetEndpoint());
        }
        if (tree[i].parent != AggregationNode::NONE)
        {
            job.parent = programs[tree[i].parent]->GetEndpoint();
        }
        programs[i]->AddJob(job);
    }
    DataRateValue recirculation;
    fabric.devicesOfSwitches[tree.front().switchIndex]->GetAttribute("RecirculationRate",
                                                                     recirculation);
    const uint64_t lineRate = GetLineRate(endpoints, tree.size() > 1);
    std::vector<Ptr<SwitchMlCommunicator>> communicators;
    for (uint32_t rank = 0; rank < endpoints.size(); rank++)
    {
        auto communicator = GetAttributes().Create<SwitchMlCommunicator>();
        JoinGroup(*communicator, rank, number, endpoints, hosts);
        SwitchMlCommunicator::Session session;
        session.switchEndpoint = switchOf[hostOf[rank]];
        session.firstSlot = firstSlot;
        session.window = window;
        session.elements = programs.front()->GetElements();
        session.message = m_message;
        session.key = window < programs.front()->GetSlots() ? "window" : "slots";
        session.lineRate = lineRate;
        session.recirculationBytes = programs.front()->GetRecirculatedBytes();
        session.recirculationRate = recirculation.Get().GetBitRate();
        communicator->SetSession(session);
        communicators.push_back(communicator);
    }
    return communicators;
}

} // namespace ns3::training
