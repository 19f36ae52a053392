/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "nvls-tree-communicator.h"

#include "communicator/nccl-chunks.h"

#include "ns3/log.h"
#include "ns3/sharp-wire-format.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingNvlsTreeCommunicator");
NS_OBJECT_ENSURE_REGISTERED(NvlsTreeCommunicator);

namespace
{

/// Numbers travel between servers as float32.
constexpr uint64_t NUMBER_BYTES = sizeof(float);

/** The hosts' time for messages between servers. */
class RailHosts : public HostModel
{
  public:
    explicit RailHosts(std::shared_ptr<const HostModel> model)
        : m_model(std::move(model))
    {
    }

    HostCost GetCost(const CollectiveSchedule& schedule, uint64_t bytes) const override
    {
        return m_model->GetSwitchTreeMessageCost(schedule, bytes);
    }

    bool IsLocal(uint32_t a, uint32_t b) const override
    {
        return m_model->IsLocal(a, b);
    }

  private:
    std::shared_ptr<const HostModel> m_model;
};

} // namespace

TypeId
NvlsTreeCommunicator::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::NvlsTreeCommunicator")
                            .SetParent<NvlsCommunicator>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<NvlsTreeCommunicator>()
                            .AddAttribute("ChunkSize",
                                          "Data of a message between servers, bytes; 0: as NCCL "
                                          "chooses it by the size of the vector",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&NvlsTreeCommunicator::m_chunk),
                                          MakeUintegerChecker<uint64_t>(0, 1ULL << 32));
    return tid;
}

void
NvlsTreeCommunicator::SetRail(Ptr<ScheduledCommunicator> rail)
{
    if (GetNumberFormat() != NumberFormat::FLOAT32)
    {
        throw ConfigurationError("nvls-tree with ns3::training::SharpEndpoint::DataType=" +
                                 ns3::training::GetName(GetNumberFormat()) +
                                 " (allowed: float32, which hosts add)");
    }
    m_rail = rail;
    m_rail->SetAttribute("Order", StringValue("fifo"));
    m_rail->SetAttribute("ActiveCollectives", UintegerValue(UINT32_MAX));
}

void
NvlsTreeCommunicator::SetTreeHostModel(const std::shared_ptr<const HostModel>& model)
{
    SetHostModel(model);
    if (!model)
    {
        return;
    }
    m_rail->SetHostModel(std::make_shared<RailHosts>(model));
    const uint64_t chunks = model->GetSwitchTreeCost(0).chunks;
    if (chunks > 0)
    {
        m_rail->SetAttribute("ActiveCollectives",
                             UintegerValue(std::max<uint64_t>(1, chunks / TREES)));
    }
}

void
NvlsTreeCommunicator::DoDispose()
{
    NvlsCommunicator::DoDispose();
    m_rail = nullptr;
}

void
NvlsTreeCommunicator::Cancel()
{
    NvlsCommunicator::Cancel();
    m_first += m_units.size();
    m_units.clear();
}

uint64_t
NvlsTreeCommunicator::GetPacketsOfUnit(uint64_t bytes) const
{
    uint64_t chunk = m_chunk;
    if (chunk == 0)
    {
        chunk = GetSwitchCost(bytes).chunk;
    }
    if (chunk == 0)
    {
        NcclTuning::System system;
        system.servers = GetSize() / GetOwners();
        system.ranks = GetSize();
        chunk = NcclChunks(system).GetSwitchTreeChunk(bytes);
    }
    return std::max<uint64_t>(1, TREES * chunk / (GetElements() * NUMBER_BYTES));
}

void
NvlsTreeCommunicator::Start()
{
    m_packetsOfUnit = GetPacketsOfUnit(GetValueCount() * NUMBER_BYTES);
    m_read = 0;
    NvlsCommunicator::Start();
}

void
NvlsTreeCommunicator::OnSum(const Frame& frame)
{
    if (m_read++ % m_packetsOfUnit == 0)
    {
        m_units.emplace_back();
        m_units.back().tensor = Create<Tensor>();
    }
    Unit& unit = m_units.back();
    unit.headers.push_back(frame.As<SharpHeader>());
    Tensor& tensor = *unit.tensor;
    tensor.bytes += frame.payloadBytes;
    if (frame.payload)
    {
        const uint64_t count = frame.payloadBytes / NUMBER_BYTES;
        const std::size_t former = tensor.values.size();
        tensor.values.resize(former + count);
        ReadNumbers(NumberFormat::FLOAT32,
                    frame.payload->bytes.data() + frame.payloadOffset,
                    count,
                    tensor.values.data() + former);
    }
    if (m_read % m_packetsOfUnit == 0 || m_read == GetOwnPackets())
    {
        const uint64_t number = m_first + m_units.size() - 1;
        NS_LOG_LOGIC("rank " << GetRank() << " adds " << tensor.bytes
                             << " bytes to those of other servers, unit " << number);
        m_rail->AllReduce(unit.tensor,
                          MakeBoundCallback(&NvlsTreeCommunicator::OnTotal, this, number));
    }
}

void
NvlsTreeCommunicator::OnTotal(NvlsTreeCommunicator* self, uint64_t number)
{
    if (number < self->m_first)
    {
        return; // of a cancelled operation
    }
    self->NoteAnswer();
    self->m_units[number - self->m_first].isComplete = true;
    // The ranks of the server expect packets in order, but a unit may overtake another one.
    while (!self->m_units.empty() && self->m_units.front().isComplete)
    {
        const Unit unit = std::move(self->m_units.front());
        self->m_units.pop_front();
        self->m_first++;
        self->WriteUnit(unit);
    }
}

void
NvlsTreeCommunicator::WriteUnit(const Unit& unit)
{
    const Tensor& tensor = *unit.tensor;
    Ptr<ByteBuffer> payload;
    if (tensor.IsReal())
    {
        payload = Create<ByteBuffer>();
        payload->bytes.resize(tensor.bytes);
        WriteNumbers(NumberFormat::FLOAT32,
                     tensor.values.data(),
                     tensor.values.size(),
                     payload->bytes.data());
    }
    const uint64_t most = GetElements() * NUMBER_BYTES;
    uint64_t offset = 0;
    for (const SharpHeader& header : unit.headers)
    {
        const auto bytes = static_cast<uint32_t>(std::min(most, tensor.bytes - offset));
        Write({header, bytes, payload, offset});
        offset += bytes;
    }
}

std::vector<float>
NvlsTreeCommunicator::GetSum(const std::vector<std::vector<float>>& inputs) const
{
    std::vector<float> sum(inputs[0].size());
    const uint64_t step = GetPacketsOfUnit(sum.size() * NUMBER_BYTES) * GetElements();
    for (uint32_t owner = 0; owner < GetOwners(); owner++)
    {
        const auto [begin, end] = GetOwnedPart(owner, sum.size());
        for (uint64_t first = begin; first < end; first += step)
        {
            const uint64_t count = std::min(step, end - first);
            for (uint32_t tree = 0; tree < TREES; tree++)
            {
                GetSums().Add(TREES * owner + tree,
                              GetNumberFormat(),
                              inputs,
                              first + count * tree / TREES,
                              first + count * (tree + 1) / TREES,
                              sum);
            }
        }
    }
    return sum;
}

} // namespace ns3::training
