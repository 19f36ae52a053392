/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "life-program.h"

#include "experiment.h"
#include "life/checkpoint-interval.h"
#include "measure/reproduction.h"
#include "record/run-statistics.h"

#include "ns3/job-life.h"
#include "ns3/json-output.h"
#include "ns3/training-quantity.h"
#include "ns3/training-run.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

/// Value of options that follow from others.
constexpr const char* AUTOMATIC = "auto";
/// Longest span, s: a hundred years.
constexpr double MOST_SECONDS = 36525 * DAY_SECONDS;

/// Most checkpoints, and most failures, of all lives of a run.
constexpr double MOST_EVENTS = 1e9;

/** Parameters of the program. */
struct LifeArguments
{
    std::string part{"all"};
    uint64_t gpus{16384};
    uint64_t serverGpus{8};
    std::string failures{"llama3"};
    Time iteration{MilliSeconds(6221)};
    double parameters{405e9};
    double parameterBytes{CHECKPOINT_PARAMETER_BYTES};
    DataRate storageRate{16000000000000};
    std::string checkpoint{AUTOMATIC};
    Time drain;
    std::string interval{AUTOMATIC};
    Time rendezvous{Seconds(300)};
    std::string load{AUTOMATIC};
    Time repair;
    uint64_t spares{0};
    double days{54};
    uint64_t lives{10};
    double price{0};
    std::string json;
};

/** @return span of an option, s; `derived` if it is auto */
double
ReadSpan(const std::string& option, const std::string& text, double derived)
{
    if (text == AUTOMATIC)
    {
        return derived;
    }
    const auto time = ParseTime(text);
    if (!time)
    {
        throw ConfigurationError("--" + option + "=" + text +
                                 " (allowed: auto, or a time with a unit: " + TIME_UNITS + ")");
    }
    return time->GetSeconds();
}

/** A job and its lives. */
class Lives
{
  public:
    /**
     * @param setting of the program
     * @throw ConfigurationError if it is invalid
     */
    explicit Lives(const LifeArguments& setting);

    void ShowLife();
    void ShowIntervals();
    void ShowPublished();

    /** @return the results */
    JsonValue ToJson() const;

    /** @return where the spans come from, one line */
    std::string DescribeInputs() const;

  private:
    PublishedTable::Printing GetPrinting() const
    {
        return m_setting.json == "-" ? PublishedTable::Printing::NEVER
                                     : PublishedTable::Printing::AT_ONCE;
    }

    std::vector<LifeAccount> Live(const LifeSpans& spans,
                                  const FailureModel& model,
                                  uint32_t nodes) const;
    double GetExpectedRatio(double interval) const;

    const LifeArguments& m_setting;
    uint32_t m_nodes;
    FailureModel m_model;
    double m_bytes;      // of a checkpoint
    double m_checkpoint; // s
    double m_load;       // s
    double m_mean;       // between failures, s
    LifeSpans m_spans;
    PublishedTable m_time;
    PublishedTable m_causes;
    PublishedTable m_intervals;
    PublishedTable m_figures;
    JsonValue m_life{JsonValue::Object()};
};

Lives::Lives(const LifeArguments& setting)
    : m_setting(setting),
      m_nodes(static_cast<uint32_t>((setting.gpus + setting.serverGpus - 1) / setting.serverGpus)),
      m_model(MakeFailureModel(setting.failures)),
      m_bytes(setting.parameters * setting.parameterBytes),
      m_checkpoint(ReadSpan("checkpoint",
                            setting.checkpoint,
                            8 * m_bytes / static_cast<double>(setting.storageRate.GetBitRate()))),
      m_load(ReadSpan("load-time",
                      setting.load,
                      8 * m_bytes / static_cast<double>(setting.storageRate.GetBitRate()))),
      m_mean(m_model.GetMeanSeconds(m_nodes)),
      m_time({{"use", "", -28},
              {"hours", "hours", 10, "%.3f"},
              {"percent", "%", 8, "%.3f"},
              {"least_percent", "least %", 8, "%.3f"},
              {"most_percent", "most %", 8, "%.3f"}},
             GetPrinting()),
      m_causes(
          {{"cause", "", -28}, {"expected", "expected", 10, "%.1f"}, {"ours", "ours", 8, "%.1f"}},
          GetPrinting()),
      m_intervals({{"interval", "", -24},
                   {"interval_s", "interval (s)", 12, "%.2f"},
                   {"iterations", "iterations", 10, "%.0f"},
                   {"expected_percent", "expected %", 10, "%.3f"},
                   {"ours_percent", "ours %", 8, "%.3f"},
                   {"confidence_95_percent", "+- (95 %)", 9, "%.3f"}},
                  GetPrinting()),
      m_figures({{"figure", "", -56},
                 {"unit", "unit", 0, "", "  ", true},
                 {"source", "source", 0, "", "  ", true},
                 {"published", "published", 10, "%.5g"},
                 {"expected", "expected", 10, "%.5g"},
                 {"ours", "ours", 10, "%.5g"}},
                GetPrinting())
{
    if (m_checkpoint > MOST_SECONDS || m_load > MOST_SECONDS)
    {
        throw ConfigurationError("--storage-rate=" + FormatRate(setting.storageRate) +
                                 " (allowed: checkpoints of less than 100 years)");
    }
    const double automatic =
        std::isinf(m_mean) ? DAY_SECONDS : GetDalyInterval(m_checkpoint, m_mean);
    double interval = ReadSpan("interval", setting.interval, automatic);
    const double iteration = setting.iteration.GetSeconds();
    if (setting.interval == AUTOMATIC)
    {
        interval = std::max(1.0, std::round(interval / iteration)) * iteration;
    }
    if (interval < iteration)
    {
        throw ConfigurationError("--interval=" + setting.interval +
                                 " (allowed: at least an iteration, " +
                                 FormatTime(setting.iteration) + ")");
    }
    // Lives are simulated event by event, those of the shortest interval of a sweep as well.
    const double seconds = static_cast<double>(setting.lives) * setting.days * DAY_SECONDS;
    if (8 * seconds / interval > MOST_EVENTS)
    {
        throw ConfigurationError(
            "--interval=" + FormatDouble(interval) +
            "s (allowed: at most 1e9 checkpoints in all lives, at an eighth of "
            "it)");
    }
    if (seconds / m_mean > MOST_EVENTS)
    {
        throw ConfigurationError("--failures=" + setting.failures +
                                 " (allowed: at most 1e9 failures in all lives)");
    }
    m_spans.interval = MakeLifeTime(interval);
    m_spans.checkpoint = MakeLifeTime(m_checkpoint);
    m_spans.drain = MakeLifeTime(setting.drain.GetSeconds());
    m_spans.restart = MakeLifeTime(setting.rendezvous.GetSeconds() + m_load);
    m_spans.repair = MakeLifeTime(setting.repair.GetSeconds());
    m_spans.spares = static_cast<uint32_t>(setting.spares);
    m_spans.duration = MakeLifeTime(setting.days * DAY_SECONDS);
}

std::vector<LifeAccount>
Lives::Live(const LifeSpans& spans, const FailureModel& model, uint32_t nodes) const
{
    std::vector<LifeAccount> accounts;
    for (uint64_t life = 0; life < m_setting.lives; life++)
    {
        FailureSequence sequence(model, nodes, static_cast<int64_t>(2 * life));
        accounts.push_back(LiveJob(spans, [&] { return sequence.Next(); }));
    }
    return accounts;
}

double
Lives::GetExpectedRatio(double interval) const
{
    const bool isClosed =
        m_model.shape == 1 && m_spans.drain.count() == 0 && m_spans.repair.count() == 0;
    return isClosed
               ? GetExpectedEfficiency(interval, m_checkpoint, ToSeconds(m_spans.restart), m_mean)
               : NONE;
}

void
Lives::ShowLife()
{
    const std::vector<LifeAccount> lives = Live(m_spans, m_model, m_nodes);
    const auto printing = GetPrinting() == PublishedTable::Printing::AT_ONCE;
    if (printing)
    {
        std::cout << m_setting.gpus << " GPUs in " << m_nodes << " nodes, "
                  << FormatDouble(m_setting.days) << " days, " << m_setting.failures << ", mean of "
                  << lives.size() << " lives\n";
    }
    m_time.PrintHeadings("");

    const struct
    {
        const char* name;
        LifeTime LifeAccount::*member;
    } uses[] = {{"productive", &LifeAccount::productive},
                {"checkpoints", &LifeAccount::checkpoint},
                {"lost by failures", &LifeAccount::lost},
                {"restarts", &LifeAccount::restart},
                {"waiting for spares", &LifeAccount::waiting},
                {"elapsed", &LifeAccount::elapsed}};

    std::vector<double> ratios;
    for (const auto& [name, member] : uses)
    {
        std::vector<double> parts;
        double seconds = 0;
        for (const LifeAccount& life : lives)
        {
            seconds += ToSeconds(life.*member) / static_cast<double>(lives.size());
            parts.push_back(100 * ToSeconds(life.*member) / ToSeconds(life.elapsed));
        }
        if (member == &LifeAccount::productive)
        {
            ratios = parts;
        }
        m_time.AddRow({name,
                       seconds / 3600,
                       EstimateMean(parts).mean,
                       *std::min_element(parts.begin(), parts.end()),
                       *std::max_element(parts.begin(), parts.end())});
    }
    m_causes.PrintHeadings("\nFailures of nodes in a life\n");
    for (uint32_t cause = 0; cause < m_model.causes.size(); cause++)
    {
        double count = 0;
        for (const LifeAccount& life : lives)
        {
            const auto found = life.byCause.find(cause);
            count += found == life.byCause.end() ? 0 : static_cast<double>(found->second);
        }
        m_causes.AddRow({m_model.causes[cause].name,
                         m_model.causes[cause].perNodeDay * m_nodes * m_setting.days,
                         count / static_cast<double>(lives.size())});
    }
    const double interval = ToSeconds(m_spans.interval);
    const MeanEstimate estimate = EstimateMean(ratios);
    const double ratio = estimate.mean / 100;
    const double seconds = m_setting.days * DAY_SECONDS;
    const double iterations = ratio * seconds / m_setting.iteration.GetSeconds();
    const double dollars = m_setting.price * static_cast<double>(m_setting.gpus) * seconds / 3600;
    m_life.Set("mean_time_between_failures_h", m_mean / 3600)
        .Set("checkpoint_bytes", m_bytes)
        .Set("checkpoint_s", m_checkpoint)
        .Set("restart_s", ToSeconds(m_spans.restart))
        .Set("interval_s", interval)
        .Set("effective_ratio", ratio)
        .Set("effective_ratio_confidence_95", estimate.halfWidth / 100)
        .Set("expected_effective_ratio", GetExpectedRatio(interval))
        .Set("iterations", iterations)
        .Set("dollars", dollars)
        .Set("dollars_per_iteration", iterations > 0 ? dollars / iterations : NONE)
        .Set("uses", m_time.GetRows())
        .Set("failures", m_causes.GetRows());
    if (!printing)
    {
        return;
    }
    const auto percent = [](double part) {
        return std::isnan(part) ? std::string("-") : FormatDouble(std::round(1e5 * part) / 1e3);
    };
    std::cout << "\neffective training time " << percent(ratio) << " %, by Daly's cost function "
              << percent(GetExpectedRatio(interval)) << " %; " << std::llround(iterations)
              << " iterations\n";
    if (m_setting.price > 0)
    {
        std::cout << "cost: " << std::llround(dollars) << " dollars, "
                  << FormatDouble(std::round(100 * dollars / iterations) / 100)
                  << " for each iteration that is kept\n";
    }
}

void
Lives::ShowIntervals()
{
    m_intervals.PrintHeadings("\nEffective training time by the work between two checkpoints; "
                              "expected: Daly's cost function\n");
    const auto add = [this](const std::string& name, double interval) {
        LifeSpans spans = m_spans;
        spans.interval = MakeLifeTime(interval);
        if (spans.interval.count() == 0)
        {
            return;
        }
        std::vector<double> ratios;
        for (const LifeAccount& life : Live(spans, m_model, m_nodes))
        {
            ratios.push_back(100 * life.GetEffectiveRatio());
        }
        const MeanEstimate estimate = EstimateMean(ratios);
        m_intervals.AddRow({name,
                            interval,
                            interval / m_setting.iteration.GetSeconds(),
                            100 * GetExpectedRatio(interval),
                            estimate.mean,
                            estimate.halfWidth});
    };
    const double given = ToSeconds(m_spans.interval);
    for (const auto& [name, factor] :
         std::vector<std::pair<std::string, double>>{{"1/8 of that used", 0.125},
                                                     {"1/4", 0.25},
                                                     {"1/2", 0.5},
                                                     {"used", 1},
                                                     {"2", 2},
                                                     {"4", 4},
                                                     {"8", 8}})
    {
        add(name, factor * given);
    }
    if (std::isinf(m_mean))
    {
        return;
    }
    add("Young 1974", GetYoungInterval(m_checkpoint, m_mean));
    add("Daly 2006", GetDalyInterval(m_checkpoint, m_mean));
    add("largest expected", GetBestInterval(m_checkpoint, m_mean));
}

void
Lives::ShowPublished()
{
    const auto ofLlama = GetPublishedCases("job-life", "llama3");
    m_figures.PrintHeadings("\nPublished figures\n");
    const auto count = [this](const FailureModel& model, uint32_t nodes, double days) {
        LifeSpans spans = m_spans;
        spans.duration = MakeLifeTime(days * DAY_SECONDS);
        std::vector<double> failures;
        for (const LifeAccount& life : Live(spans, model, nodes))
        {
            failures.push_back(static_cast<double>(life.failures));
        }
        return EstimateMean(failures).mean;
    };
    constexpr uint32_t LARGE = 16384 / 8;
    constexpr double DAYS = 54;
    const FailureModel llama = MakeFailureModel("llama3");
    const double failures = count(llama, LARGE, DAYS);
    const auto add = [&](const PublishedCase& known, double expected, double ours) {
        m_figures.AddRow({known.GetText("figure"),
                          known.GetText("unit"),
                          known.GetText("source"),
                          known.Get("published"),
                          expected,
                          ours});
    };
    add(ofLlama.at(0), llama.GetPerNodeDay() * LARGE * DAYS, failures);
    add(ofLlama.at(1), llama.GetMeanSeconds(LARGE) / 3600, 24 * DAYS / failures);
    LifeArguments setting;
    setting.lives = m_setting.lives;
    setting.json = m_setting.json;
    const Lives lives(setting);
    std::vector<double> ratios;
    for (const LifeAccount& life : lives.Live(lives.m_spans, llama, LARGE))
    {
        ratios.push_back(100 * life.GetEffectiveRatio());
    }
    add(ofLlama.at(2),
        100 * lives.GetExpectedRatio(ToSeconds(lives.m_spans.interval)),
        EstimateMean(ratios).mean);
    const FailureModel rsc = MakeFailureModel("rsc-1");
    for (const PublishedCase& job : GetPublishedCases("job-life", "rsc-1"))
    {
        constexpr double YEAR = 365;
        const auto nodes = static_cast<uint32_t>(job.GetCount("gpus") / 8);
        add(job, rsc.GetMeanSeconds(nodes) / 3600, 24 * YEAR / count(rsc, nodes, YEAR));
    }
    for (const PublishedCase& failing : GetPublishedCases("job-life", "intervals"))
    {
        const double minutes = failing.Get("minutes");
        add(failing, GetBestInterval(5, minutes), GetDalyInterval(5, minutes));
    }
    for (const PublishedCase& checkpoint : GetPublishedCases("job-life", "checkpoints"))
    {
        add(checkpoint, NONE, checkpoint.Get("gigaparameters") * CHECKPOINT_PARAMETER_BYTES);
    }
}

std::string
Lives::DescribeInputs() const
{
    const auto span = [this](const std::string& given, double seconds) {
        return FormatDouble(std::round(1e6 * seconds) / 1e6) + " s (" +
               (given == AUTOMATIC ? "derived: bytes / storage rate" : "given") + ")";
    };
    return "iteration " + FormatTime(m_setting.iteration) + " (given); checkpoint " +
           span(m_setting.checkpoint, m_checkpoint) + "; rendezvous " +
           FormatTime(m_setting.rendezvous) + " (given); load " + span(m_setting.load, m_load) +
           "; interval " + FormatDouble(std::round(1e6 * ToSeconds(m_spans.interval)) / 1e6) +
           " s (" +
           (m_setting.interval == AUTOMATIC ? "derived: Daly, whole iterations" : "given") +
           "); lives are simulated";
}

JsonValue
Lives::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("life", m_life)
        .Set("intervals", m_intervals.GetRows())
        .Set("figures", m_figures.GetRows())
        .Set("inputs", DescribeInputs());
    return document;
}

} // namespace

int
RunJobLife(const std::vector<std::string>& arguments)
{
    LifeArguments setting;
    ProgramOptions options("job-life",
                           "A job over weeks: failures, checkpoints, restarts, and their cost.");
    options.Group("Experiment");
    options.AddChoice("part",
                      "life: where the time goes; intervals: by the work between checkpoints; "
                      "published: published figures beside ours",
                      setting.part,
                      {"all", "life", "intervals", "published"});
    options.AddDouble("days", "length of a life", setting.days, 1e-3, 36500);
    options.AddUnsigned("lives", "number of lives, for means", setting.lives, 1, 100000);
    options.AddJson(setting.json);
    options.Group("Job");
    options.AddUnsigned("gpus", "GPUs of the job", setting.gpus, 1, 1 << 24);
    options.AddUnsigned("server-gpus", "GPUs of a node", setting.serverGpus, 1, 1 << 16);
    options.AddTime("iteration", "time of an iteration, see training-job", setting.iteration);
    options.AddDouble("price-gpu-hour",
                      "price of a GPU for an hour, dollars",
                      setting.price,
                      0,
                      1e6);
    options.Group("Failures");
    options.AddKind("failures",
                    "failure-log",
                    "how often nodes fail",
                    setting.failures,
                    &DescribeAlternatives<FailureLogEntry>);
    options.AddTime("rendezvous",
                    "from a failure, or a spare, until checkpoints are loaded; not published",
                    setting.rendezvous);
    options.AddString("load-time",
                      "time to load a checkpoint; auto: its size / rate",
                      setting.load);
    options.AddRenamed("load", "--load-time=VALUE", "load-time");
    options.AddTime("repair", "from a failure until the node is a spare", setting.repair);
    options.AddUnsigned("spares", "nodes besides those of the job", setting.spares, 0, 1 << 24);
    options.Group("Checkpoints");
    options.AddString("interval",
                      "work between two checkpoints; auto: by Daly's formula",
                      setting.interval);
    options.AddString("checkpoint",
                      "time that training stands still for one; auto: its size / rate",
                      setting.checkpoint);
    options.AddTime("drain", "after that, until it can be loaded", setting.drain);
    options.AddDouble("parameters", "of the model", setting.parameters, 1, 1e15);
    options.AddDouble("parameter-bytes",
                      "bytes of a checkpoint for each parameter; 14: as DeepSpeed's",
                      setting.parameterBytes,
                      0,
                      1000);
    options.AddRate("storage-rate", "rate of all storage together", setting.storageRate);
    options.Parse(arguments);
    if (!setting.iteration.IsStrictlyPositive())
    {
        throw ConfigurationError("--iteration=" + FormatTime(setting.iteration) +
                                 " (allowed: more than 0)");
    }
    const JsonOutput output(setting.json);
    Lives lives(setting);
    const ExperimentParts parts{{"life", [&] { lives.ShowLife(); }},
                                {"intervals", [&] { lives.ShowIntervals(); }},
                                {"published", [&] { lives.ShowPublished(); }}};
    for (const auto& [name, run] : parts)
    {
        if (setting.part == "all" || setting.part == name)
        {
            run();
        }
    }
    if (setting.json != "-")
    {
        std::cout << "\n" << FormatInputs(lives.DescribeInputs()) << std::flush;
    }
    JsonValue document = lives.ToJson();
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    output.Write(document);
    return 0;
}

} // namespace ns3::training
