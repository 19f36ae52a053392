/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATTRIBUTE_LIST_H
#define DISTRIBUTED_TRAINING_ATTRIBUTE_LIST_H

#include "ns3/attribute.h"
#include "ns3/object-base.h"
#include "ns3/object-factory.h"
#include "ns3/type-id.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training
 *
 * Attribute values for objects that are created later, such as the objects of one cluster. Unlike
 * defaults (Config::SetDefault()), they apply to these objects only.
 *
 * @code
 *   AttributeList list;
 *   list.Set("ns3::training::RdmaNic::AckInterval", "1");
 *   ObjectFactory factory("ns3::training::RdmaNic");
 *   list.ApplyTo(factory);
 * @endcode
 *
 * A value applies to objects of the named type and of its derived types. The attribute may be
 * inherited: if Derived inherits attribute Size from Base, Derived::Size applies to objects of
 * Derived only.
 */
class AttributeList
{
  public:
    /**
     * Sets a value and replaces an earlier value of the same name.
     * @param name full name, such as ns3::training::SwitchDevice::EcnPmax
     * @param value as text, in the units of the attribute's type
     * @throw ConfigurationError if the attribute does not exist or does not allow the value
     */
    void Set(const std::string& name, const std::string& value);

    /**
     * Sets a value from an AttributeValue.
     * @param name full name
     * @param value its value
     * @throw ConfigurationError as above
     */
    void Set(const std::string& name, const AttributeValue& value);

    /**
     * Adds the values of another list and replaces earlier values of the same names. The two lists
     * share the added entries, so both know which of them have been used.
     * @param other the other list
     */
    void Add(const AttributeList& other);

    /**
     * @param type type of the objects
     * @param attribute attribute name without the type name
     * @return whether the list has a value for objects of that type
     */
    bool Has(TypeId type, const std::string& attribute) const;

    /**
     * @param type type of the objects
     * @param attribute attribute name without the type name
     * @return the value that objects of that type get: the value in this list, or else the default
     */
    Ptr<const AttributeValue> Get(TypeId type, const std::string& attribute) const;

    /** @param factory object factory that receives the values for its type */
    void ApplyTo(ObjectFactory& factory) const;

    /** @param object object that receives the values for its type */
    void ApplyTo(ObjectBase& object) const;

    /**
     * @tparam T an Object
     * @return a new object with the values for its type
     */
    template <class T>
    Ptr<T> Create() const
    {
        ObjectFactory factory;
        factory.SetTypeId(T::GetTypeId());
        ApplyTo(factory);
        return factory.Create<T>();
    }

    /**
     * @param type type of the objects
     * @return a list of the values that apply to objects of that type
     */
    AttributeList SelectFor(TypeId type) const;

    /** @return whether the list is empty */
    bool IsEmpty() const;

    /**
     * @return "name=value" of the values not yet applied to a factory, object or AttributeDefaults
     */
    std::vector<std::string> GetUnused() const;

  private:
    friend class AttributeDefaults;

    // An attribute value.
    struct Entry
    {
        TypeId type;                     // type of the objects
        TypeId::AttributeInformation of; // attribute description
        TypeId owner;                    // type that declares it: `type` or an ancestor
        std::size_t index;               // attribute index in the owner
        std::string text;                // name=value as set
        Ptr<const AttributeValue> value;
        bool isUsed{false};
    };

    static std::shared_ptr<Entry> Find(const std::string& name, const std::string& value);
    void Add(const std::shared_ptr<Entry>& entry);

    // The most recent of several matching values wins.
    const Entry* Find(TypeId type, const std::string& attribute) const;

    std::vector<std::shared_ptr<Entry>> m_entries; // shared with the lists they were added to
};

/**
 * @ingroup distributed-training
 * @param type type of the objects
 * @param attribute attribute name
 * @return whether the type itself declares the attribute and no one has set its default, not even
 *         to the value that it has in the code
 */
bool IsDefaultUnchanged(TypeId type, const std::string& attribute);

/**
 * @ingroup distributed-training
 * Sets the attributes that a type declares, so that none can be forgotten.
 * @param type of both objects
 * @param from has the values
 * @param to receives them
 */
void CopyAttributes(TypeId type, const ObjectBase& from, ObjectBase& to);

/**
 * @ingroup distributed-training
 *
 * Scoped defaults: installs the values of a list as defaults during its lifetime and restores the
 * former defaults afterwards. For objects that ns-3 creates internally, such as the TcpSocketState
 * of a socket.
 */
class AttributeDefaults
{
  public:
    /** @param list values for the objects created during its lifetime */
    explicit AttributeDefaults(const AttributeList& list);
    ~AttributeDefaults();
    AttributeDefaults(const AttributeDefaults&) = delete;
    AttributeDefaults& operator=(const AttributeDefaults&) = delete;

  private:
    // A former default to restore.
    struct Former
    {
        TypeId type;
        std::size_t index;
        Ptr<const AttributeValue> value;
    };

    std::vector<Former> m_former; // in order of replacement
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATTRIBUTE_LIST_H
