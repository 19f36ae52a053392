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
 * Captures the traffic of every port of a fabric in pcap files, one file per port, named after the
 * device and its port number: PREFIX-host3-0.pcap, PREFIX-switch1-2.pcap. A sent frame is recorded
 * at the start of its transmission, a received frame on arrival. Time stamps have nanosecond
 * resolution.
 *
 * A file is created with its first frame and is complete when this object or the simulator is
 * destroyed. If a file cannot be written, the run ends with a std::runtime_error that names it. In
 * a parallel simulation, each process captures its own ports.
 */
class FabricPcap
{
  public:
    /**
     * @param fabric fabric whose ports are captured from now on
     * @param prefix path prefix of all files
     * @throw ConfigurationError if files cannot be created there, or if that many files cannot be
     *        open at the same time; then nothing is created
     */
    FabricPcap(const Fabric& fabric, const std::string& prefix);
    ~FabricPcap();
    FabricPcap(const FabricPcap&) = delete;
    FabricPcap& operator=(const FabricPcap&) = delete;

  private:
    class Files;

    static void Close(std::shared_ptr<Files> files);

    std::shared_ptr<Files> m_files; // shared with the ports, which may outlive this
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_PCAP_H
