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

#include "../hidden-global-values.h"
#include "engine/fabric-border.h"
#include "measure/reproduction.h"

#include "ns3/roce-wire-format.h"
#include "ns3/switch-ps-optimizer.h"
#include "ns3/switch-ps-wire-format.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/// Workers of the paper, besides the server.
constexpr uint32_t WORKERS = 3;
/// Samples of a worker and iteration; not published.
constexpr uint64_t BATCH = 32;
/// Rate of the links, bit/s. The text prints 10 GB/s, which no switch of that time had.
constexpr double LINE = 10e9;
/// Numbers in a packet of the switch, a jumbo frame; not published.
constexpr uint32_t ELEMENTS = 1024;

/** @return options of hosts on a switch of the paper */
ClusterOptions
MakeOptions(uint32_t ranks, const std::string& algorithm, double rate = LINE)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.algorithm = algorithm;
    options.rate = DataRate(static_cast<uint64_t>(rate));
    return options;
}

/** @return the switch as parameter server, with more attributes */
std::string
MakeSwitch(const std::string& more = "")
{
    return "switch-ps:elements-per-packet=" + std::to_string(ELEMENTS) + ",slots=64" + more;
}

/** @return time on the line of data between hosts, or between them and the switch, s */
double
GetLineSeconds(uint64_t bytes, bool isSwitch)
{
    const uint32_t data = isSwitch ? 4 * ELEMENTS : 4096;
    const uint32_t frame =
        isSwitch ? GetSwitchPsFrameBytes(ELEMENTS) : GetDataFrameBytes(WRITE_MIDDLE, data);
    return static_cast<double>(bytes) * 8.0 * (frame + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES) /
           data / LINE;
}

/** @return gradients of ResNet-50, bytes */
uint64_t
GetGradientBytes()
{
    return 4 * LoadModel("resnet50", BATCH, 1).GetParameters();
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
        uint64_t sent;             ///< bytes so far
        uint64_t received;         ///< bytes so far
        std::string phase{"wait"}; ///< or forward, backward, update
        double memory{0};          ///< in use, bytes
    };

    /**
     * @param run of the training
     * @param model of the training
     * @param rank the worker
     * @param interval between samples
     */
    WorkerTrace(const TrainingRun& run, const LayeredModel& model, uint32_t rank, Time interval)
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

    /** @return the samples; call after the run */
    std::vector<Sample> GetSamples()
    {
        for (Sample& sample : m_samples)
        {
            // Weights and gradients stay.
            sample.memory = 2.0 * static_cast<double>(m_model.GetGradientBytes());
            for (const Phase& phase : m_phases)
            {
                if (phase.start <= sample.when && sample.when < phase.end)
                {
                    const bool isPass = phase.name == "forward" || phase.name == "backward";
                    sample.phase = isPass ? phase.name : "update";
                    sample.memory += isPass ? GetActive(phase, sample.when) : 0;
                }
            }
        }
        return m_samples;
    }

  private:
    /** A phase of computation. */
    struct Phase
    {
        std::string name;
        Time start;
        Time end;
    };

    void TakeSample()
    {
        const PortCounters& counters = m_device->GetPort().GetCounters();
        m_samples.push_back({Simulator::Now(), counters.transmittedBytes, counters.receivedBytes});
        Simulator::Schedule(m_interval, &WorkerTrace::TakeSample, this);
    }

    void OnPhase(uint32_t, uint32_t, const std::string& name, Time start, Time end)
    {
        m_phases.push_back({name, start, end});
    }

    /** @return activations: each layer keeps its own from its forward to its backward pass */
    double GetActive(const Phase& phase, Time when) const
    {
        const bool isForward = phase.name == "forward";
        Time passed = isForward ? phase.start : phase.end;
        double bytes = 0;
        for (std::size_t i = 0; i < m_model.layers.size(); i++)
        {
            const auto& layer = m_model.layers[i];
            passed += isForward ? layer.forward : Time() - layer.backward;
            bytes += (passed <= when) == isForward ? m_activations[i] : 0;
        }
        return bytes;
    }

    Ptr<HostDevice> m_device;
    const LayeredModel& m_model;
    std::vector<double> m_activations;
    Time m_interval;
    std::vector<Phase> m_phases;
    std::vector<Sample> m_samples;
};

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
    const std::vector<Ptr<Tensor>>& Run()
    {
        for (uint32_t rank = 0; rank < m_tensors.size(); rank++)
        {
            m_tensors[rank] = Create<Tensor>();
            m_tensors[rank]->bytes = sizeof(float) * WEIGHTS;
            m_tensors[rank]->values.assign(WEIGHTS, 0);
            Simulator::ScheduleWithContext(m_cluster.GetFabric().hosts.Get(rank)->GetId(),
                                           Time(0),
                                           &Descent::Push,
                                           this,
                                           rank);
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
        return m_tensors;
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

    void Push(uint32_t rank)
    {
        for (uint32_t i = 0; i < WEIGHTS; i++)
        {
            m_tensors[rank]->values[i] -= GetSample(rank, i); // gradient of the loss
        }
        m_cluster.GetCommunicator(rank)->AllReduce(
            m_tensors[rank],
            MakeBoundCallback(&Descent::OnPulled, this, rank));
    }

    static void OnPulled(Descent* self, uint32_t rank)
    {
        // All workers end an iteration before one ends the next.
        const auto ranks = static_cast<uint32_t>(self->m_tensors.size());
        const uint32_t iteration = self->m_pulled++ / ranks + 1;
        if (self->m_files && self->m_pulled % ranks == 0)
        {
            CollectiveMeasurement measured{};
            measured.seconds = (Simulator::Now() - self->m_begin).GetSeconds();
            self->m_begin = Simulator::Now();
            self->m_files->AddIteration(MakeIterationRecord(measured, iteration - 1, false));
            self->m_files->GetRecorder().BeginIteration(iteration);
        }
        if (iteration < ITERATIONS)
        {
            Simulator::ScheduleNow(&Descent::Push, self, rank);
        }
        else if (self->m_pulled == ITERATIONS * ranks)
        {
            self->m_run.End();
        }
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

    Cluster m_cluster;
    GuardedRun m_run;
    std::vector<Ptr<Tensor>> m_tensors;
    std::optional<RunFiles> m_files; // none: not recorded
    uint32_t m_pulled{0};            // by all workers
    Time m_begin;                    // of the iteration
};

/** What the text states. */
void
AddStatements(Reproduction& paper)
{
    paper.Add("survey", NONE, NONE);
    // What all nodes send, by the schedules.
    constexpr uint32_t NODES = 100;
    constexpr double TERABYTES = 4e-12 * 1e9; // of a vector
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
        return TERABYTES * vectors;
    };
    paper.Add("server", 2 * NODES * TERABYTES, count("parameter-server", NODES + 1));
    paper.Add("ring", 2 * (NODES - 1) * TERABYTES, count("ring", NODES));
    const auto train = [&](const std::string& algorithm) {
        TrainingRunOptions options;
        options.workload = "vgg16";
        options.gpu = "v100";
        options.overlap = false;
        options.iterations = 1;
        options.warmup = 0;
        options.cluster = MakeOptions(8, algorithm);
        return paper.Train(options).mean.iterationTimeS;
    };
    const LayeredModel model = LoadModel("vgg16", BATCH, 1, "v100");
    const double compute = model.GetComputeTime().GetSeconds();
    const double copy = 32.0 * static_cast<double>(model.GetParameters()) / LINE;
    paper.Add("vgg16",
              (compute + 1.75 * copy) / (compute + copy),
              train("ring") / train("switchml:data-type=int32,elements-per-packet=256"));
}

/** Figure 2: a parameter server and all-reduces, by the number of workers. */
void
AddExchanges(Reproduction& paper)
{
    const uint64_t bytes = GetGradientBytes();
    const double host = GetLineSeconds(bytes, false);
    for (const uint32_t workers : {WORKERS, 7U, 15U})
    {
        const auto add = [&](const char* row, double expected, const ClusterOptions& cluster) {
            paper.Add(row,
                      expected,
                      paper.GetSeconds(cluster, bytes),
                      {{"workers", std::to_string(workers)}});
        };
        add("host", 2 * workers * host, MakeOptions(workers + 1, "parameter-server"));
        add("ring", 2.0 * (workers - 1) / workers * host, MakeOptions(workers, "ring"));
        add("switch", GetLineSeconds(bytes, true), MakeOptions(workers, MakeSwitch()));
    }
}

/** Figure 3, algorithm 1: distributed subgradient descent in the switch. */
void
AddDescent(Reproduction& paper)
{
    std::vector<float> first;
    for (const PublishedCase& each : paper.GetCases())
    {
        ClusterOptions options =
            MakeOptions(WORKERS,
                        MakeSwitch(",optimizer=sgd,learning-rate=" + FormatDouble(Descent::RATE) +
                                   ",weight-decay=" + FormatDouble(Descent::DECAY)));
        options.loss = each.Get("loss");
        Descent descent(options);
        const auto& weights = descent.Run();
        paper.AddCost(descent.GetCost());
        double largest = 0;
        double error = 0;
        double expected = 0;
        double sum = 0;
        double different = 0;
        first = first.empty() ? weights[0]->values : first;
        for (uint32_t i = 0; i < Descent::WEIGHTS; i++)
        {
            const double exact = descent.GetWeight(i);
            largest = std::max(largest, std::abs(exact));
            expected += exact * exact;
            sum += std::pow(static_cast<double>(weights[0]->values[i]), 2);
            for (const auto& mine : weights)
            {
                error = std::max(error, std::abs(mine->values[i] - exact));
                different += mine->values[i] == first[i] ? 0 : 1;
            }
        }
        paper.Add("norm", std::sqrt(expected), std::sqrt(sum), each);
        paper.Add("error", 0, std::ldexp(error / largest, 24), each);
        paper.Add("different", 0, different, each);
    }
}

/**
 * Adds the memory of a worker.
 * @return its samples
 */
JsonValue
AddSamples(Reproduction& paper, const std::vector<WorkerTrace::Sample>& samples, Time interval)
{
    double most = 0;
    for (const auto& sample : samples)
    {
        most = std::max(most, sample.memory);
    }
    double low = 0;
    auto trace = JsonValue::Array();
    for (std::size_t i = 0; i < samples.size(); i++)
    {
        const auto& sample = samples[i];
        const auto& before = samples[i > 0 ? i - 1 : 0];
        const double rate = 8e-9 / interval.GetSeconds();
        low += sample.memory < most / 2 ? 1 : 0;
        trace.Append(JsonValue::Object()
                         .Set("time_s", sample.when.GetSeconds())
                         .Set("phase", sample.phase)
                         .Set("memory_MB", sample.memory * 1e-6)
                         .Set("sent_Gbps", rate * static_cast<double>(sample.sent - before.sent))
                         .Set("received_Gbps",
                              rate * static_cast<double>(sample.received - before.received)));
    }
    paper.Add("low", NONE, 100 * low / static_cast<double>(samples.size()));
    paper.Add("least",
              2e-6 * static_cast<double>(GetGradientBytes()),
              1e-6 * samples.back().memory);
    paper.Add("most", NONE, 1e-6 * most);
    return trace;
}

/**
 * Figure 4: a worker that trains ResNet-50.
 * @return samples of the first case
 */
JsonValue
AddTrace(Reproduction& paper, Time interval)
{
    const uint64_t bytes = GetGradientBytes();
    const LayeredModel v100 = LoadModel("resnet50", BATCH, 1, "v100");
    const double passes = (v100.GetForwardTime() + v100.GetBackwardTime()).GetSeconds();
    auto trace = JsonValue::Array();
    for (const PublishedCase& each : paper.GetCases())
    {
        const std::string server = each.GetText("server");
        const bool isSwitch = server == "switch";
        const double seconds = each.Get("seconds");
        TrainingRunOptions options;
        options.batch = BATCH;
        options.gpu = "v100";
        options.computeScale = seconds / passes;
        options.overlap = false;
        options.iterations = 3;
        options.warmup = 0;
        options.cluster = isSwitch ? MakeOptions(WORKERS, MakeSwitch(",optimizer=sgd"))
                                   : MakeOptions(WORKERS + 1, "parameter-server");
        const LayeredModel model = LoadModel("resnet50", BATCH, options.computeScale, options.gpu);
        TrainingRun run(options);
        WorkerTrace worker(run, model, 1, interval);
        const TrainingRunResult result = run.Run();
        paper.AddCost(result.cost);
        const double compute = seconds + (isSwitch ? 0 : model.update.GetSeconds());
        const double exchange = (isSwitch ? 1 : 2 * WORKERS) * GetLineSeconds(bytes, isSwitch);
        paper.Add(server,
                  100 * exchange / (exchange + compute),
                  100 * (1 - result.mean.computeTimeS / result.mean.iterationTimeS),
                  each);
        if (trace.IsEmpty())
        {
            trace = AddSamples(paper, worker.GetSamples(), interval);
        }
    }
    return trace;
}

/** Sums and steps of optimizers in the switch, and on hosts. */
void
AddOptimizers(Reproduction& paper)
{
    constexpr uint64_t COUNT = 4 << 20;
    const auto getRate = [&](const std::string& more, double line) {
        return COUNT / paper.GetSeconds(MakeOptions(4, MakeSwitch(more), line), 4 * COUNT);
    };
    const double weight = GetLineSeconds(4, true);
    const double sum = getRate("", LINE);
    paper.Add("sum", 100 * 32 / weight / LINE, 100 * 32 * sum / LINE);
    constexpr double MEMORY = 238.9e9; // two DDR3-1866 modules of 64 bits
    for (const double line : {10e9, 100e9})
    {
        for (const auto& [name, optimizer] : Registry<SwitchOptimizer>::All())
        {
            const double memory = MEMORY / (2 * 32.0 * optimizer.arrays); // read and written
            paper.Add("rate",
                      1e-6 * std::min(line / LINE / weight, memory),
                      1e-6 * getRate(",optimizer=" + name, line),
                      {{"Gbps", FormatDouble(line * 1e-9)}, {"optimizer", name}});
        }
    }
    // Bytes of memory per weight. NumPy, as in Chainer's Adam on a CPU, reads operands and writes
    // results of 15 array operations; a single kernel of a GPU reads 4 arrays and writes 3.
    constexpr double CPU = 148 / 21.3e9; // one channel of DDR4-2666
    constexpr double GPU = 28 / 484e9;   // GTX 1080 Ti
    const double adam = getRate(",optimizer=adam", LINE);
    paper.Add("cpu", 1 + CPU / weight, (1 / sum + CPU) * adam);
    paper.Add("gpu", 1 + GPU / weight, (1 / sum + GPU) * adam);
    paper.Add("fit", 1e9 * 0.25 * weight, NONE);
}

int
Compare(int argc, char* argv[])
{
    Reproduction paper("switch-parameter-server");
    Time interval = MilliSeconds(5);
    auto trace = JsonValue::Array();
    paper.GetOptions().AddTime("interval",
                               "between samples of the trace, which --json has",
                               interval);
    paper.AddPart("statements", [&] { AddStatements(paper); });
    paper.AddPart("exchange", [&] { AddExchanges(paper); });
    paper.AddPart("descent", [&] { AddDescent(paper); });
    paper.AddPart("trace", [&] { trace = AddTrace(paper, interval); });
    paper.AddPart("optimizer", [&] { AddOptimizers(paper); });
    paper.AtEnd([&](JsonValue& document) { document.Set("trace", trace); });
    return paper.Run(argc, argv, [&] {
        if (interval < MicroSeconds(10) || interval > Seconds(1))
        {
            throw ConfigurationError("--interval=" + FormatTime(interval) +
                                     " (allowed: 10us to 1s)");
        }
    });
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("switch-parameter-server", [&] { return Compare(argc, argv); });
}
