/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRADIENT_TAG_H
#define DISTRIBUTED_TRAINING_GRADIENT_TAG_H

#include "ns3/tag.h"

#include <ostream>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Byte tag of the numbers in a stream of TCP: tells an engine in the NIC which bytes of a segment
 * it may code. ns-3 keeps byte tags when it cuts a stream into segments.
 */
class GradientTag : public Tag
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    GradientTag() = default;

    /**
     * @param isReal whether the bytes are numbers, rather than stand for them
     * @param typeOfService by which the host marks them
     */
    GradientTag(bool isReal, uint8_t typeOfService);

    /** @return whether the bytes are numbers */
    bool IsReal() const;

    /** @return type of service by which the host marks them */
    uint8_t GetTypeOfService() const;

    // Tag
    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(TagBuffer i) const override;
    void Deserialize(TagBuffer i) override;
    void Print(std::ostream& os) const override;

  private:
    bool m_isReal{false};
    uint8_t m_typeOfService{0};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRADIENT_TAG_H
