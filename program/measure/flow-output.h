/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FLOW_OUTPUT_H
#define DISTRIBUTED_TRAINING_FLOW_OUTPUT_H

#include "flow-measurement.h"

#include "ns3/json-output.h"
#include "ns3/result-rows.h"
#include "ns3/run-files.h"

#include <memory>
#include <string>

namespace ns3::training
{

/** Where each flow goes that has ended: files of the run, a CSV file, and JSON. */
class FlowOutput
{
  public:
    /**
     * @param files of the run, if any are given
     * @param csv path of a CSV file; empty: none
     * @param lists whether JSON has each flow
     * @param cluster that is measured
     * @param configuration of the run
     */
    FlowOutput(const RunFilesOptions& files,
               const std::string& csv,
               bool lists,
               const Cluster& cluster,
               const std::string& configuration);

    /** @return the first line of a CSV file of flows */
    static std::string MakeCsvHeader();

    /** @param row a flow that has ended */
    void Add(const FlowRow& row);

    /** @param failure why the run has failed; empty: it has not */
    void Close(const std::string& failure);

    /** @return the flows for JSON */
    const JsonValue& GetList() const
    {
        return m_list;
    }

  private:
    bool m_lists;
    std::unique_ptr<RunFiles> m_files; // null: none
    std::unique_ptr<OutputFile> m_csv; // null: no file
    JsonValue m_list{JsonValue::Array()};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FLOW_OUTPUT_H
