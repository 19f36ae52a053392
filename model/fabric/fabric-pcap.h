/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_PCAP_H
#define DISTRIBUTED_TRAINING_FABRIC_PCAP_H

#include "training-fabric.h"

#include <memory>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Captures what every port of a fabric sends and receives, one file a port, named after the device
 * and the port's number on it: PREFIX-host3-0.pcap, PREFIX-switch1-2.pcap. A sent frame is recorded
 * when its transmission begins, a received one when it has arrived; times have nanoseconds.
 *
 * Files are created with the first frame and complete when this is destroyed or the simulator is.
 * If one cannot be written, the run ends by a std::runtime_error that names it. Of several
 * processes, each captures its own ports.
 */
class FabricPcap
{
  public:
    /**
     * @param fabric whose ports are captured, from now on
     * @param prefix of all files' paths
     * @throw ConfigurationError if files cannot be created there, or so many not be open at a time;
     *        nothing is created then
     */
    FabricPcap(const Fabric& fabric, const std::string& prefix);
    ~FabricPcap();
    FabricPcap(const FabricPcap&) = delete;
    FabricPcap& operator=(const FabricPcap&) = delete;

  private:
    class Files;

    static void Close(std::shared_ptr<Files> files);

    std::shared_ptr<Files> m_files; // shared with the ports, which may live longer
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PCAP_H
