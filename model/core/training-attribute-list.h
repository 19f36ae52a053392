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
 * Values of attributes for objects that are yet to be made, such as those of one cluster. Unlike
 * defaults (Config::SetDefault()), they are for these objects alone.
 *
 * @code
 *   AttributeList list;
 *   list.Set("ns3::training::RdmaNic::AckInterval", "1");
 *   ObjectFactory factory("ns3::training::RdmaNic");
 *   list.ApplyTo(factory);
 * @endcode
 *
 * A value is for objects of the type named and of types derived from it. The attribute may be
 * inherited: if Derived inherits the attribute Size of Base, Derived::Size is for objects of
 * Derived only.
 */
class AttributeList
{
  public:
    /**
     * Sets a value; it replaces an earlier one of the same name.
     * @param name full name, such as ns3::training::SwitchDevice::EcnPmax
     * @param value as text, in the units of the attribute's type
     * @throw ConfigurationError if there is no such attribute, or it does not allow the value
     */
    void Set(const std::string& name, const std::string& value);

    /**
     * As above.
     * @param name full name
     * @param value its value
     * @throw ConfigurationError as above
     */
    void Set(const std::string& name, const AttributeValue& value);

    /**
     * Sets the values of another list; they replace earlier ones of the same names. Both lists know
     * then which of these values have been used.
     * @param other another list
     */
    void Add(const AttributeList& other);

    /**
     * @param type of objects
     * @param attribute name of an attribute, without its type
     * @return whether there is a value for objects of that type
     */
    bool Has(TypeId type, const std::string& attribute) const;

    /**
     * @param type of objects
     * @param attribute name of an attribute, without its type
     * @return the value that objects of that type get: that of this list, or the default
     */
    Ptr<const AttributeValue> Get(TypeId type, const std::string& attribute) const;

    /** @param factory gets the values for its type */
    void ApplyTo(ObjectFactory& factory) const;

    /** @param object gets the values for its type */
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
     * @param type of objects
     * @return a list of the values that objects of that type get
     */
    AttributeList SelectFor(TypeId type) const;

    /** @return whether there are no values */
    bool IsEmpty() const;

    /** @return "name=value" of those that were given to no factory, object or AttributeDefaults */
    std::vector<std::string> GetUnused() const;

  private:
    friend class AttributeDefaults;

    // A value of an attribute.
    struct Entry
    {
        TypeId type;                     // of the objects
        TypeId::AttributeInformation of; // the attribute
        TypeId owner;                    // type that declares it: the objects' or a parent of it
        std::size_t index;               // there
        std::string text;                // name=value as given
        Ptr<const AttributeValue> value;
        bool isUsed{false};
    };

    static std::shared_ptr<Entry> Find(const std::string& name, const std::string& value);
    void Add(const std::shared_ptr<Entry>& entry);

    // Of several values for objects of a type the last one counts.
    const Entry* Find(TypeId type, const std::string& attribute) const;

    std::vector<std::shared_ptr<Entry>> m_entries; // shared with lists that they were added to
};

/**
 * @ingroup distributed-training
 * @param type of objects
 * @param attribute name of an attribute
 * @return whether the type itself declares the attribute, and its default is that of the code
 */
bool IsDefaultUnchanged(TypeId type, const std::string& attribute);

/**
 * @ingroup distributed-training
 *
 * Makes the values of a list defaults while it lives, for objects that ns-3 makes out of reach,
 * such as the TcpSocketState of a socket. The former defaults are restored.
 */
class AttributeDefaults
{
  public:
    /** @param list values for objects that are made during the lifetime */
    explicit AttributeDefaults(const AttributeList& list);
    ~AttributeDefaults();
    AttributeDefaults(const AttributeDefaults&) = delete;
    AttributeDefaults& operator=(const AttributeDefaults&) = delete;

  private:
    // A default to be restored.
    struct Former
    {
        TypeId type;
        std::size_t index;
        Ptr<const AttributeValue> value;
    };

    std::vector<Former> m_former; // in the order in which they were replaced
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATTRIBUTE_LIST_H
