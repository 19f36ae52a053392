/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-network-part.h"

#include "training-event-loop.h"

#include "ns3/object-base.h"

#include <utility>

namespace ns3::training
{

namespace
{

class AttributeInOrder : public AttributeAccessor
{
  public:
    explicit AttributeInOrder(Ptr<const AttributeAccessor> accessor)
        : m_accessor(std::move(accessor))
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        CatchUp(object);
        return m_accessor->Set(object, value);
    }

    bool Get(const ObjectBase* object, AttributeValue& attribute) const override
    {
        CatchUp(object);
        return m_accessor->Get(object, attribute);
    }

    bool HasGetter() const override
    {
        return m_accessor->HasGetter();
    }

    bool HasSetter() const override
    {
        return m_accessor->HasSetter();
    }

  private:
    static void CatchUp(const ObjectBase* object)
    {
        const auto* part =
            EventLoop::IsBehind() ? dynamic_cast<const NetworkPart*>(object) : nullptr;
        if (part)
        {
            part->CatchUp();
        }
    }

    Ptr<const AttributeAccessor> m_accessor;
};

class TraceInOrder : public TraceSourceAccessor
{
  public:
    explicit TraceInOrder(Ptr<const TraceSourceAccessor> accessor)
        : m_accessor(std::move(accessor))
    {
    }

    bool ConnectWithoutContext(ObjectBase* object, const CallbackBase& sink) const override
    {
        dynamic_cast<NetworkPart&>(*object).OnSink();
        return m_accessor->ConnectWithoutContext(object, sink);
    }

    bool Connect(ObjectBase* object, std::string context, const CallbackBase& sink) const override
    {
        dynamic_cast<NetworkPart&>(*object).OnSink();
        return m_accessor->Connect(object, std::move(context), sink);
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& sink) const override
    {
        return m_accessor->DisconnectWithoutContext(object, sink);
    }

    bool Disconnect(ObjectBase* object,
                    std::string context,
                    const CallbackBase& sink) const override
    {
        return m_accessor->Disconnect(object, std::move(context), sink);
    }

  private:
    Ptr<const TraceSourceAccessor> m_accessor;
};

} // namespace

void
NetworkPart::OnSink()
{
    m_hasSinks = true;
    EventLoop::OnSink();
}

Ptr<const AttributeAccessor>
InOrder(Ptr<const AttributeAccessor> accessor)
{
    return Create<AttributeInOrder>(std::move(accessor));
}

Ptr<const TraceSourceAccessor>
InOrder(Ptr<const TraceSourceAccessor> accessor)
{
    return Create<TraceInOrder>(std::move(accessor));
}

} // namespace ns3::training
