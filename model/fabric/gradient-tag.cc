/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/gradient-tag.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(GradientTag);

TypeId
GradientTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::GradientTag")
                            .SetParent<Tag>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<GradientTag>();
    return tid;
}

GradientTag::GradientTag(bool isReal, uint8_t typeOfService)
    : m_isReal(isReal),
      m_typeOfService(typeOfService)
{
}

bool
GradientTag::IsReal() const
{
    return m_isReal;
}

uint8_t
GradientTag::GetTypeOfService() const
{
    return m_typeOfService;
}

TypeId
GradientTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
GradientTag::GetSerializedSize() const
{
    return 2;
}

void
GradientTag::Serialize(TagBuffer i) const
{
    i.WriteU8(m_isReal);
    i.WriteU8(m_typeOfService);
}

void
GradientTag::Deserialize(TagBuffer i)
{
    m_isReal = i.ReadU8() != 0;
    m_typeOfService = i.ReadU8();
}

void
GradientTag::Print(std::ostream& os) const
{
    os << (m_isReal ? "numbers" : "virtual numbers") << ", type of service "
       << static_cast<uint32_t>(m_typeOfService);
}

} // namespace ns3::training
