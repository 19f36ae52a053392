/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nic-communicator.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/message-coder.h"
#include "ns3/message-grants.h"
#include "ns3/message-tag.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-attribute-choice.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingNicCommunicator");
NS_OBJECT_ENSURE_REGISTERED(NicCommunicator);

namespace
{

/// Number of the communicator of engines: the highest, as groups of hosts count from 0.
constexpr uint32_t COMMUNICATOR = MessageTag::MAX_COMMUNICATOR;
/// Bits that an adder takes per cycle.
constexpr double ADDER_BITS = 8.0 * sizeof(float);

} // namespace

TypeId
NicCommunicator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::NicCommunicator")
            .SetParent<Communicator>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<NicCommunicator>()
            .AddAttribute("ActiveCollectives",
                          "Collectives that the engine may run at a time; the others wait",
                          UintegerValue(1),
                          MakeUintegerAccessor(&NicCommunicator::m_activeLimit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("DmaRate",
                          "Rate of the DMA engine in each direction; 0: unlimited",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&NicCommunicator::m_dmaRate),
                          MakeDataRateChecker())
            .AddAttribute("DmaLatency",
                          "Latency of a DMA transfer, beside the time that its bytes take",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&NicCommunicator::m_dmaLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("DoorbellLatency",
                          "Time from the call of the host until the engine begins",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&NicCommunicator::m_doorbell),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CompletionLatency",
                          "Time from the last byte of the result until the host knows of it",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&NicCommunicator::m_completion),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("OwnBuffer",
                          "Buffer of a collective for the rank's own vector, bytes; 0: unlimited",
                          UintegerValue(256 << 10),
                          MakeUintegerAccessor(&NicCommunicator::m_ownBuffer),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("ReceptionBuffer",
                          "Buffer of a message for received packets, bytes; 0: unlimited",
                          UintegerValue(256 << 10),
                          MakeUintegerAccessor(&NicCommunicator::m_receptionBuffer),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("NumberFormat",
                          "Numbers on the line and in the adders: float32, float16 or bfloat16",
                          StringValue("float32"),
                          MakeStringAccessor(&NicCommunicator::SetNumberFormat,
                                             &NicCommunicator::GetNumberFormat),
                          MakeStringChecker())
            .AddAttribute("Lanes",
                          "Adders of one float32, or of two numbers of 16 bits; 0: as many as the "
                          "line needs",
                          UintegerValue(0),
                          MakeUintegerAccessor(&NicCommunicator::m_lanes),
                          MakeUintegerChecker<uint32_t>(0, 1 << 16))
            .AddAttribute("Clock",
                          "Clock of the adders, MHz",
                          DoubleValue(200),
                          MakeDoubleAccessor(&NicCommunicator::m_clock),
                          MakeDoubleChecker<double>(1, 100000))
            .AddAttribute("AddLatency",
                          "Cycles from a number to its sum",
                          UintegerValue(8),
                          MakeUintegerAccessor(&NicCommunicator::m_addCycles),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "Lockstep",
                "off: messages leave when they have their data; none: in the order of a "
                "schedule table; estimate: its empty steps take an estimated time; oracle: a step "
                "begins when all ranks' messages of the steps before have left",
                StringValue("off"),
                MakeStringAccessor(&NicCommunicator::SetLockstep, &NicCommunicator::GetLockstep),
                MakeStringChecker())
            .AddAttribute("TableEntries",
                          "Entries of the schedule table; 0: unlimited",
                          UintegerValue(128),
                          MakeUintegerAccessor(&NicCommunicator::m_tableEntries),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "Interfaces",
                "Interfaces for messages of the schedule table, each with the rate of a link "
                "and one message at a time; 0: any number of messages",
                UintegerValue(0),
                MakeUintegerAccessor(&NicCommunicator::m_interfaces),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("FlowControl",
                          "none: messages are sent as they are; packet: with a head flit of 16 "
                          "bytes for each sub-message; message: with one for each message",
                          StringValue("none"),
                          MakeStringAccessor(&NicCommunicator::SetFlowControl,
                                             &NicCommunicator::GetFlowControl),
                          MakeStringChecker())
            .AddAttribute("SubMessage",
                          "Bytes of a sub-message, a multiple of 16",
                          UintegerValue(256),
                          MakeUintegerAccessor(&NicCommunicator::m_subMessage),
                          MakeUintegerChecker<uint32_t>(16))
            .AddTraceSource("Collective",
                            "A collective is complete at this rank",
                            MakeTraceSourceAccessor(&NicCommunicator::m_collectiveTrace),
                            "ns3::training::ScheduledCommunicator::CollectiveTracedCallback");
    return tid;
}

void
NicCommunicator::DoDispose()
{
    if (m_transport)
    {
        m_transport->Detach(COMMUNICATOR);
    }
    m_transport = nullptr;
    m_hosts = nullptr;
    m_planner = nullptr;
    m_collectives.clear();
    m_early.clear();
    m_outgoing.clear();
    Communicator::DoDispose();
}

void
NicCommunicator::Setup(Ptr<ScheduledCommunicator> hosts,
                       ScheduledCommunicator::Planner planner,
                       const Lines& lines,
                       std::shared_ptr<LockstepOracles> oracles)
{
    const bool asksOracles = m_lockstep == "oracle";
    if (asksOracles && !oracles)
    {
        throw ConfigurationError("lockstep=oracle with several processes (allowed: with a single "
                                 "one, where all ranks know of each other at once)");
    }
    m_hosts = hosts;
    m_planner = std::move(planner);
    m_lines = lines;
    if (m_dmaRate.GetBitRate() > 0)
    {
        m_engine.reading.secondsPerByte = 8.0 / static_cast<double>(m_dmaRate.GetBitRate());
    }
    m_engine.reading.latency = m_dmaLatency;
    // The buffer holds formatted numbers, the memory of the host float32.
    m_engine.reading.bufferBytes =
        m_ownBuffer * sizeof(float) / m_engine.GetFormattedBytes(sizeof(float));
    m_engine.receptionBytes = m_receptionBuffer;
    m_engine.lanes = GetLanes();
    m_engine.cycle = Seconds(1e-6 / m_clock);
    m_engine.addLatency = m_engine.cycle * static_cast<int64_t>(m_addCycles);
    if (m_engine.format)
    {
        m_engine.coding.roundTrip = [format = m_engine.format](std::vector<uint8_t>& bytes,
                                                               const MessagePlace&) {
            MessageCoder::RoundTrip(*format, CodecKey(), bytes);
        };
        m_engine.coding.codesOwner = true;
        m_engine.coding.codesCopies = true;
        m_engine.coding.codesInputs = true;
    }
    else
    {
        m_engine.coding = hosts->GetCoding();
    }
    m_engine.hasTable = m_lockstep != "off";
    m_engine.table.entries = m_tableEntries;
    m_engine.table.interfaces = m_interfaces;
    m_engine.table.lockstep = m_lockstep == "estimate";
    m_engine.oracles = asksOracles ? std::move(oracles) : nullptr;
    m_engine.subMessages =
        SubMessages(m_flowControl == "packet"    ? SubMessages::FlowControl::PACKET
                    : m_flowControl == "message" ? SubMessages::FlowControl::MESSAGE
                                                 : SubMessages::FlowControl::NONE,
                    m_subMessage);
    m_engine.lineSecondsPerByte = 8.0 / static_cast<double>(lines.link);
    m_engine.lineShare = lines.byteShare;
    m_transport = hosts->GetTransport();
    m_transport->Attach(COMMUNICATOR, {}, [this](uint32_t peer, const Message& message) {
        OnMessage(peer, message.tag, message.payload);
    });
    hosts->TraceConnectWithoutContext("Collective",
                                      MakeCallback(&NicCommunicator::OnHostCollective, this));
}

void
NicCommunicator::SetLockstep(std::string lockstep)
{
    FindAllowedValue("NicCommunicator::Lockstep", lockstep, {"off", "none", "estimate", "oracle"});
    m_lockstep = std::move(lockstep);
}

std::string
NicCommunicator::GetLockstep() const
{
    return m_lockstep;
}

void
NicCommunicator::SetFlowControl(std::string flowControl)
{
    FindAllowedValue("NicCommunicator::FlowControl", flowControl, {"none", "packet", "message"});
    m_flowControl = std::move(flowControl);
}

std::string
NicCommunicator::GetFlowControl() const
{
    return m_flowControl;
}

void
NicCommunicator::SetNumberFormat(std::string format)
{
    FindAllowedValue("NicCommunicator::NumberFormat", format, {"float32", "float16", "bfloat16"});
    m_numberFormat = std::move(format);
    m_engine.format = m_numberFormat == "float16"    ? MakeCodec("fp16")
                      : m_numberFormat == "bfloat16" ? MakeCodec("bf16")
                                                     : nullptr;
}

std::string
NicCommunicator::GetNumberFormat() const
{
    return m_numberFormat;
}

uint64_t
NicCommunicator::GetFormattedBytes(uint64_t bytes) const
{
    return m_engine.GetFormattedBytes(bytes);
}

const MessageCoding&
NicCommunicator::GetCoding() const
{
    return m_engine.coding;
}

void
NicCommunicator::CheckTable(const CollectiveSchedule& schedule) const
{
    if (m_engine.hasTable)
    {
        if (m_interfaces > 0 && (m_ownBuffer > 0 || m_receptionBuffer > 0))
        {
            throw ConfigurationError("interfaces=" + std::to_string(m_interfaces) +
                                     " with own-buffer=" + std::to_string(m_ownBuffer) +
                                     " and reception-buffer=" + std::to_string(m_receptionBuffer) +
                                     " (allowed: with both 0, unlimited; a message that waits for "
                                     "a buffer would keep its interface from others)");
        }
        const ScheduleTable table(schedule, GetRank(), m_engine.table, nullptr);
    }
}

bool
NicCommunicator::IsOffloaded(CollectiveOperation operation)
{
    return !IsExchange(operation) && operation != CollectiveOperation::BARRIER;
}

uint32_t
NicCommunicator::GetLanes() const
{
    const double rate = static_cast<double>(m_lines.rate) * m_lines.count * m_lines.gain;
    const double needed = rate / (m_clock * 1e6 * ADDER_BITS);
    return m_lanes > 0 ? m_lanes : std::max(1U, static_cast<uint32_t>(std::ceil(needed)));
}

double
NicCommunicator::GetAddRate() const
{
    return GetLanes() * m_clock * 1e6 * ADDER_BITS;
}

void
NicCommunicator::SetErrorHandler(ErrorHandler handler)
{
    if (m_hosts)
    {
        m_hosts->SetErrorHandler(std::move(handler));
    }
}

uint32_t
NicCommunicator::GetRank() const
{
    return m_hosts->GetRank();
}

uint32_t
NicCommunicator::GetSize() const
{
    return m_hosts->GetSize();
}

void
NicCommunicator::Send(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_hosts->Send(tensor, peer, done);
}

void
NicCommunicator::Receive(Ptr<Tensor> tensor, uint32_t peer, Done done)
{
    m_hosts->Receive(tensor, peer, done);
}

void
NicCommunicator::Start(CollectiveOperation operation,
                       Ptr<Tensor> tensor,
                       uint32_t root,
                       Done done,
                       ByteMatrix matrix)
{
    NS_LOG_FUNCTION(this << GetName(operation) << tensor->bytes << root);
    NS_ABORT_MSG_IF(tensor->IsReal() && tensor->values.size() * sizeof(float) != tensor->bytes,
                    "a real tensor's bytes are four times its numbers");
    const uint64_t number = m_issued++;
    if (!IsOffloaded(operation))
    {
        m_byHosts.push_back(number);
        m_hosts->Start(operation, tensor, root, done, std::move(matrix));
        return;
    }
    Entry entry;
    NicCollective::Owner& owner = *this;
    entry.collective = std::make_unique<NicCollective>(owner,
                                                       m_engine,
                                                       m_planner(operation, tensor->bytes, root),
                                                       GetRank(),
                                                       tensor,
                                                       number);
    NicCollective& collective = *entry.collective;
    collective.done = done;
    collective.record.rank = GetRank();
    collective.record.collective = number;
    collective.record.operation = operation;
    collective.record.algorithm = "nic-" + collective.GetSchedule().algorithm;
    collective.record.bytes = tensor->bytes;
    collective.record.iteration = tensor->iteration;
    collective.record.bucket = tensor->bucket;
    collective.record.issued = Simulator::Now();
    m_collectives.push_back(std::move(entry));
    for (auto early = m_early.begin(); early != m_early.end(); ++early)
    {
        if (MessageTag::IsSameCollective(early->first, number))
        {
            for (Early& packet : early->second)
            {
                collective.OnPacket(packet.peer, packet.step, packet.message, packet.payload);
            }
            m_early.erase(early);
            break;
        }
    }
    // From an event, because completion must not precede the return of this call.
    Simulator::Schedule(m_doorbell, &NicCommunicator::Ring, this, number);
}

void
NicCommunicator::Ring(uint64_t number)
{
    if (Entry* entry = Find(number))
    {
        entry->isRung = true;
        StartNext();
    }
}

void
NicCommunicator::StartNext()
{
    uint32_t running = 0;
    for (Entry& entry : m_collectives)
    {
        if (entry.isFinished)
        {
            continue;
        }
        if (running++ == m_activeLimit || !entry.isRung)
        {
            return;
        }
        if (!entry.isStarted)
        {
            NS_LOG_LOGIC("rank " << GetRank() << ": the NIC starts collective "
                                 << entry.collective->record.collective);
            entry.isStarted = true;
            entry.collective->record.started = Simulator::Now();
            entry.collective->Start();
        }
    }
}

void
NicCommunicator::SendPacket(NicCollective& collective,
                            uint32_t index,
                            const ScheduleAction& action,
                            uint64_t bytes,
                            Ptr<ByteBuffer> payload)
{
    const uint64_t number = collective.record.collective;
    if (m_engine.format)
    {
        bytes = m_engine.GetFormattedBytes(bytes);
        payload = Format(payload);
    }
    m_outgoing[action.peer].waiting.push_back(
        {number,
         index,
         MessageTag{COMMUNICATOR, number, action.step, action.message}.Pack(),
         bytes,
         std::move(payload),
         m_hosts->GetTypeOfService(collective.record.operation)});
    Transmit(action.peer);
}

void
NicCommunicator::Transmit(uint32_t peer)
{
    // One packet on the line of each port, and one behind it.
    const uint32_t most = 2 * m_lines.count;
    Outgoing& outgoing = m_outgoing[peer];
    while (outgoing.leaving < most && !outgoing.waiting.empty())
    {
        Packet packet = std::move(outgoing.waiting.front());
        outgoing.waiting.pop_front();
        outgoing.leaving++;
        m_transport->Send(COMMUNICATOR,
                          peer,
                          {packet.tag,
                           packet.bytes,
                           std::move(packet.payload),
                           [this, peer, number = packet.number, index = packet.index]() {
                               OnSent(peer, number, index);
                           },
                           packet.typeOfService});
    }
}

Ptr<ByteBuffer>
NicCommunicator::Format(Ptr<ByteBuffer> numbers) const
{
    if (!numbers)
    {
        return nullptr;
    }
    const std::vector<uint8_t>& bytes = numbers->bytes;
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    auto formatted = Create<ByteBuffer>();
    m_engine.format->Encode(values.data(), values.size(), CodecKey(), formatted->bytes);
    const std::size_t rest = bytes.size() % sizeof(float);
    formatted->bytes.insert(formatted->bytes.end(), bytes.end() - rest, bytes.end());
    return formatted;
}

Ptr<ByteBuffer>
NicCommunicator::Unformat(Ptr<ByteBuffer> formatted) const
{
    if (!formatted)
    {
        return nullptr;
    }
    const std::vector<uint8_t>& bytes = formatted->bytes;
    const uint64_t size = m_engine.format->GetCodedBytes(1);
    std::vector<float> values(bytes.size() / size);
    const std::size_t coded = values.size() * size;
    m_engine.format->Decode(bytes.data(), coded, CodecKey(), values.data(), values.size());
    auto numbers = Create<ByteBuffer>();
    numbers->bytes.resize(values.size() * sizeof(float));
    std::memcpy(numbers->bytes.data(), values.data(), numbers->bytes.size());
    numbers->bytes.insert(numbers->bytes.end(), bytes.begin() + coded, bytes.end());
    return numbers;
}

void
NicCommunicator::SendCredit(NicCollective& collective, const ScheduleAction& action)
{
    const MessageTag tag{COMMUNICATOR, collective.record.collective, action.step, action.message};
    m_transport->Send(COMMUNICATOR, action.peer, {MessageGrants::GetGrantOf(tag.Pack())});
}

void
NicCommunicator::OnSent(uint32_t peer, uint64_t number, uint32_t index)
{
    if (!m_transport)
    {
        return; // disposed of
    }
    m_outgoing[peer].leaving--;
    Transmit(peer);
    if (Entry* entry = Find(number))
    {
        entry->collective->OnSent(index);
    }
}

void
NicCommunicator::OnMessage(uint32_t peer, uint64_t tag, Ptr<ByteBuffer> payload)
{
    const MessageTag parts = MessageTag::Unpack(tag);
    if (m_engine.format)
    {
        payload = Unformat(payload);
    }
    Entry* entry = Find(parts.collective);
    if (MessageGrants::IsGrant(parts))
    {
        const MessageTag message = MessageTag::Unpack(MessageGrants::GetGranted(tag));
        NS_ABORT_MSG_UNLESS(entry, "a credit of rank " << peer << " for a collective that is over");
        entry->collective->OnCredit(peer, message.step, message.message);
    }
    else if (entry)
    {
        entry->collective->OnPacket(peer, parts.step, parts.message, std::move(payload));
    }
    else
    {
        m_early[parts.collective].push_back({peer, parts.step, parts.message, std::move(payload)});
    }
}

void
NicCommunicator::OnFinished(NicCollective& collective)
{
    Find(collective.record.collective)->isFinished = true;
    // From an event, because the collective is still running its last action.
    Simulator::Schedule(m_completion, &NicCommunicator::Finish, this, collective.record.collective);
    Simulator::ScheduleNow(&NicCommunicator::StartNext, this);
}

void
NicCommunicator::Finish(uint64_t number)
{
    const auto found =
        std::find_if(m_collectives.begin(), m_collectives.end(), [&](const Entry& entry) {
            return entry.collective->record.collective == number;
        });
    if (found == m_collectives.end())
    {
        return; // disposed of
    }
    const auto collective = std::move(found->collective);
    m_collectives.erase(found);
    collective->record.finished = Simulator::Now();
    m_collectiveTrace(collective->record);
    if (!collective->done.IsNull())
    {
        collective->done();
    }
}

void
NicCommunicator::OnHostCollective(const CollectiveRecord& record)
{
    CollectiveRecord mine = record;
    mine.collective = m_byHosts.at(record.collective);
    m_collectiveTrace(mine);
}

NicCommunicator::Entry*
NicCommunicator::Find(uint64_t number)
{
    for (Entry& entry : m_collectives)
    {
        if (MessageTag::IsSameCollective(entry.collective->record.collective, number))
        {
            return &entry;
        }
    }
    return nullptr;
}

std::string
NicCommunicator::GetWaitingFor() const
{
    for (const Entry& entry : m_collectives)
    {
        if (!entry.isFinished)
        {
            const CollectiveRecord& record = entry.collective->record;
            return "rank " + std::to_string(record.rank) + " waits in " +
                   GetName(record.operation) + " " + std::to_string(record.collective) + " (" +
                   record.algorithm + ") " + entry.collective->DescribeMissing();
        }
    }
    return m_hosts->GetWaitingFor();
}

} // namespace ns3::training
