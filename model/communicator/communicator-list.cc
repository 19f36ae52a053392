/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator-list.h"

#include "ns3/object-vector.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(CommunicatorList);

TypeId
CommunicatorList::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::CommunicatorList")
            .SetParent<Object>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<CommunicatorList>()
            .AddAttribute("Communicators",
                          "The communicators of the node, in the order in which they were made",
                          TypeId::ATTR_GET,
                          ObjectVectorValue(),
                          MakeObjectVectorAccessor(&CommunicatorList::m_communicators),
                          MakeObjectVectorChecker<Communicator>());
    return tid;
}

void
CommunicatorList::DoDispose()
{
    m_communicators.clear();
    Object::DoDispose();
}

void
CommunicatorList::Add(Ptr<Node> node, Ptr<Communicator> communicator)
{
    auto list = node->GetObject<CommunicatorList>();
    if (!list)
    {
        list = CreateObject<CommunicatorList>();
        node->AggregateObject(list);
    }
    list->m_communicators.push_back(communicator);
}

uint32_t
CommunicatorList::GetN() const
{
    return static_cast<uint32_t>(m_communicators.size());
}

Ptr<Communicator>
CommunicatorList::Get(uint32_t index) const
{
    return m_communicators.at(index);
}

} // namespace ns3::training
