/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PUBLISHED_TABLE_H
#define DISTRIBUTED_TRAINING_PUBLISHED_TABLE_H

#include "run-cost.h"

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
 * Table that puts simulated values beside published and expected ones: printed for people, and a
 * JSON object a row. It also adds up the cost of the simulations behind it.
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
    /// A number that is not known: "-" in print, null in JSON.
    static constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

    /** When rows are printed. */
    enum class Printing
    {
        NEVER,   ///< JSON takes the place of the table
        AT_ONCE, ///< when they are added
        AT_END   ///< by Print()
    };

    /** Description of one column. */
    struct Column
    {
        std::string key;          ///< member of JSON rows
        std::string heading;      ///< in print
        int width{0};             ///< characters; negative: left-aligned; 0: as it comes
        std::string format{"%g"}; ///< of numbers, for std::snprintf
        std::string before{" "};  ///< text in front of it, but for the first column
        bool isLast{false};       ///< printed behind all others, whatever its place in JSON
    };

    /** A value of a row. */
    using Cell = std::variant<std::string, double>;

    /**
     * @param columns in the order of JSON
     * @param printing when rows are printed
     */
    PublishedTable(std::vector<Column> columns, Printing printing);

    /** @return whether people read the output, rather than a program */
    bool IsPrinting() const;

    /**
     * Prints the headings, if rows are printed.
     * @param title lines in front of them, or empty
     */
    void PrintHeadings(const std::string& title) const;

    /** @param cells a value for each column */
    void AddRow(const std::vector<Cell>& cells);

    /**
     * Prints headings and rows of a table that is printed at the end; nothing if there are no rows.
     * @param title lines in front of the headings, or empty
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
    std::vector<std::size_t> m_order; // of columns in print
    std::string m_lines;              // not yet printed
    JsonValue m_rows{JsonValue::Array()};
    RunCost m_cost;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PUBLISHED_TABLE_H
