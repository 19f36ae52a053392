/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FIELD_ACCESSOR_H
#define DISTRIBUTED_TRAINING_FIELD_ACCESSOR_H

#include "training-network-part.h"

#include "ns3/attribute.h"
#include "ns3/object-base.h"
#include "ns3/ptr.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * Makes an accessor for an attribute stored in a field of a plain struct. ns-3's
 * MakeUintegerAccessor() and its siblings only support direct members of the object.
 *
 * @code
 *   .AddAttribute("Mtu", "...", UintegerValue(4096),
 *                 MakeFieldAccessor<UintegerValue>(&RdmaNic::m_settings, &RdmaSettings::mtu),
 *                 MakeUintegerChecker<uint32_t>(1, 9000))
 * @endcode
 *
 * @tparam VALUE value class of the attribute, such as UintegerValue
 * @param member the struct in the object
 * @param field the field in the struct
 * @return the accessor
 */
template <class VALUE, class OWNER, class STRUCT, class FIELD>
Ptr<const AttributeAccessor>
MakeFieldAccessor(STRUCT OWNER::*member, FIELD STRUCT::*field)
{
    class Accessor : public AttributeAccessor
    {
      public:
        Accessor(STRUCT OWNER::*member, FIELD STRUCT::*field)
            : m_member(member),
              m_field(field)
        {
        }

        bool Set(ObjectBase* object, const AttributeValue& value) const override
        {
            const auto* given = dynamic_cast<const VALUE*>(&value);
            auto* owner = dynamic_cast<OWNER*>(object);
            return given && owner && given->GetAccessor((owner->*m_member).*m_field);
        }

        bool Get(const ObjectBase* object, AttributeValue& value) const override
        {
            auto* wanted = dynamic_cast<VALUE*>(&value);
            const auto* owner = dynamic_cast<const OWNER*>(object);
            if (!wanted || !owner)
            {
                return false;
            }
            wanted->Set((owner->*m_member).*m_field);
            return true;
        }

        bool HasGetter() const override
        {
            return true;
        }

        bool HasSetter() const override
        {
            return true;
        }

      private:
        STRUCT OWNER::*m_member;
        FIELD STRUCT::*m_field;
    };

    return InOrder(Ptr<const AttributeAccessor>(Create<Accessor>(member, field)));
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FIELD_ACCESSOR_H
