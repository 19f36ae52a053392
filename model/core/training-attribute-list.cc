/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-attribute-list.h"

#include "training-configuration-error.h"
#include "training-key.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** Separator between a type name and an attribute name. */
constexpr const char* SEPARATOR = "::";

/** @return whether a type equals another type or derives from it */
bool
IsA(TypeId type, TypeId other)
{
    return type == other || type.IsChildOf(other);
}

/** @return a type and its ancestors */
std::vector<TypeId>
GetLevels(TypeId type)
{
    std::vector<TypeId> levels{type};
    while (levels.back() != levels.back().GetParent())
    {
        levels.push_back(levels.back().GetParent());
    }
    return levels;
}

/** @return whether an attribute can be set */
bool
CanSet(const TypeId::AttributeInformation& attribute)
{
    return (attribute.flags & TypeId::ATTR_SET) &&
           attribute.supportLevel == TypeId::SupportLevel::SUPPORTED;
}

/** @return names of the settable attributes of a type and its ancestors */
std::string
GetNames(TypeId type)
{
    std::string names;
    for (TypeId level : GetLevels(type))
    {
        for (std::size_t i = 0; i < level.GetAttributeN(); i++)
        {
            const auto attribute = level.GetAttribute(i);
            names += CanSet(attribute) ? (names.empty() ? "" : ", ") + attribute.name : "";
        }
    }
    return names.empty() ? "none" : names;
}

} // namespace

std::shared_ptr<AttributeList::Entry>
AttributeList::Find(const std::string& name, const std::string& value)
{
    const std::string text = name + "=" + value;
    const std::size_t separator = name.rfind(SEPARATOR);
    const std::string type = name.substr(0, separator);
    TypeId objects;
    if (separator == std::string::npos || !TypeId::LookupByNameFailSafe(type, &objects))
    {
        throw ConfigurationError("attribute " + text + ": there is no type '" + type +
                                 "' (allowed: TYPE::ATTRIBUTE=VALUE, such as "
                                 "ns3::training::SwitchDevice::EcnPmax=1)");
    }
    const std::string attribute = name.substr(separator + 2);
    std::shared_ptr<Entry> entry;
    for (TypeId level : GetLevels(objects))
    {
        for (std::size_t i = 0; i < level.GetAttributeN() && !entry; i++)
        {
            const auto found = level.GetAttribute(i);
            if (found.name == attribute && CanSet(found))
            {
                entry = std::make_shared<Entry>(Entry{objects, found, level, i, text, nullptr});
            }
        }
    }
    if (!entry)
    {
        throw ConfigurationError("attribute " + text + ": type '" + type + "' has no attribute '" +
                                 attribute + "' (allowed: " + GetNames(objects) + ")");
    }
    return entry;
}

void
AttributeList::Set(const std::string& name, const std::string& value)
{
    const auto entry = Find(name, value);
    const Key key = Key::Attribute(entry->owner, entry->of.name);
    const Ptr<AttributeValue> made = entry->of.checker->Create();
    if (!key.Allows(value) || !made->DeserializeFromString(key.ToNs3(value), entry->of.checker))
    {
        throw ConfigurationError("attribute " + entry->text + " (allowed: " + key.GetAllowed() +
                                 ")");
    }
    entry->value = made;
    Add(entry);
}

void
AttributeList::Set(const std::string& name, const AttributeValue& value)
{
    const auto entry = Find(name, "...");
    entry->value = entry->of.checker->CreateValidValue(value);
    if (!entry->value)
    {
        throw ConfigurationError("attribute " + name + " (allowed: " +
                                 Key::Attribute(entry->owner, entry->of.name).GetAllowed() + ")");
    }
    entry->text = name + "=" + entry->value->SerializeToString(entry->of.checker);
    Add(entry);
}

void
AttributeList::Add(const std::shared_ptr<Entry>& entry)
{
    m_entries.erase(std::remove_if(m_entries.begin(),
                                   m_entries.end(),
                                   [&](const auto& mine) {
                                       return mine->type == entry->type &&
                                              mine->of.name == entry->of.name;
                                   }),
                    m_entries.end());
    m_entries.push_back(entry);
}

void
AttributeList::Add(const AttributeList& other)
{
    for (const auto& entry : other.m_entries)
    {
        Add(entry);
    }
}

const AttributeList::Entry*
AttributeList::Find(TypeId type, const std::string& attribute) const
{
    const auto found = std::find_if(m_entries.rbegin(), m_entries.rend(), [&](const auto& entry) {
        return IsA(type, entry->type) && entry->of.name == attribute;
    });
    return found == m_entries.rend() ? nullptr : found->get();
}

bool
AttributeList::Has(TypeId type, const std::string& attribute) const
{
    return Find(type, attribute) != nullptr;
}

Ptr<const AttributeValue>
AttributeList::Get(TypeId type, const std::string& attribute) const
{
    if (const Entry* entry = Find(type, attribute))
    {
        return entry->value;
    }
    TypeId::AttributeInformation information;
    type.LookupAttributeByName(attribute, &information);
    return information.initialValue;
}

void
AttributeList::ApplyTo(ObjectFactory& factory) const
{
    for (const auto& entry : m_entries)
    {
        if (IsA(factory.GetTypeId(), entry->type))
        {
            factory.Set(entry->of.name, *entry->value);
            entry->isUsed = true;
        }
    }
}

void
AttributeList::ApplyTo(ObjectBase& object) const
{
    for (const auto& entry : m_entries)
    {
        if (IsA(object.GetInstanceTypeId(), entry->type))
        {
            object.SetAttribute(entry->of.name, *entry->value);
            entry->isUsed = true;
        }
    }
}

AttributeList
AttributeList::SelectFor(TypeId type) const
{
    AttributeList selected;
    for (const auto& entry : m_entries)
    {
        if (IsA(type, entry->type))
        {
            selected.m_entries.push_back(entry);
        }
    }
    return selected;
}

bool
AttributeList::IsEmpty() const
{
    return m_entries.empty();
}

std::vector<std::string>
AttributeList::GetUnused() const
{
    std::vector<std::string> unused;
    for (const auto& entry : m_entries)
    {
        if (!entry->isUsed)
        {
            unused.push_back(entry->text);
        }
    }
    return unused;
}

bool
IsDefaultUnchanged(TypeId type, const std::string& attribute)
{
    for (std::size_t i = 0; i < type.GetAttributeN(); i++)
    {
        const auto found = type.GetAttribute(i);
        if (found.name == attribute)
        {
            // Not by value: a user may ask for the default of the code.
            return found.initialValue == found.originalInitialValue;
        }
    }
    return false;
}

void
CopyAttributes(TypeId type, const ObjectBase& from, ObjectBase& to)
{
    constexpr uint32_t BOTH = TypeId::ATTR_GET | TypeId::ATTR_SET;
    for (std::size_t i = 0; i < type.GetAttributeN(); i++)
    {
        const auto attribute = type.GetAttribute(i);
        if ((attribute.flags & BOTH) == BOTH)
        {
            const Ptr<AttributeValue> value = attribute.checker->Create();
            from.GetAttribute(attribute.name, *value);
            to.SetAttribute(attribute.name, *value);
        }
    }
}

AttributeDefaults::AttributeDefaults(const AttributeList& list)
{
    for (const auto& entry : list.m_entries)
    {
        TypeId owner = entry->owner;
        m_former.push_back({owner, entry->index, owner.GetAttribute(entry->index).initialValue});
        owner.SetAttributeInitialValue(entry->index, entry->value);
        entry->isUsed = true;
    }
}

AttributeDefaults::~AttributeDefaults()
{
    for (auto former = m_former.rbegin(); former != m_former.rend(); former++)
    {
        former->type.SetAttributeInitialValue(former->index, former->value);
    }
}

} // namespace ns3::training
