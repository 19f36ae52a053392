/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-page.h"

#include "sqlite-database.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-output-file.h"
#include "ns3/training-packed-file.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace ns3::training
{

namespace
{

/// Minimum rows of a query on a page of many runs.
constexpr uint64_t MIN_ROWS = 50;

/** A query of queries.sql. */
struct ReportQuery
{
    std::string name;
    uint64_t limit{0}; ///< rows on the page
    std::string sql;
};

/** @return content of a part of the page */
std::string
ReadPart(const std::string& name)
{
    const std::string path = std::string(DISTRIBUTED_TRAINING_REPORT) + "/" + name; // by the build
    const auto text = ReadPackedFile(path);
    if (!text || text->empty())
    {
        throw ConfigurationError("report: '" + path +
                                 "' cannot be read (allowed: where the module was built)");
    }
    return *text;
}

/** @return the text with all occurrences of a word replaced */
std::string
Replace(std::string text, const std::string& word, const std::string& by)
{
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    {
        text.replace(at, word.size(), by);
    }
    return text;
}

/** @return the queries */
std::vector<ReportQuery>
ReadQueries()
{
    std::vector<ReportQuery> queries;
    std::istringstream lines(ReadPart("queries.sql"));
    for (std::string line; std::getline(lines, line);)
    {
        const auto get = [&line](const std::string& key) {
            return line.rfind(key, 0) == 0 ? line.substr(key.size()) : "";
        };
        if (!get("-- query: ").empty())
        {
            queries.push_back({get("-- query: "), 0, ""});
        }
        else if (!get("-- limit: ").empty())
        {
            queries.back().limit = std::stoull(get("-- limit: "));
        }
        else if (line.rfind("--", 0) != 0 && !queries.empty())
        {
            queries.back().sql += line + "\n";
        }
    }
    return queries;
}

/** @return the rows of a query as JSON, or a text that describes why there are none */
std::string
Ask(SqliteDatabase& database, const std::string& sql, uint64_t limit, const std::string& path)
{
    try
    {
        auto names = JsonValue::Array();
        std::string columns;
        for (const std::string& column : database.GetColumns(sql))
        {
            names.Append(column);
            columns += (columns.empty() ? "\"" : ", \"") + column + "\"";
        }
        return "{\"columns\":" + names.Write() +
               ",\"total\":" + database.QueryValue("SELECT count(*) FROM (" + sql + ")") +
               ",\"rows\":" +
               database.QueryValue("SELECT json_group_array(json_array(" + columns + ")) FROM (" +
                                   sql + " LIMIT " + std::to_string(limit) + ")") +
               "}";
    }
    catch (const SqliteBusy&)
    {
        throw;
    }
    catch (const std::runtime_error& error)
    {
        const std::string prefix = "results file '" + path + "': ";
        const std::string text = error.what();
        return JsonValue::Object()
            .Set("missing", text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text)
            .Write();
    }
}

/** @return the rows of all queries for a run, as JSON */
std::string
Dump(SqliteDatabase& database,
     const std::string& path,
     const std::vector<ReportQuery>& queries,
     int64_t run,
     std::size_t runs)
{
    const std::string number = std::to_string(run);
    const bool hasJobs =
        database.QueryValue("SELECT count(*) FROM sqlite_master WHERE name = 'job'") != "0";
    const std::string links = hasJobs
                                  ? database.QueryValue("SELECT coalesce(max(run_id), " + number +
                                                        ") FROM job WHERE job_run_id = " + number)
                                  : number;
    std::string text = "{\"run_id\":" + number + ",\"links_of\":" + links;
    for (const ReportQuery& query : queries)
    {
        const std::string sql = Replace(Replace(query.sql, "@run", number), "@links", links);
        const uint64_t limit = std::max(query.limit / runs, std::min(query.limit, MIN_ROWS));
        text += ",\n\"" + query.name + "\":" + Ask(database, sql, limit, path);
    }
    return text + "}";
}

} // namespace

void
ReportPage::Check(const std::string& path)
{
    CheckOutputFile(path, OutputKind::PAGE);
    for (const char* part : {"queries.sql", "page.html", "plotly-basic.min.js.gz"})
    {
        ReadPart(part);
    }
}

void
ReportPage::Write(const std::string& results,
                  const std::vector<int64_t>& runs,
                  const std::string& path)
{
    const auto queries = ReadQueries();
    SqliteDatabase database(results, SqliteDatabase::Mode::WRITE); // removes its log at the end
    const std::size_t drawn = std::min(runs.size(), MAX_RUNS);
    std::string data = "{\"left_out\":" + std::to_string(runs.size() - drawn) + ",\"runs\":[\n";
    for (std::size_t i = runs.size() - drawn; i < runs.size(); i++)
    {
        data += Dump(database, results, queries, runs[i], drawn);
        data += i + 1 < runs.size() ? ",\n" : "";
    }
    data += "]}";
    std::string page = ReadPart("page.html");
    const auto insert = [&page](const std::string& mark, const std::string& text) {
        page.replace(page.find(mark), mark.size(), text);
    };
    insert("/*data*/", Replace(data, "<", "\\u003c"));         // as a tag would end the script
    insert("/*library*/", ReadPart("plotly-basic.min.js.gz")); // its mark is before the data
    WriteOutputFile(path, page);
}

} // namespace ns3::training
