/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"

#include "ns3/nstime.h"
#include "ns3/result-store.h"
#include "ns3/sqlite-database.h"
#include "ns3/timeline-trace.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-output-file.h"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>

namespace ns3::training::tests::training_results_test
{

/** @param path a path @return whether it exists */
bool
Exists(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0;
}

/** @return a run */
RunRow
MakeRun()
{
    return {"training-job", "1.0", 7, R"({"ranks":2})"};
}

/** JSON text, including escapes. */
void
TestJsonWriter()
{
    auto object = JsonValue::Object();
    object.Set("text", "a\"b\\c\n\t\x01/").Set("none", JsonValue()).Set("yes", true);
    object.Set("list", JsonValue::Array().Append(1).Append(-2.5).Append(JsonValue::Array()));
    NS_TEST_EXPECT_MSG_EQ(object.Write(),
                          R"({"text":"a\"b\\c\n\u0009\u0001/","none":null,"yes":true,)"
                          R"("list":[1,-2.5,[]]})",
                          "one line");
    NS_TEST_EXPECT_MSG_EQ(JsonValue::Object().Set("a", JsonValue::Array().Append(1)).Write(2),
                          "{\n  \"a\": [\n    1\n  ]\n}",
                          "indented");
    NS_TEST_EXPECT_MSG_EQ(JsonValue::Object().Write(2), "{}", "empty object");

    constexpr uint64_t MOST = std::numeric_limits<uint64_t>::max();
    NS_TEST_EXPECT_MSG_EQ(JsonValue(MOST).Write(), "18446744073709551615", "64 bits");
    NS_TEST_EXPECT_MSG_EQ(JsonValue(std::nan("")).Write(), "null", "NaN");
    NS_TEST_EXPECT_MSG_EQ(JsonValue(-std::numeric_limits<double>::infinity()).Write(),
                          "null",
                          "infinity");
    NS_TEST_EXPECT_MSG_EQ(JsonValue(0.1).Write(), "0.1", "shortest");
    for (const double value : {1.0 / 3,
                               6.02214076e23,
                               -1e-300,
                               123456789.123456789,
                               std::numeric_limits<double>::denorm_min(),
                               std::numeric_limits<double>::max()})
    {
        NS_TEST_EXPECT_MSG_EQ(std::strtod(JsonValue(value).Write().c_str(), nullptr),
                              value,
                              "round trip");
    }

    NS_TEST_EXPECT_MSG_EQ(QuoteJson("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80"),
                          "\"\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80\"",
                          "UTF-8 stays");
    NS_TEST_EXPECT_MSG_EQ(QuoteJson("\xE4|\xC0\xAF|\xED\xA0\x80|\xE2\x82"),
                          R"("\ufffd|\ufffd\ufffd|\ufffd\ufffd\ufffd|\ufffd\ufffd")",
                          "what is not UTF-8 is replaced");
    NS_TEST_EXPECT_MSG_EQ(QuoteJson(std::string("a\0b", 3)), R"("a\u0000b")", "zero byte");
}

/** Valid and invalid locations of output files. */
void
TestOutputFile()
{
    const std::string good = MakePath("good.json");
    const auto check = [&](OutputKind kind) {
        return GetRefusal([&] { CheckOutputFile(good, kind); });
    };
    NS_TEST_EXPECT_MSG_EQ(check(OutputKind::RESULTS), "", "can be created");
    NS_TEST_EXPECT_MSG_EQ(Exists(good), false, "but has not been");
    const std::vector<std::pair<OutputKind, std::string>> contents{
        {OutputKind::RESULTS, "{\n  \"rows\": [],\n  \"version\": \"1\"\n}\n"},
        {OutputKind::RESULTS,
         "{\n  \"version\": \"1\",\n  \"inputs\": \"" + std::string(1000, 'x') +
             "\",\n  \"schema\": 3\n}\n"},
        {OutputKind::TIMELINE, "[\n{\"ph\":\"M\"}\n]\n"},
        {OutputKind::TOPOLOGY, "{\n  \"hosts\": 2}\n"},
        {OutputKind::SCHEDULE, "{\n  \"format\": \"distributed-training schedule 1\"}\n"},
        {OutputKind::SCHEDULE, "<algo name=\"a\"/>"},
        {OutputKind::CAPTURE, "\xd4\xc3\xb2\xa1 and more"},
        {OutputKind::ANY, "SQLite format 3"},
        {OutputKind::ANY, "name,parameters,forward_us\n"}};
    for (const auto& [kind, content] : contents)
    {
        std::ofstream(good, std::ios::binary) << content;
        for (const auto& [other, unused] : contents)
        {
            const bool isAllowed = other == kind || other == OutputKind::ANY;
            NS_TEST_EXPECT_MSG_EQ(check(other).empty(), isAllowed, content << check(other));
        }
        NS_TEST_EXPECT_MSG_EQ(ReadFile(good), content, "checks change nothing");
    }
    std::ofstream(good, std::ios::binary) << "";
    NS_TEST_EXPECT_MSG_EQ(check(OutputKind::RESULTS), "", "an empty file is of every kind");

    const std::string directory = CreateTempDirFilename("");
    for (const auto& bad : {std::string(),
                            directory,
                            directory + "/missing/",
                            directory + "/missing/file",
                            good + "/file"})
    {
        const auto refusals = {GetRefusal([&] { CheckOutputFile(bad, OutputKind::ANY); }),
                               GetRefusal([&] { TimelineTrace trace(bad); }),
                               GetRefusal([&] { ResultStore store(bad, MakeRun()); })};
        for (const auto& message : refusals)
        {
            ExpectPart(message, "'" + bad + "'");
            NS_TEST_EXPECT_MSG_EQ(message.find('\n'), std::string::npos, message);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(Exists(directory + "/missing"), false, "nothing created");
}

/** A file has its name only when it is complete. */
void
TestOutputFileReplacement()
{
    const std::string path = MakePath("whole.json");
    const std::string link = MakePath("link.json");
    WriteOutputFile(path, "old");
    const std::string target = path.substr(path.rfind('/') + 1);
    NS_TEST_ASSERT_MSG_EQ(symlink(target.c_str(), link.c_str()), 0, "a link");
    std::string growing;
    {
        OutputFile file(link);
        growing = file.GetGrowingName();
        file.Write("new ");
        NS_TEST_EXPECT_MSG_EQ(ReadFile(path), "old", "unchanged");
        NS_TEST_EXPECT_MSG_EQ(ReadFile(growing), "new ", "grows beside it");
    }
    NS_TEST_EXPECT_MSG_EQ(ReadFile(path), "old", "given up");
    NS_TEST_EXPECT_MSG_EQ(Exists(growing), false, "nothing is left");
    {
        OutputFile file(link);
        file.Write("new ");
        file.Write("text");
        file.Commit();
    }
    NS_TEST_EXPECT_MSG_EQ(ReadFile(path), "new text", "replaced");
    NS_TEST_EXPECT_MSG_EQ(ReadFile(link), "new text", "the link is followed");
    NS_TEST_EXPECT_MSG_EQ(Exists(growing), false, "nothing is left");
    bool isTold = false;
    try
    {
        WriteOutputFile("/dev/full", "text");
    }
    catch (const ConfigurationError&)
    {
    }
    catch (const std::runtime_error& error)
    {
        isTold = std::string(error.what()).find("'/dev/full'") != std::string::npos;
    }
    NS_TEST_EXPECT_MSG_EQ(isTold, true, "a full device");
    std::remove(path.c_str());
    NS_TEST_EXPECT_MSG_EQ(IsSameFile(path, link), true, "by a link to nothing");
    WriteOutputFile(link, "again");
    NS_TEST_EXPECT_MSG_EQ(ReadFile(path), "again", "by a link to nothing");
    NS_TEST_EXPECT_MSG_EQ(IsSameFile(path, link), true, "by a link");
    NS_TEST_EXPECT_MSG_EQ(IsSameFile(path + "x", path + "x"), true, "not yet there");
    NS_TEST_EXPECT_MSG_EQ(IsSameFile(path, path + "x"), false, "another");
    NS_TEST_EXPECT_MSG_EQ(IsSameFile("/dev/null", "/dev/null"), false, "a device");
}

/** Text of a trace, complete and incomplete. */
void
TestTimelineTrace()
{
    const std::string path = MakePath("trace.json");
    const std::string step =
        R"({"ph":"X","pid":3,"tid":3,"ts":1000000000.000001,"dur":0.000020,"name":"a \"b\"",)"
        R"("args":{"bytes":8}})";
    {
        TimelineTrace trace(path);
        trace.AddProcess(3, "rank 3");
        trace.Complete(3,
                       TimelineTrace::STEPS,
                       "a \"b\"",
                       Seconds(1000) + PicoSeconds(1),
                       Seconds(1000) + PicoSeconds(21),
                       JsonValue::Object().Set("bytes", 8));
        trace.Flush();
        const std::string unfinished = ReadFile(trace.GetGrowingName());
        NS_TEST_EXPECT_MSG_EQ(Exists(path), false, "not yet under its name");
        NS_TEST_EXPECT_MSG_EQ(unfinished.substr(0, 2), "[\n", "begin");
        NS_TEST_EXPECT_MSG_EQ(unfinished.substr(unfinished.size() - step.size()),
                              step,
                              "ends with a whole event");
        trace.Complete(3, TimelineTrace::COMPUTE, "forward", Time(0), MicroSeconds(2));
        trace.Close();
        trace.Close();
    }
    const std::string text = ReadFile(path);
    for (const std::string part :
         {R"({"ph":"M","name":"process_name","pid":3,"tid":0,"args":{"name":"rank 3"}})",
          R"({"ph":"M","name":"thread_name","pid":3,"tid":1,"args":{"name":"compute"}})",
          R"({"ph":"M","name":"thread_name","pid":3,"tid":2,"args":{"name":"collectives"}})",
          R"({"ph":"M","name":"thread_name","pid":3,"tid":3,"args":{"name":"steps"}})",
          R"({"ph":"X","pid":3,"tid":1,"ts":0.000000,"dur":2.000000,"name":"forward"})"})
    {
        ExpectPart(text, part);
    }
    ExpectPart(text, step);
    NS_TEST_EXPECT_MSG_EQ(text.substr(text.size() - 5), "\"}\n]\n", "end");

    {
        const TimelineTrace empty(path);
    }
    NS_TEST_EXPECT_MSG_EQ(ReadFile(path), "[\n]\n", "no events, and the old ones are gone");
}

struct ResultViewTestCase
{
    /** @param sql a query @param rows what it gives */
    void Expect(const std::string& sql, const std::vector<std::vector<std::string>>& rows)
    {
        NS_TEST_EXPECT_MSG_EQ(ResultStore::Query(path, sql), rows, sql);
    }

    void Run()
    {
        path = MakePath("views.sqlite");
        {
            ResultStore store(path, MakeRun());
            // Rank 1 is late with bucket 0, and must wait for its turn.
            store.Add(CollectiveRow{0, 0, 0, "all-reduce", "ring", 8, 1, 3, 0, 1, "fc"});
            store.Add(CollectiveRow{1, 0, 0, "all-reduce", "ring", 8, 1.5, 3.25, 0, 2, "fc"});
            store.Add(CollectiveRow{0, 0, 1, "all-reduce", "ring", 4, 1.5, 4, 0, 3.25, "a to b"});
            store.Add(MessageRow{0, 1, 1, 125, 1, 2});
            store.Add(MessageRow{1, 0, 2, 125, 1, 3});
            store.Add(MessageRow{1, 2, 3, 0, 1, 1});
            store.Add(
                LinkCounterRow{"leaf3", 2, "spine1", 9, 1, 0, 1, 0, 0.75, 0, 0, 0, 100, 0.5, 0});
            store.Add(
                LinkCounterRow{"spine1", 1, "leaf3", 9, 1, 0, 6, 0, 1.5, 0, 0, 0, 100, 1, 0.25});
            store.Add(
                LinkCounterRow{"spine1", 2, "leaf4", 9, 1, 0, 1, 0, 0.5, 0, 0, 0, 100, 0.3, 0});
            store.Finish();
            ResultStore quiet(path, MakeRun());
            quiet.Add(
                LinkCounterRow{"host0", 0, "host1", 9, 1, 0, 0, 0, 0.5, 0, 0, 0, 100, 0.25, 0});
            quiet.Finish();
        }
        Expect("SELECT bucket, layers, bytes, ranks, ready_s, start_s, end_s FROM bucket",
               {{"0", "fc", "8", "2", "1.0", "2.0", "3.25"},
                {"1", "a to b", "4", "1", "1.5", "3.25", "4.0"}});
        Expect("SELECT layers, wait_s, network_s FROM bucket_wait",
               {{"fc", "1.0", "1.25"}, {"a to b", "1.75", "0.75"}});
        Expect("SELECT run_id, link, utilization, paused_s, pause_share FROM bottleneck",
               {{"1", "spine1 -> leaf3", "1.0", "0.25", "0.875"},
                {"2", "host0 -> host1", "0.25", "0.0", "0.0"}});
        Expect("SELECT source, destination, time_s, rate_Gbps FROM slowest_message",
               {{"1", "0", "2.0", "5.0e-07"}, {"0", "1", "1.0", "1.0e-06"}, {"1", "2", "0.0", ""}});
        // As a file of a program that knew neither views nor turns.
        SqliteDatabase(path, SqliteDatabase::Mode::WRITE)
            .Execute("DROP VIEW binding; DROP VIEW bucket_wait; DROP VIEW bucket; DROP TABLE "
                     "link_iteration;"
                     "ALTER TABLE collective DROP COLUMN turn_s");
        ResultStore(path, MakeRun()).Finish();
        Expect("SELECT layers, wait_s, network_s FROM bucket_wait",
               {{"fc", "0.5", "1.75"}, {"a to b", "0.0", "2.5"}});
        Expect("SELECT count(*) FROM link_iteration", {{"0"}});
        // An older program does not name the new columns.
        SqliteDatabase(path, SqliteDatabase::Mode::WRITE)
            .Execute("INSERT INTO message (run_id, source) VALUES (3, 1)");
        Expect("SELECT source, step FROM message WHERE run_id = 3", {{"1", "0"}});
    }

    std::string path; ///< the file
};

/** Stored values can be read back. */
struct ResultStoreTestCase
{
    /** @param sql a query @return its only value */
    std::string Get(const std::string& sql)
    {
        const auto rows = ResultStore::Query(path, sql);
        return rows.empty() ? "no row" : rows[0][0];
    }

    void Run()
    {
        path = MakePath("results.sqlite");
        ResultStore::Check(path);
        NS_TEST_EXPECT_MSG_EQ(Exists(path), false, "checking creates nothing");
        {
            ResultStore store(path, MakeRun());
            NS_TEST_EXPECT_MSG_EQ(store.GetRunId(), 1, "first run");
            NS_TEST_EXPECT_MSG_EQ(Get("PRAGMA user_version"), "1", "version of the layout");
            NS_TEST_EXPECT_MSG_EQ(Get("PRAGMA journal_mode"), "wal", "write-ahead log");
            NS_TEST_EXPECT_MSG_EQ(Get("SELECT state FROM run"), "unfinished", "at first");
            NS_TEST_EXPECT_MSG_EQ(Get("SELECT finished IS NULL FROM run"), "1", "at first");
            const CollectiveRow collective{1,
                                           0,
                                           2,
                                           "all-reduce",
                                           "ring",
                                           5000000000,
                                           0.25,
                                           0.5,
                                           6,
                                           0.375,
                                           "a to b"};
            store.Add(collective);
            store.Add(MessageRow{0, 1, 77, 125, 0.125, 0.25, 3, 4, 5, 6});
            const LinkCounterRow counter{"switch 0",
                                         3,
                                         "host 1",
                                         1000,
                                         10,
                                         2,
                                         1,
                                         4,
                                         0.5,
                                         4096,
                                         3,
                                         5,
                                         100000,
                                         0.5,
                                         0.25};
            store.Add(counter);
            store.Add(LinkIterationRow{7, "switch 0", 3, "host 1", 2, 1000, 10, 1, 4, 0.5, 0.125});
            NS_TEST_EXPECT_MSG_EQ(Get("SELECT count(*) FROM message"), "0", "kept in memory");
            IterationRecord record;
            record.warmup = true;
            record.endS = 1;
            record.iterationTimeS = 1;
            record.computeTimeS = 0.75;
            record.stragglerTimeS = 0.0625;
            record.communicationTimeS = 0.5;
            record.idleS = 0.625;
            record.exposedCommunicationS = 0.25;
            record.bubbleS = 0.03125;
            record.exposedDataS = 0.125;
            record.exposedTensorS = 1.5;
            record.exposedPipelineS = 2.5;
            record.exposedContextS = 3.5;
            record.exposedExpertS = 4.5;
            record.exposedOtherS = 5.5;
            record.otherIdleS = 6.5;
            record.overlapCostS = 7.5;
            record.busbwGBps = 12.5;
            record.lowerBoundS = 0.375;
            record.scalingEfficiency = 0.75;
            record.verified = true;
            store.AddIteration(record);
            NS_TEST_EXPECT_MSG_EQ(Get("SELECT count(*) FROM message"), "1", "written");
            store.Finish();
        }
        NS_TEST_EXPECT_MSG_EQ(Get("SELECT program || version || seed || configuration || state "
                                  "FROM run WHERE reason IS NULL"),
                              R"(training-job1.07{"ranks":2}finished)",
                              "run");
        NS_TEST_EXPECT_MSG_EQ(Get("SELECT started GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9]["
                                  "0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z' AND finished >= started "
                                  "FROM run"),
                              "1",
                              "ISO 8601");
        const std::vector<std::pair<std::string, std::string>> tables{
            {"iteration",
             "1|0|1|0.0|1.0|1.0|0.75|0.0625|0.5|0.625|0.25|0.03125|0.125|1.5|2.5|3.5|4.5|5.5|6.5|7."
             "5|"
             "12.5|"
             "0.375|0.75|1|0|"},
            {"collective", "1|1|0|2|all-reduce|ring|5000000000|0.25|0.5|6|0.375|a to b|0|"},
            {"message", "1|0|1|77|125|0.125|0.25|3|4|5|6|0|"},
            {"link_counter", "1|switch 0|3|host 1|1000|10|2|1|4|0|0.5|4096|3|5|100000|0.5|0.25|"},
            {"link_iteration", "1|7|switch 0|3|host 1|2|1000|10|1|4|0.5|0.125|"}};
        for (const auto& [table, expected] : tables)
        {
            const auto rows = ResultStore::Query(path, "SELECT * FROM " + table);
            NS_TEST_ASSERT_MSG_EQ(rows.size(), 1, table);
            std::string row;
            for (const std::string& value : rows[0])
            {
                row += value + "|";
            }
            NS_TEST_EXPECT_MSG_EQ(row, expected, table);
        }

        {
            ResultStore store(path, MakeRun());
            NS_TEST_EXPECT_MSG_EQ(store.GetRunId(), 2, "second run");
            store.Add(LinkCounterRow{"host 0", 0, "switch 0", 1, 1, 0, 0, 0, 0, 0});
            store.Fail("rank 1 waits for 'it'");
        }
        NS_TEST_EXPECT_MSG_EQ(Get("SELECT state || ': ' || reason FROM run WHERE run_id = 2"),
                              "failed: rank 1 waits for 'it'",
                              "failed run");
        NS_TEST_EXPECT_MSG_EQ(Get("SELECT count(*) FROM link_counter WHERE run_id = 2"),
                              "1",
                              "counters of a failed run");

        const pid_t child = fork();
        if (child == 0)
        {
            ResultStore store(path, MakeRun());
            store.AddIteration({});
            store.Add(MessageRow{});
            std::raise(SIGKILL);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        NS_TEST_EXPECT_MSG_EQ(WIFSIGNALED(status), true, "killed");
        NS_TEST_EXPECT_MSG_EQ(Get("SELECT state FROM run WHERE run_id = 3"),
                              "unfinished",
                              "killed");
        NS_TEST_EXPECT_MSG_EQ(Get("SELECT count(*) FROM iteration WHERE run_id = 3"),
                              "1",
                              "iterations of a killed run");
        ResultStore(path, MakeRun()).Finish();
        NS_TEST_EXPECT_MSG_EQ(Get("SELECT state FROM run WHERE run_id = 4"), "finished", "goes on");

        // A file of a version that did not know a column.
        const std::string rows = Get("SELECT count(*) FROM iteration");
        SqliteDatabase(path, SqliteDatabase::Mode::WRITE)
            .Execute("ALTER TABLE iteration DROP COLUMN straggler_time_s");
        {
            ResultStore store(path, MakeRun());
            store.AddIteration(
                {0, true, false, 0, 1, 1, 0.75, 0.125, 0.5, 0.25, 12.5, 0.375, 0.75, true});
            store.Finish();
        }
        NS_TEST_EXPECT_MSG_EQ(
            Get("SELECT count(*) FROM iteration WHERE straggler_time_s = 0 AND run_id < 5"),
            rows,
            "older rows");
        NS_TEST_EXPECT_MSG_EQ(Get("SELECT straggler_time_s FROM iteration WHERE run_id = 5"),
                              "0.125",
                              "new rows");
    }

    std::string path; ///< the file
};

/** Locks of other programs lose no rows. */
void
TestResultStoreLock()
{
    const std::string path = MakePath("locked.sqlite");
    const auto count = [&path](const std::string& table) {
        return ResultStore::Query(path, "SELECT count(*) FROM " + table)[0][0];
    };
    {
        ResultStore store(path, MakeRun());
        {
            SqliteDatabase other(path, SqliteDatabase::Mode::WRITE);
            other.Execute("BEGIN IMMEDIATE");
            for (uint32_t i = 0; i < 3; i++)
            {
                IterationRecord record;
                record.iteration = i;
                store.Add(MessageRow{});
                store.AddIteration(record);
            }
            NS_TEST_EXPECT_MSG_EQ(count("iteration"), "0", "rows wait");
            other.Execute("COMMIT");
        }
        IterationRecord last;
        last.iteration = 3;
        store.AddIteration(last);
        NS_TEST_EXPECT_MSG_EQ(count("iteration"), "4", "all rows are written");
        NS_TEST_EXPECT_MSG_EQ(count("message"), "3", "all rows are written");
        std::remove(path.c_str());
        bool isTold = false;
        try
        {
            last.iteration = 4;
            store.AddIteration(last);
        }
        catch (const std::runtime_error& error)
        {
            isTold = std::string(error.what()).find("deleted") != std::string::npos;
        }
        NS_TEST_EXPECT_MSG_EQ(isTold, true, "a deleted file is noticed");
    }
    NS_TEST_EXPECT_MSG_EQ(Exists(path), false, "and not made again");
}

/** @param content content of a file @param part text that the message must contain */
void
Refuse(const std::string& content, const std::string& part)
{
    const std::string path = MakePath("refused.sqlite");
    std::ofstream(path, std::ios::binary) << content;
    const auto refusals = {GetRefusal([&] { ResultStore::Check(path); }),
                           GetRefusal([&] { ResultStore store(path, MakeRun()); })};
    for (const auto& message : refusals)
    {
        ExpectPart(message, part);
        ExpectPart(message, "'" + path + "'");
        NS_TEST_EXPECT_MSG_EQ(message.find('\n'), std::string::npos, message);
    }
    NS_TEST_EXPECT_MSG_EQ(ReadFile(path), content, "changed: " << part);
    for (const std::string suffix : {"-wal", "-shm", "-journal"})
    {
        NS_TEST_EXPECT_MSG_EQ(Exists(path + suffix), false, suffix << " is left behind: " << part);
    }
}

void
TestResultStoreRefusal()
{
    const std::string path = MakePath("good.sqlite");
    {
        ResultStore store(path, MakeRun());
        for (uint32_t message = 0; message < 1000; ++message)
        {
            store.Add(MessageRow{0, 1, message, 1, 0, 1});
        }
        store.Finish();
    }
    const std::string good = ReadFile(path);
    NS_TEST_ASSERT_MSG_GT(good.size(), 20000, "several pages");

    Refuse("layer,parameters\n", "is not an SQLite database");
    Refuse(std::string(200, 'x'), "is not an SQLite database");
    Refuse("SQLite format 3", "is not an SQLite database");

    constexpr std::size_t USER_VERSION = 60; // big-endian, in the file's header
    std::string newer = good;
    newer[USER_VERSION + 3] = 2;
    Refuse(newer, "layout version 2 of a newer program (allowed: up to 1)");
    newer[USER_VERSION] = 0x7F;
    Refuse(newer, "of a newer program");

    std::string foreign = good;
    foreign[USER_VERSION + 3] = 0;
    Refuse(foreign, "is a database of something else");

    Refuse(good.substr(0, good.size() / 2), "malformed");
    std::string corrupt = good;
    corrupt.replace(good.size() / 2, 5000, std::string(5000, '\xA5'));
    Refuse(corrupt, "corrupt");

    std::ofstream(path, std::ios::binary) << "";
    NS_TEST_EXPECT_MSG_EQ(GetRefusal([&] { ResultStore store(path, MakeRun()); }),
                          "",
                          "an empty file is as good as none");
}

/** @return exit status */
int
Append(const std::string& path, uint32_t process, uint32_t iterations, uint32_t messages)
{
    try
    {
        RunRow run = MakeRun();
        run.seed = process;
        ResultStore store(path, run);
        for (uint32_t iteration = 0; iteration < iterations; ++iteration)
        {
            for (uint32_t message = 0; message < messages; ++message)
            {
                store.Add(MessageRow{process, 0, message, 1, 0, 1});
            }
            IterationRecord row;
            row.iteration = iteration;
            store.AddIteration(row);
        }
        store.Finish();
        return 0;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

/** Processes that create and append to the same file concurrently. */
void
TestResultStoreConcurrency()
{
    constexpr uint32_t PROCESSES = 8;
    constexpr uint32_t ITERATIONS = 5;
    constexpr uint32_t MESSAGES = 20;
    const std::string path = MakePath("shared.sqlite");
    int starter[2];
    NS_TEST_ASSERT_MSG_EQ(pipe(starter), 0, "pipe");
    std::vector<pid_t> children;
    for (uint32_t process = 0; process < PROCESSES; ++process)
    {
        const pid_t child = fork();
        NS_TEST_ASSERT_MSG_NE(child, -1, "fork");
        if (child == 0)
        {
            char byte;
            close(starter[1]);
            [[maybe_unused]] const auto end = read(starter[0], &byte, 1); // until all are ready
            _exit(Append(path, process, ITERATIONS, MESSAGES));
        }
        children.push_back(child);
    }
    close(starter[0]);
    close(starter[1]);
    for (const pid_t child : children)
    {
        int status = 0;
        waitpid(child, &status, 0);
        NS_TEST_EXPECT_MSG_EQ((WIFEXITED(status) && WEXITSTATUS(status) == 0),
                              true,
                              "a process failed");
    }

    const auto runs = ResultStore::Query(path, "SELECT run_id, seed, state FROM run");
    std::set<std::string> seeds;
    for (const auto& run : runs)
    {
        seeds.insert(run[1]);
        NS_TEST_EXPECT_MSG_EQ(run[2], "finished", "state");
    }
    NS_TEST_EXPECT_MSG_EQ(runs.size(), PROCESSES, "runs");
    NS_TEST_EXPECT_MSG_EQ(seeds.size(), PROCESSES, "seeds");
    const auto counts = ResultStore::Query(
        path,
        "SELECT (SELECT count(*) FROM iteration WHERE iteration.run_id = run.run_id), "
        "(SELECT count(*) FROM message WHERE message.run_id = run.run_id AND source = seed) "
        "FROM run");
    for (const auto& count : counts)
    {
        NS_TEST_EXPECT_MSG_EQ(count[0], std::to_string(ITERATIONS), "iterations");
        NS_TEST_EXPECT_MSG_EQ(count[1], std::to_string(ITERATIONS * MESSAGES), "messages");
    }
    NS_TEST_EXPECT_MSG_EQ(ResultStore::Query(path, "PRAGMA integrity_check")[0][0],
                          "ok",
                          "integrity");
}

const Suite g_suite(
    "training-results",
    Duration::EXTENSIVE,
    {{"JSON: objects, arrays, numbers, strings", TestJsonWriter},
     {"output files: refused before anything is created", TestOutputFile},
     {"output files: complete or unchanged", TestOutputFileReplacement},
     {"timeline: processes, tracks, picoseconds, unfinished file", TestTimelineTrace},
     {"results: all tables, states of a run, a killed run", RunTest<ResultStoreTestCase>},
     {"results: views answer questions, files of older programs get them",
      RunTest<ResultViewTestCase>},
     {"results: a locked file, a deleted file", TestResultStoreLock},
     {"results: newer, corrupt and foreign files are refused, untouched", TestResultStoreRefusal},
     {"results: eight processes create and fill one file at once", TestResultStoreConcurrency}});

} // namespace ns3::training::tests::training_results_test
