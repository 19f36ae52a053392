/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PUBLISHED_TABLE_H
#define DISTRIBUTED_TRAINING_PUBLISHED_TABLE_H

#include "ns3/run-cost.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * A table of simulated, published and expected values: printed, or as JSON with one object per row.
 * It also sums up the cost of the simulations.
 *
 * @code
 *   PublishedTable table({{"figure", "", -30}, {"published", "published", 9, "%.2f"},
 *                         {"ours", "ours", 9, "%.2f"}},
 *                        PublishedTable::Printing::AT_ONCE);
 *   table.PrintHeadings("Figure 7");
 *   table.AddRow({"speed-up", 2.3, measured});
 * @endcode
 */
class PublishedTable
{
  public:
    /// An unknown number: "-" in print, null in JSON.
    static constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

    /** Time of printing. */
    enum class Printing
    {
        NEVER,   ///< JSON output replaces the table
        AT_ONCE, ///< when a row is added
        AT_END   ///< by Print()
    };

    /** Description of one column. */
    struct Column
    {
        std::string key;          ///< member of JSON rows
        std::string heading;      ///< heading in print
        int width{0};             ///< characters; negative: left-aligned; 0: natural width
        std::string format{"%g"}; ///< number format for std::snprintf
        std::string before{" "};  ///< separator before the column, except for the first one
        bool isLast{false};       ///< printed after all others, whatever its place in JSON
    };

    /** A value of a row. */
    using Cell = std::variant<std::string, double>;

    /**
     * @param columns in the order of JSON
     * @param printing time of printing
     */
    PublishedTable(std::vector<Column> columns, Printing printing);

    /** @return whether the table is printed, not written as JSON */
    bool IsPrinting() const;

    /**
     * Prints the headings, if rows are printed.
     * @param title lines before them, or empty
     */
    void PrintHeadings(const std::string& title) const;

    /** @param cells one value per column */
    void AddRow(const std::vector<Cell>& cells);

    /**
     * Prints headings and rows of an AT_END table; nothing if there are no rows.
     * @param title lines before the headings, or empty
     */
    void Print(const std::string& title) const;

    /** @return the rows as a JSON array */
    const JsonValue& GetRows() const;

    /** @param cost of one more simulation */
    void AddCost(const RunCost& cost);

    /** @return cost of all simulations */
    const RunCost& GetCost() const;

  private:
    std::string FormatLine(const std::vector<std::string>& texts) const;

    std::vector<Column> m_columns;
    Printing m_printing;
    std::vector<std::size_t> m_order; // printing order of the columns
    std::string m_lines;              // not yet printed
    JsonValue m_rows{JsonValue::Array()};
    RunCost m_cost;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PUBLISHED_TABLE_H
