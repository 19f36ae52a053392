/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The parameter server in a switch that Hashmi proposes ("Towards Alleviating Bottlenecks in
 * Distributed Training of Deep Neural Nets"), and the one that Itsubo et al. built (IEICE
 * Transactions 2021): what they report next to closed forms and to simulations.
 *
 *   ./ns3w run switch-parameter-server
 */

#include "hidden-global-values.h"

#include "ns3/experiment.h"
#include "ns3/fabric-border.h"
#include "ns3/published-table.h"
#include "ns3/recorded-collectives.h"
#include "ns3/roce-wire-format.h"
#include "ns3/switch-ps-optimizer.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-run.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// An unknown number.
constexpr double NONE = PublishedTable::UNKNOWN;
/// Workers of the paper, besides the server.
constexpr uint32_t WORKERS = 3;
/// Samples of a worker and iteration; not published.
constexpr uint64_t BATCH = 32;
/// Rate of the links, bit/s. The text prints 10 GB/s, which no switch of that time had.
constexpr double LINE = 10e9;
/// Numbers in a packet of the switch, a jumbo frame; not published.
constexpr uint32_t ELEMENTS = 1024;
/// Forward and backward pass of ResNet-50 with 16 images on GPUs called Titan X with 12 GB, s, from
/// cnn-benchmarks (J. Johnson, Torch, cuDNN 5). The paper does not tell which it used.
constexpr double PASCAL = 103.58e-3;
constexpr double MAXWELL = 171.02e-3;
constexpr double MEASURED_BATCH = 16;
/// Iteration of a worker in SwitchML's simulations, a V100, s.
constexpr double SWITCHML_V100 = 0.32;
/// Where figures come from.
constexpr const char* PAPER = "Hashmi";
constexpr const char* CITED = "Hashmi, cited";
constexpr const char* ITSUBO = "Itsubo, abstract";

/** Parameters of the simulation. */
struct Setting
{
    std::string part{"all"};
    Time interval{MilliSeconds(5)};
    std::string json;
    RunFilesOptions files;
};

/** @return options of hosts on a switch of the paper */
ClusterOptions
MakeOptions(uint32_t ranks, const std::string& algorithm)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.algorithm = algorithm;
    options.rate = DataRate(static_cast<uint64_t>(LINE));
    return options;
}

/** @return the switch as parameter server, with more attributes */
std::string
MakeSwitch(const std::string& more = "")
{
    return "switch-ps:elements-per-packet=" + std::to_string(ELEMENTS) + ",slots=64" + more;
}

/** @return bits on the line per byte of data between hosts */
double
GetLineBits(uint32_t mtu)
{
    return 8.0 * (GetDataFrameBytes(WRITE_MIDDLE, mtu) + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) /
           mtu;
}

/** @return bits on the line per byte of data between hosts and the switch */
double
GetSwitchLineBits()
{
    return 8.0 * (GetSwitchPsFrameBytes(ELEMENTS) + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) /
           (4.0 * ELEMENTS);
}

/** @return activations that ResNet-50 keeps for its backward pass, by layer, bytes */
std::vector<double>
GetActivations()
{
    // A convolution and the batch norm behind it have outputs of the same size. ReLU works in
    // place.
    const auto& shapes = Registry<WorkloadEntry>::Find("resnet50").layers;
    std::vector<double> bytes(shapes.size(), 0);
    for (std::size_t i = 1; i < shapes.size(); i++)
    {
        if (shapes[i].forwardMacs == 0)
        {
            const LayerShape& convolution = shapes[i - 1];
            const double outputs = static_cast<double>(convolution.forwardMacs) /
                                   static_cast<double>(convolution.parameters) *
                                   (static_cast<double>(shapes[i].parameters) / 2);
            bytes[i - 1] = bytes[i] = 4.0 * BATCH * outputs;
        }
    }
    return bytes;
}

/** The memory of a worker's GPU and the traffic of its link, sampled while it trains. */
class WorkerTrace
{
  public:
    /** A moment of a worker. */
    struct Sample
    {
        Time when;
        uint64_t sent;     ///< bytes so far
        uint64_t received; ///< bytes so far
        const char* phase; ///< forward, backward, or "" if the worker waits
        double memory;     ///< in use, bytes
    };

    /**
     * @param run of the training
     * @param model of the training
     * @param rank the worker
     * @param interval between samples
     */
    WorkerTrace(const TrainingRun& run, const LayeredModel& model, uint32_t rank, Time interval);

    /** @return the samples; call after the run */
    std::vector<Sample> GetSamples() const;

  private:
    /** A phase of computation. */
    struct Phase
    {
        std::string name;
        Time start;
        Time end;
    };

    static void TakeSample(WorkerTrace* self);
    void OnPhase(uint32_t, uint32_t, const std::string& name, Time start, Time end);
    double GetActive(const Phase& phase, Time when) const;

    Ptr<HostDevice> m_device;
    const LayeredModel& m_model;
    std::vector<double> m_activations;
    Time m_interval;
    std::vector<Phase> m_phases;
    std::vector<Sample> m_samples;
};

WorkerTrace::WorkerTrace(const TrainingRun& run,
                         const LayeredModel& model,
                         uint32_t rank,
                         Time interval)
    : m_device(run.GetCluster().GetFabric().devices.at(rank)),
      m_model(model),
      m_activations(GetActivations()),
      m_interval(interval)
{
    const Ptr<Node> host = run.GetCluster().GetFabric().hosts.Get(rank);
    for (uint32_t i = 0; i < host->GetNApplications(); i++)
    {
        host->GetApplication(i)->TraceConnectWithoutContext(
            "ComputePhase",
            MakeCallback(&WorkerTrace::OnPhase, this));
    }
    Simulator::ScheduleNow(&WorkerTrace::TakeSample, this);
}

void
WorkerTrace::TakeSample(WorkerTrace* self)
{
    const PortCounters& counters = self->m_device->GetPort().GetCounters();
    self->m_samples.push_back(
        {Simulator::Now(), counters.transmittedBytes, counters.receivedBytes, "", 0});
    Simulator::Schedule(self->m_interval, &WorkerTrace::TakeSample, self);
}

void
WorkerTrace::OnPhase(uint32_t, uint32_t, const std::string& name, Time start, Time end)
{
    m_phases.push_back({name, start, end});
}

double
WorkerTrace::GetActive(const Phase& phase, Time when) const
{
    // Each layer keeps its activations from its forward pass until its backward pass.
    const bool isForward = phase.name == "forward";
    Time passed = isForward ? phase.start : phase.end;
    double bytes = 0;
    for (std::size_t i = 0; i < m_model.layers.size(); i++)
    {
        passed =
            isForward ? passed + m_model.layers[i].forward : passed - m_model.layers[i].backward;
        const bool isKept = isForward ? passed <= when : passed > when;
        bytes += isKept ? m_activations[i] : 0;
    }
    return bytes;
}

std::vector<WorkerTrace::Sample>
WorkerTrace::GetSamples() const
{
    std::vector<Sample> samples = m_samples;
    for (Sample& sample : samples)
    {
        // Weights and gradients stay.
        sample.memory = 2.0 * static_cast<double>(m_model.GetGradientBytes());
        for (const Phase& phase : m_phases)
        {
            if (phase.start <= sample.when && sample.when < phase.end)
            {
                sample.phase = phase.name == "forward"    ? "forward"
                               : phase.name == "backward" ? "backward"
                                                          : "update";
                sample.memory += phase.name == "update" ? 0 : GetActive(phase, sample.when);
            }
        }
    }
    return samples;
}

/**
 * Algorithm 1 with the loss |w - x|^2 / 2 of each worker's x and the regularizer decay |w|^2 / 2.
 * Weights begin at 0. With m workers they are, after t iterations,
 * sum(x) / (m + decay) (1 - (1 - rate (m + decay))^t).
 * The files of the experiment, if it has any, get each iteration.
 */
class Descent
{
  public:
    static constexpr uint32_t ITERATIONS = 20;
    static constexpr uint32_t WEIGHTS = 5000;
    static constexpr double RATE = 0.1;
    static constexpr double DECAY = 0.5;

    /** @param options of the cluster */
    explicit Descent(const ClusterOptions& options)
        : m_cluster(options),
          m_run(m_cluster),
          m_tensors(options.ranks)
    {
        for (const auto& worker : m_cluster.GetInNetworkCommunicators())
        {
            worker->SetTensorsOfStep(1); // the same weights in each iteration
        }
        if (RunOutputs* outputs = RunOutputs::GetCurrent())
        {
            m_files.emplace(*outputs, m_cluster);
            m_files->GetRecorder().BeginIteration(0);
        }
    }

    ~Descent()
    {
        Simulator::Destroy();
    }

    /** @return the weights of each worker */
    std::vector<std::vector<float>> Run()
    {
        for (uint32_t rank = 0; rank < m_tensors.size(); rank++)
        {
            m_tensors[rank] = Create<Tensor>();
            m_tensors[rank]->values.assign(WEIGHTS, 0);
            Simulator::ScheduleWithContext(m_cluster.GetFabric().hosts.Get(rank)->GetId(),
                                           Time(0),
                                           &Descent::Push,
                                           this,
                                           rank,
                                           0U);
        }
        try
        {
            m_run.Run();
        }
        catch (const SimulationStuck& stuck)
        {
            Record(stuck.what());
            throw;
        }
        Record("");
        std::vector<std::vector<float>> weights;
        for (const auto& tensor : m_tensors)
        {
            weights.push_back(tensor->values);
        }
        return weights;
    }

    /** @return a weight in exact arithmetic */
    double GetWeight(uint32_t index) const
    {
        const auto ranks = static_cast<double>(m_tensors.size());
        double sum = 0;
        for (uint32_t rank = 0; rank < m_tensors.size(); rank++)
        {
            sum += GetSample(rank, index);
        }
        return sum / (ranks + DECAY) * (1 - std::pow(1 - RATE * (ranks + DECAY), ITERATIONS));
    }

    /** @return cost of the simulation */
    RunCost GetCost() const
    {
        return GetRunCost(m_cluster.GetFabric());
    }

  private:
    static float GetSample(uint32_t rank, uint32_t index)
    {
        return static_cast<float>(std::sin(1 + index * (1.0 + rank)));
    }

    static void Push(Descent* self, uint32_t rank, uint32_t iteration)
    {
        const Ptr<Tensor>& tensor = self->m_tensors[rank];
        for (uint32_t i = 0; i < WEIGHTS; i++)
        {
            tensor->values[i] -= GetSample(rank, i); // gradient of the loss
        }
        tensor->bytes = sizeof(float) * WEIGHTS;
        self->m_cluster.GetCommunicator(rank)->AllReduce(
            tensor,
            MakeBoundCallback(&Descent::OnPulled, self, rank, iteration + 1));
    }

    /** Completes the files. */
    void Record(const std::string& failure)
    {
        if (m_files)
        {
            GatherCounters(m_cluster.GetFabric());
            m_files->Finish();
            m_files->Close(failure);
        }
    }

    /** Records an iteration that all workers have ended. */
    void EndIteration()
    {
        CollectiveMeasurement measured{};
        measured.seconds = (Simulator::Now() - m_begin).GetSeconds();
        m_begin = Simulator::Now();
        m_files->AddIteration(MakeIterationRecord(measured, m_iteration++, false));
        m_files->GetRecorder().BeginIteration(m_iteration);
    }

    static void OnPulled(Descent* self, uint32_t rank, uint32_t iteration)
    {
        if (self->m_files && ++self->m_pulled % self->m_tensors.size() == 0)
        {
            self->EndIteration();
        }
        if (iteration < ITERATIONS)
        {
            Simulator::ScheduleNow(&Descent::Push, self, rank, iteration);
        }
        else if (++self->m_finished == self->m_tensors.size())
        {
            self->m_run.End();
        }
    }

    Cluster m_cluster;
    GuardedRun m_run;
    std::vector<Ptr<Tensor>> m_tensors;
    std::size_t m_finished{0};
    std::optional<RunFiles> m_files; // none: not recorded
    std::size_t m_pulled{0};         // by all workers
    uint32_t m_iteration{0};         // number of complete ones
    Time m_begin;                    // of the iteration
};

/** The figures of both works, simulated next to the published ones. */
class Comparison
{
  public:
    /** @param setting of the comparison */
    explicit Comparison(const Setting& setting)
        : m_setting(setting),
          m_table(PublishedTable::OfFigures(78, setting.json))
    {
    }

    /** Figure 1 and what the text states. */
    void CompareStatements();
    /** Figure 2: a parameter server and all-reduces, by the number of workers. */
    void CompareExchanges();
    /** Figure 3, algorithm 1: distributed subgradient descent in the switch. */
    void CompareDescent();
    /** Figure 4: a worker that trains ResNet-50. */
    void CompareTrace();
    /** Sums and steps of optimizers in the switch, and on hosts. */
    void CompareOptimizers();

    /** @return the results */
    JsonValue ToJson() const;

    /** @return the cost of all simulations */
    const RunCost& GetCost() const
    {
        return m_table.GetCost();
    }

  private:
    double GetSeconds(const ClusterOptions& options, uint64_t bytes);
    double Train(const std::string& workload, const std::string& algorithm);

    const Setting& m_setting;
    PublishedTable m_table;
    JsonValue m_trace{JsonValue::Array()};
};

double
Comparison::GetSeconds(const ClusterOptions& options, uint64_t bytes)
{
    const CollectiveRun run = RunCollectives(options, CollectiveOperation::ALL_REDUCE, {bytes});
    m_table.AddCost(run.cost);
    return run.measurements.back().seconds;
}

/** @return time of an iteration of 8 workers without overlap, s */
double
Comparison::Train(const std::string& workload, const std::string& algorithm)
{
    TrainingRunOptions options;
    options.workload = workload;
    options.gpu = "v100";
    options.overlap = false;
    options.iterations = 1;
    options.warmup = 0;
    options.cluster = MakeOptions(8, algorithm);
    const TrainingRunResult result = TrainingRun(options).Run();
    m_table.AddCost(result.cost);
    return result.mean.iterationTimeS;
}

void
Comparison::CompareStatements()
{
    m_table.PrintHeadings("Statements; expected: closed forms\n");
    m_table.AddFigure(
        "figure 1: durations of training, a survey without its values: not reproducible",
        "",
        PAPER,
        NONE,
        NONE,
        NONE);
    // What all nodes send, by the schedules.
    constexpr uint32_t NODES = 100;
    constexpr double PARAMETERS = 1e9;
    const auto count = [](const char* algorithm, uint32_t ranks) {
        CollectiveRequest request;
        request.ranks = ranks;
        const CollectiveSchedule schedule = BuildSchedule(algorithm, request);
        double vectors = 0;
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            for (uint32_t i = 0; i < schedule.GetActions(rank); i++)
            {
                const ScheduleAction action = schedule.Get(rank, i);
                if (action.kind == ScheduleAction::Kind::SEND)
                {
                    action.ForEachChunk([&](uint32_t) { vectors += 1.0 / action.chunks; });
                }
            }
        }
        return 4e-12 * PARAMETERS * vectors;
    };
    m_table.AddFigure("10^9 parameters, 100 nodes and a server: sent in an iteration",
                      "TB",
                      PAPER,
                      1,
                      2 * NODES * 4 * PARAMETERS * 1e-12,
                      count("parameter-server", NODES + 1));
    m_table.AddFigure("likewise, a ring of 100 nodes",
                      "TB",
                      PAPER,
                      1,
                      2 * (NODES - 1) * 4 * PARAMETERS * 1e-12,
                      count("ring", NODES));
    const double compute = LoadModel("vgg16", BATCH, 1, "v100").GetComputeTime().GetSeconds();
    const double copy = 32.0 * static_cast<double>(LoadModel("vgg16", BATCH, 1).GetParameters());
    m_table.AddFigure("VGG-16, 8 workers with V100, 10 Gbit/s: throughput of SwitchML over ring",
                      "x",
                      CITED,
                      2,
                      (compute + 1.75 * copy / LINE) / (compute + copy / LINE),
                      Train("vgg16", "ring") /
                          Train("vgg16", "switchml:data-type=int32,elements-per-packet=256"));
}

void
Comparison::CompareExchanges()
{
    m_table.PrintHeadings("\nFigure 2: exchange of ResNet-50's gradients at 10 Gbit/s; expected: "
                          "lines and headers\n");
    const uint64_t bytes = 4 * LoadModel("resnet50", BATCH, 1).GetParameters();
    const double host = static_cast<double>(bytes) * GetLineBits(4096) / LINE;
    for (const uint32_t workers : {WORKERS, 7U, 15U})
    {
        const std::string text = std::to_string(workers) + " workers";
        m_table.AddFigure(text + " and a parameter server on a host",
                          "s",
                          PAPER,
                          NONE,
                          2 * workers * host,
                          GetSeconds(MakeOptions(workers + 1, "parameter-server"), bytes));
        m_table.AddFigure(text + ", all-reduce by a ring",
                          "s",
                          PAPER,
                          NONE,
                          2.0 * (workers - 1) / workers * host,
                          GetSeconds(MakeOptions(workers, "ring"), bytes));
        m_table.AddFigure(text + ", the switch is the parameter server",
                          "s",
                          PAPER,
                          NONE,
                          static_cast<double>(bytes) * GetSwitchLineBits() / LINE,
                          GetSeconds(MakeOptions(workers, MakeSwitch()), bytes));
    }
}

void
Comparison::CompareDescent()
{
    m_table.PrintHeadings("\nFigure 3, algorithm 1 in the switch: 20 iterations of 3 workers, "
                          "learning rate 0.1, regularizer |w|^2 / 4; expected: exact arithmetic\n");
    std::vector<float> first;
    for (const double loss : {0., 0.01})
    {
        ClusterOptions options =
            MakeOptions(WORKERS,
                        MakeSwitch(",optimizer=sgd,learning-rate=" + FormatDouble(Descent::RATE) +
                                   ",weight-decay=" + FormatDouble(Descent::DECAY)));
        options.loss = loss;
        Descent descent(options);
        const auto weights = descent.Run();
        m_table.AddCost(descent.GetCost());
        double largest = 0;
        double error = 0;
        double expected = 0;
        double sum = 0;
        double different = 0;
        first = first.empty() ? weights[0] : first;
        for (uint32_t i = 0; i < Descent::WEIGHTS; i++)
        {
            const double exact = descent.GetWeight(i);
            largest = std::max(largest, std::abs(exact));
            expected += exact * exact;
            sum += static_cast<double>(weights[0][i]) * weights[0][i];
            for (const auto& mine : weights)
            {
                error = std::max(error, std::abs(mine[i] - exact));
                different += mine[i] == first[i] ? 0 : 1;
            }
        }
        const std::string text = loss > 0 ? ", 1 % of frames lost" : "";
        m_table.AddFigure("norm of the weights" + text,
                          "",
                          PAPER,
                          NONE,
                          std::sqrt(expected),
                          std::sqrt(sum));
        m_table.AddFigure("largest error of a weight over the largest weight" + text,
                          "2^-24",
                          PAPER,
                          NONE,
                          0,
                          std::ldexp(error / largest, 24));
        m_table.AddFigure("weights of all workers that differ from the first ones" + text,
                          "",
                          PAPER,
                          NONE,
                          0,
                          different);
    }
}

void
Comparison::CompareTrace()
{
    m_table.PrintHeadings("\nFigure 4: a worker that trains ResNet-50, batch 32, with 2 others and "
                          "a server; links of 10 Gbit/s (the text prints 10 GB/s);\npublished: "
                          "little memory is in use for longer than much\n");
    const uint64_t bytes = 4 * LoadModel("resnet50", BATCH, 1).GetParameters();
    const double host = 2 * WORKERS * static_cast<double>(bytes) * GetLineBits(4096) / LINE;
    const double inSwitch = static_cast<double>(bytes) * GetSwitchLineBits() / LINE;
    const LayeredModel v100 = LoadModel("resnet50", BATCH, 1, "v100");
    const double passes = (v100.GetForwardTime() + v100.GetBackwardTime()).GetSeconds();
    const auto train = [&](double wanted, const std::string& algorithm, uint32_t ranks) {
        TrainingRunOptions options;
        options.batch = BATCH;
        options.gpu = "v100";
        options.computeScale = wanted / passes;
        options.overlap = false;
        options.iterations = 3;
        options.warmup = 0;
        options.cluster = MakeOptions(ranks, algorithm);
        return options;
    };
    const auto add = [&](const std::string& text, double compute, double exchange, double ours) {
        m_table.AddFigure(text + ": share of time that it waits",
                          "%",
                          PAPER,
                          NONE,
                          100 * exchange / (exchange + compute),
                          100 * ours);
    };
    for (const auto& [name, seconds] :
         {std::pair("Titan X (Pascal)", PASCAL * BATCH / MEASURED_BATCH),
          std::pair("Titan X (Maxwell)", MAXWELL * BATCH / MEASURED_BATCH),
          std::pair("0.32 s (SwitchML's V100)", SWITCHML_V100)})
    {
        for (const bool isSwitch : {false, true})
        {
            const TrainingRunOptions options =
                isSwitch ? train(seconds, MakeSwitch(",optimizer=sgd"), WORKERS)
                         : train(seconds, "parameter-server", WORKERS + 1);
            const LayeredModel model =
                LoadModel("resnet50", BATCH, options.computeScale, options.gpu);
            TrainingRun run(options);
            WorkerTrace trace(run, model, 1, m_setting.interval);
            const TrainingRunResult result = run.Run();
            m_table.AddCost(result.cost);
            const double compute = result.mean.computeTimeS;
            add(std::string(name) + (isSwitch ? ", server in the switch" : ", server on a host"),
                seconds + (isSwitch ? 0 : model.update.GetSeconds()),
                isSwitch ? inSwitch : host,
                1 - compute / result.mean.iterationTimeS);
            if (isSwitch || seconds != PASCAL * BATCH / MEASURED_BATCH)
            {
                continue;
            }
            const auto samples = trace.GetSamples();
            double most = 0;
            double low = 0;
            for (const auto& sample : samples)
            {
                most = std::max(most, sample.memory);
            }
            for (std::size_t i = 0; i < samples.size(); i++)
            {
                low += samples[i].memory < most / 2 ? 1 : 0;
                const auto& before = samples[i > 0 ? i - 1 : 0];
                const double rate = i > 0 ? 8e-9 / m_setting.interval.GetSeconds() : 0;
                m_trace.Append(
                    JsonValue::Object()
                        .Set("time_s", samples[i].when.GetSeconds())
                        .Set("phase", *samples[i].phase ? samples[i].phase : "wait")
                        .Set("memory_MB", samples[i].memory * 1e-6)
                        .Set("sent_Gbps", rate * static_cast<double>(samples[i].sent - before.sent))
                        .Set("received_Gbps",
                             rate * static_cast<double>(samples[i].received - before.received)));
            }
            m_table.AddFigure(
                "likewise: share of time with less than half of the most memory in use",
                "%",
                PAPER,
                NONE,
                NONE,
                100 * low / static_cast<double>(samples.size()));
            m_table.AddFigure("likewise: least memory in use, weights and gradients",
                              "MB",
                              PAPER,
                              NONE,
                              2e-6 * static_cast<double>(bytes),
                              1e-6 * samples.back().memory);
            m_table.AddFigure("likewise: most memory in use, with all activations",
                              "MB",
                              PAPER,
                              NONE,
                              NONE,
                              1e-6 * most);
        }
    }
}

void
Comparison::CompareOptimizers()
{
    m_table.PrintHeadings("\nSums and optimizers in the switch; expected: the slower of line and "
                          "memory\n");
    constexpr uint64_t COUNT = 4 << 20;
    const auto getRate = [&](uint32_t ranks, const std::string& algorithm, double line) {
        ClusterOptions options = MakeOptions(ranks, algorithm);
        options.rate = DataRate(static_cast<uint64_t>(line));
        return COUNT / GetSeconds(options, 4 * COUNT);
    };
    const double share = 100 * 8 / GetSwitchLineBits();
    m_table.AddFigure("sum of 4 workers, 1024 numbers a packet: share of the line of 10 Gbit/s",
                      "%",
                      ITSUBO,
                      98.3,
                      share,
                      100 * 32 * getRate(4, MakeSwitch(), LINE) / LINE);
    constexpr double MEMORY = 238.9e9; // two DDR3-1866 modules of 64 bits
    for (const double line : {10e9, 100e9})
    {
        for (const auto& [name, optimizer] : Registry<SwitchOptimizer>::All())
        {
            const double lines = line / (4 * GetSwitchLineBits());
            const double memory = MEMORY / (2 * 32.0 * optimizer.arrays); // read and written
            m_table.AddFigure("4 workers, " + FormatDouble(line * 1e-9) + " Gbit/s, " + name +
                                  ", weights in two DDR3 modules",
                              "M weights/s",
                              "",
                              NONE,
                              1e-6 * std::min(lines, memory),
                              1e-6 * getRate(4, MakeSwitch(",optimizer=" + name), line));
        }
    }
    // Bytes of memory per weight. NumPy, as in Chainer's Adam on a CPU, reads operands and writes
    // results of 15 array operations; a single kernel of a GPU reads 4 arrays and writes 3.
    constexpr double CPU_BYTES = 148;
    constexpr double CPU_RATE = 21.3e9; // one channel of DDR4-2666
    constexpr double GPU_BYTES = 28;
    constexpr double GPU_RATE = 484e9; // GTX 1080 Ti
    const double line = 4 * GetSwitchLineBits() / LINE;
    const double inSwitch = 1 / getRate(4, MakeSwitch(",optimizer=adam"), LINE);
    const double sum = 1 / getRate(4, MakeSwitch(), LINE);
    const double cpu = CPU_BYTES / CPU_RATE;
    const double gpu = GPU_BYTES / GPU_RATE;
    m_table.AddFigure(
        "Adam after the sum on a CPU, NumPy at an assumed 21.3 GB/s, over in the switch",
        "x",
        ITSUBO,
        3.0,
        1 + cpu / line,
        (sum + cpu) / inSwitch);
    m_table.AddFigure(
        "Adam after the sum on a GPU, one kernel at an assumed 484 GB/s, over in the switch",
        "x",
        ITSUBO,
        1.25,
        1 + gpu / line,
        (sum + gpu) / inSwitch);
    m_table.AddFigure("fit: time of a weight on the GPU at which the ratio is the published 1.25",
                      "ns",
                      "",
                      NONE,
                      1e9 * 0.25 * line,
                      NONE);
}

JsonValue
Comparison::ToJson() const
{
    auto document = JsonValue::Object();
    document.Set("rows", m_table.GetRows()).Set("trace", m_trace);
    return document;
}

int
Compare(int argc, char* argv[])
{
    Setting setting;
    ProgramOptions options(
        "switch-parameter-server",
        "A parameter server in a switch (Hashmi; Itsubo et al.): what is published beside ours.");
    options.Group("Experiment");
    options.AddChoice("part",
                      "statements: of the text; exchange: by the number of workers; descent: "
                      "algorithm 1; trace: memory and traffic of a worker; optimizer: in the "
                      "switch and on hosts",
                      setting.part,
                      {"all", "statements", "exchange", "descent", "trace", "optimizer"});
    options.AddTime("interval", "between samples of the trace, which --json has", setting.interval);
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine::ReserveAttributes(options);
    options.Parse(argc, argv);
    if (setting.interval < MicroSeconds(10) || setting.interval > Seconds(1))
    {
        throw ConfigurationError("--interval=" + FormatTime(setting.interval) +
                                 " (allowed: 10us to 1s)");
    }
    Comparison comparison(setting);
    RunExperiment(
        options,
        setting.json,
        setting.files,
        setting.part,
        {{"statements", [&] { comparison.CompareStatements(); }},
         {"exchange", [&] { comparison.CompareExchanges(); }},
         {"descent", [&] { comparison.CompareDescent(); }},
         {"trace", [&] { comparison.CompareTrace(); }},
         {"optimizer", [&] { comparison.CompareOptimizers(); }}},
        [&] { return comparison.ToJson(); },
        comparison.GetCost());
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("switch-parameter-server", [&] { return Compare(argc, argv); });
}
