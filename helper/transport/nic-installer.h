/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NIC_INSTALLER_H
#define DISTRIBUTED_TRAINING_NIC_INSTALLER_H

#include "ns3/object-factory.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-fabric.h"
#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What installs NICs of a transport with a congestion control.
 *
 * @tparam NIC a type of NICs
 * @tparam ENTRY the kind of their congestion controls, see Registry
 */
template <class NIC, class ENTRY>
class NicInstaller
{
  public:
    /**
     * @param attributes of NICs, congestion controls and switches; they override those set by name
     *        or key
     */
    void SetAttributes(const AttributeList& attributes)
    {
        m_attributes = attributes;
    }

  protected:
    /**
     * @param congestionControl NAME or NAME:key=value,...
     * @param transport its name, for messages
     * @return its keys
     * @throw ConfigurationError if the name is unknown or a key is wrong
     */
    KeyValues Choose(const std::string& congestionControl, const std::string& transport)
    {
        if (!Registry<ENTRY>::All().count(KeyValues::Split(congestionControl).GetName()))
        {
            throw ConfigurationError("congestion control",
                                     congestionControl,
                                     " (allowed with " + transport + ": " +
                                         Registry<ENTRY>::Names() + ")");
        }
        const auto choice = training::Choose<ENTRY>(congestionControl);
        m_congestionControl = choice.entry;
        m_keys = choice.values.GetAttributes(GetKeys(*choice.entry));
        return choice.values;
    }

    /** @return makes congestion controls */
    ObjectFactory MakeControls() const
    {
        ObjectFactory controls;
        controls.SetTypeId(m_congestionControl->getTypeId());
        m_keys.ApplyTo(controls);
        m_attributes.ApplyTo(controls);
        return controls;
    }

    /**
     * @param fabric whose hosts have no NICs yet
     * @param hosts number of hosts with NICs: hosts 0 to hosts - 1
     * @param nics makes NICs
     * @param prepare called with each, before it is attached to its device
     * @return the NICs, by host and rail
     */
    template <class F>
    std::vector<std::vector<Ptr<NIC>>> InstallNics(const Fabric& fabric,
                                                   uint32_t hosts,
                                                   const ObjectFactory& nics,
                                                   const F& prepare) const
    {
        const ObjectFactory controls = MakeControls();
        std::vector<std::vector<Ptr<NIC>>> installed(hosts);
        for (uint32_t host = 0; host < hosts; host++)
        {
            for (const auto& device : fabric.rails[host])
            {
                const auto nic = nics.Create<NIC>();
                nic->SetCongestionControl(controls);
                prepare(*nic);
                nic->Attach(device);
                installed[host].push_back(nic);
                device->AggregateObject(nic);
            }
        }
        return installed;
    }

    const ENTRY* m_congestionControl{nullptr}; ///< in use
    AttributeList m_keys;                      ///< values of its preset and keys
    AttributeList m_attributes;                ///< see SetAttributes()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NIC_INSTALLER_H
