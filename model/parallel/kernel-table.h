/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_KERNEL_TABLE_H
#define DISTRIBUTED_TRAINING_KERNEL_TABLE_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * Measured times of kernels. A CSV file has the header operator,shape,dtype,time and a row for each
 * kernel, such as `gemm,8192x6144x4096,bf16,1.61ms`; see LayerOperator. Empty lines and those that
 * begin with # do not count.
 */
class KernelTable
{
  public:
    /**
     * @param path of the file
     * @throw ConfigurationError with file:line if it is wrong
     */
    explicit KernelTable(const std::string& path);

    /**
     * @param kernel its kind
     * @param shape its sizes
     * @param format bf16, fp8 or fp4
     * @return its time, s; none if it was not measured
     */
    std::optional<double> Find(const std::string& kernel,
                               const std::string& shape,
                               const std::string& format) const;

    /** Tells the manifest which rows Find() found, and that others are ignored. */
    void Report() const;

  private:
    using Key = std::tuple<std::string, std::string, std::string>;

    /// A row.
    struct Row
    {
        double seconds;
        uint64_t line;
        mutable bool isUsed{false};
    };

    void ReadRow(const std::string& text, uint64_t line);

    std::string m_path;
    std::map<Key, Row> m_rows;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_KERNEL_TABLE_H
