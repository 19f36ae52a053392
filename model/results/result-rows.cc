/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "result-rows.h"

#include "core/input-manifest.h"
#include "iteration-record.h"
#include "result-table.h"

#include "ns3/abort.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

const ResultTableEntry<IterationRecord> g_iteration("iteration", {true, true});
const ResultTableEntry<CollectiveRow> g_collective("collective", {false, true});
const ResultTableEntry<MessageRow> g_message("message");
const ResultTableEntry<LinkCounterRow> g_linkCounter("link_counter");
const ResultTableEntry<LinkIterationRow> g_linkIteration("link_iteration", {false, true});
const ResultTableEntry<SampleRow> g_sample("sample");
const ResultTableEntry<ComputePhaseRow> g_computePhase("compute_phase");
const ResultTableEntry<CriticalPathRow> g_criticalPath("critical_path", {true});
const ResultTableEntry<LearningRow> g_learning("learning", {true});
const ResultTableEntry<EnergyRow> g_energy("energy");
const ResultTableEntry<LifeRow> g_life("life");
const ResultTableEntry<InputRow> g_input("input");
const ResultTableEntry<FlowRow> g_flow("flow", {true});
const ResultTableEntry<JobRow> g_job("job", {true});
const ResultTableEntry<SimulationRow> g_simulation("simulation");

} // namespace

std::size_t
FindResultTable(std::type_index row)
{
    const auto& tables = Registry<ResultTableMaker>::All();
    const auto found = std::find_if(tables.begin(), tables.end(), [row](const auto& table) {
        return table.second.row == row;
    });
    NS_ABORT_MSG_IF(found == tables.end(), "no ResultTableEntry for " << row.name());
    return static_cast<std::size_t>(std::distance(tables.begin(), found));
}

std::vector<RecordField<CollectiveRow>>
CollectiveRow::GetFields()
{
    using Row = CollectiveRow;
    return {{"rank", "", "the rank", &Row::rank},
            {"iteration", "", "iteration of the job, or repetition", &Row::iteration},
            {"sequence", "", "number of the collective in the iteration", &Row::sequence},
            {"operation", "", "such as all-reduce", &Row::operation},
            {"algorithm", "", "such as ring", &Row::algorithm},
            {"bytes", "byte", "size of the whole vector", &Row::bytes},
            {"start_s", "s", "simulated time when this rank issued it", &Row::startS},
            {"end_s", "s", "simulated time when it was complete at this rank", &Row::endS},
            {"communicator", "", "number of its communicator", &Row::communicator},
            {"turn_s", "s", "simulated time of its turn at this rank", &Row::turnS},
            {"layers", "", "layers of the model that it belongs to", &Row::layers},
            {"derived", "", "follows from others, and was not simulated", &Row::derived}};
}

std::vector<RecordField<MessageRow>>
MessageRow::GetFields()
{
    using Row = MessageRow;
    return {{"source", "", "sending rank", &Row::source},
            {"destination", "", "receiving rank", &Row::destination},
            {"tag", "", "communicator, collective, step and number of the message", &Row::tag},
            {"bytes", "byte", "size without headers", &Row::bytes},
            {"start_s", "s", "simulated time when it was handed to the transport", &Row::startS},
            {"end_s", "s", "simulated time when its last byte was in", &Row::endS},
            {"communicator", "", "number of the communicator", &Row::communicator},
            {"collective", "", "number in the communicator", &Row::collective},
            {"step", "", "step of the algorithm", &Row::step},
            {"message", "", "number in the step to the same rank", &Row::message},
            {"derived", "", "follows from others, and was not simulated", &Row::derived}};
}

std::vector<RecordField<LinkCounterRow>>
LinkCounterRow::GetFields()
{
    using Row = LinkCounterRow;
    return {{"node", "", "host or switch", &Row::node},
            {"port", "", "number of the port at that node", &Row::port},
            {"peer", "", "host or switch at the other end", &Row::peer},
            {"bytes", "byte", "sent, without preamble and gap", &Row::bytes},
            {"frames", "", "frames sent", &Row::frames},
            {"marks", "", "frames marked by ECN", &Row::marks},
            {"pauses", "", "PFC frames sent, resumes included", &Row::pauses},
            {"drops", "", "frames dropped here", &Row::drops},
            {"losses", "", "frames sent that the link lost", &Row::losses},
            {"busy_s", "s", "time the line was taken, preamble and gap included", &Row::busyS},
            {"max_queue_bytes", "byte", "most bytes that ever waited", &Row::maxQueue},
            {"lossless_drops",
             "",
             "frames of lossless classes dropped here for lack of buffer space",
             &Row::losslessDrops},
            {"trims", "", "frames cut to their header here (packet trimming)", &Row::trims},
            {"rate_bps", "bit/s", "line rate", &Row::rate},
            {"utilization", "", "busy_s / simulated time of the run", &Row::utilization},
            {"paused_s", "s", "time paused by the peer, sum of the priorities", &Row::pausedS}};
}

std::vector<RecordField<LinkIterationRow>>
LinkIterationRow::GetFields()
{
    using Row = LinkIterationRow;
    return {{"iteration", "", "iteration of the job, or repetition", &Row::iteration},
            {"node", "", "host or switch", &Row::node},
            {"port", "", "number of the port at that node", &Row::port},
            {"peer", "", "host or switch at the other end", &Row::peer},
            {"priority", "", "traffic class", &Row::priority},
            {"bytes", "byte", "sent, without preamble and gap", &Row::bytes},
            {"frames", "", "frames sent, without pause frames", &Row::frames},
            {"marks", "", "frames marked by ECN", &Row::marks},
            {"drops", "", "frames dropped here", &Row::drops},
            {"utilization", "", "time the line was taken / iteration time", &Row::utilization},
            {"paused_s", "s", "time paused by the peer", &Row::pausedS}};
}

std::vector<RecordField<SimulationRow>>
SimulationRow::GetFields()
{
    using Row = SimulationRow;
    return {{"packet_hops", "", "frames sent on all links", &Row::packetHops},
            {"skipped_packet_hops", "", "of these, not simulated", &Row::skippedHops},
            {"derived_iterations", "", "iterations that repeat others", &Row::derivedIterations},
            {"simulated_collectives",
             "",
             "of groups whose collectives may be derived",
             &Row::simulatedCollectives},
            {"derived_collectives", "", "of the same groups", &Row::derivedCollectives}};
}

std::vector<RecordField<SampleRow>>
SampleRow::GetFields()
{
    using Row = SampleRow;
    return {{"time_s", "s", "simulated time of the sample", &Row::timeS},
            {"quantity", "", "what was sampled", &Row::quantity},
            {"node", "", "host or switch", &Row::node},
            {"port", "", "number of the port at that node", &Row::port},
            {"peer", "", "host or switch at the other end", &Row::peer},
            {"priority", "", "traffic class", &Row::priority},
            {"queue_pair", "", "number of the queue pair at that node", &Row::queuePair},
            {"job", "", "number of the job whose slots they are", &Row::job},
            {"value", "", "the value, until the next row of the series", &Row::value}};
}

std::vector<RecordField<ComputePhaseRow>>
ComputePhaseRow::GetFields()
{
    using Row = ComputePhaseRow;
    return {{"rank", "", "the rank", &Row::rank},
            {"iteration", "", "iteration of the job", &Row::iteration},
            {"phase", "", "such as forward", &Row::phase},
            {"start_s", "s", "simulated time of its start", &Row::startS},
            {"end_s", "s", "simulated time of its end", &Row::endS},
            {"derived", "", "follows from others, and was not simulated", &Row::derived}};
}

std::vector<RecordField<CriticalPathRow>>
CriticalPathRow::GetFields()
{
    using Row = CriticalPathRow;
    return {{"step", "", "number of the part, in order of time", &Row::step},
            {"rank", "", "rank that the path leads through", &Row::rank},
            {"task", "", "task in progress; empty: none", &Row::task},
            {"kind", "", "compute, what communication is for, or idle", &Row::kind},
            {"start_s", "s", "simulated time of its start", &Row::startS},
            {"end_s", "s", "simulated time of its end", &Row::endS}};
}

std::vector<RecordField<LearningRow>>
LearningRow::GetFields()
{
    using Row = LearningRow;
    return {{"iteration", "", "number of the iteration, from 0", &Row::iteration},
            {"end_s", "s", "simulated time of its end", &Row::endS},
            {"training_loss",
             "",
             "mean over the samples of the iteration, before its update",
             &Row::trainingLoss},
            {"test_loss", "", "of rank 0's replica after the update", &Row::testLoss},
            {"test_accuracy", "", "the same: share of right classes, 0 to 1", &Row::testAccuracy},
            {"drift", "", "largest difference of a weight between two ranks", &Row::drift}};
}

std::vector<RecordField<EnergyRow>>
EnergyRow::GetFields()
{
    using Row = EnergyRow;
    return {{"power_model", "", "power model with its keys", &Row::powerModel},
            {"iterations", "", "complete iterations", &Row::iterations},
            {"seconds", "s", "length of these", &Row::seconds},
            {"joules", "J", "energy of the cluster", &Row::joules},
            {"joules_per_iteration", "J", "joules / iterations", &Row::joulesPerIteration},
            {"joules_per_gradient_byte",
             "J",
             "the same / bytes of collectives and messages of rank 0",
             &Row::joulesPerGradientByte},
            {"compute_joules", "J", "GPUs that compute", &Row::computeJoules},
            {"waiting_joules", "J", "GPUs that do not compute", &Row::waitingJoules},
            {"host_joules", "J", "servers, CPUs, NICs", &Row::hostJoules},
            {"switch_joules", "J", "switches and their ports", &Row::switchJoules},
            {"bit_joules", "J", "bits on links, in switches, in memory", &Row::bitJoules},
            {"counts_retransmissions",
             "",
             "whether retransmissions are counted",
             &Row::countsRetransmissions},
            {"retransmission_joules",
             "J",
             "retransmitted part of bit_joules",
             &Row::retransmissionJoules},
            {"retransmitted_part",
             "",
             "retransmitted data packets / data packets sent",
             &Row::retransmittedPart},
            {"link_bits", "bit", "sent, sum of all links", &Row::linkBits},
            {"switch_bits", "bit", "received by switches", &Row::switchBits},
            {"memory_bits", "bit", "sent and received by hosts", &Row::memoryBits},
            {"dollars", "$", "price of GPUs and ports", &Row::dollars},
            {"dollars_per_iteration", "$", "dollars / iterations", &Row::dollarsPerIteration}};
}

std::vector<RecordField<LifeRow>>
LifeRow::GetFields()
{
    using Row = LifeRow;
    return {{"kind",
             "",
             "productive, checkpoint, lost, detection, waiting, restart; write: beside them",
             &Row::kind},
            {"start_s", "s", "simulated time of its start", &Row::startS},
            {"end_s", "s", "simulated time of its end", &Row::endS},
            {"length_ps", "ps", "its length, exact", &Row::lengthPs},
            {"iteration", "", "of work and checkpoints; else the next one", &Row::iteration},
            {"node", "", "detection: what has failed", &Row::node},
            {"detail", "", "detection: why; lost: work or checkpoint", &Row::detail}};
}

std::vector<RecordField<FlowRow>>
FlowRow::GetFields()
{
    using Row = FlowRow;
    return {{"flow", "", "number of the flow, from 0", &Row::number},
            {"source", "", "sending host", &Row::source},
            {"destination", "", "receiving host", &Row::destination},
            {"bytes", "byte", "payload", &Row::bytes},
            {"start_s", "s", "when it started", &Row::startS},
            {"end_s", "s", "when its last byte arrived", &Row::endS},
            {"time_s", "s", "completion time", &Row::timeS},
            {"idle_time_s", "s", "completion time on an idle network", &Row::idleS},
            {"slowdown", "", "ratio of the two", &Row::slowdown},
            {"measured", "", "whether it started in the time of the measurement", &Row::isMeasured},
            {"incast", "", "incast that it is part of, from 1; 0: none", &Row::incast}};
}

std::vector<RecordField<InputRow>>
InputRow::GetFields()
{
    using Row = InputRow;
    return {{"path", "", "of the file", &Row::path},
            {"fate", "", "used, ignored or assumed", &Row::fate},
            {"what", "", "name of the parts", &Row::what},
            {"count", "", "their number", &Row::count},
            {"first", "", "place of the first one", &Row::first}};
}

std::vector<InputRow>
InputRow::List()
{
    std::vector<InputRow> rows;
    for (const auto& [path, file] : InputManifest::GetFiles())
    {
        rows.push_back({path, "used", "", file.used, ""});
        for (const auto& [fate, parts] :
             {std::pair("ignored", &file.ignored), std::pair("assumed", &file.assumed)})
        {
            for (const auto& [what, part] : *parts)
            {
                rows.push_back({path, fate, what, part.count, part.first});
            }
        }
    }
    return rows;
}

std::vector<RecordField<BindingRow>>
BindingRow::GetFields()
{
    using Row = BindingRow;
    return {{"what", "", "kind of what limits the run", &Row::what},
            {"link", "", "its name", &Row::name},
            {"share", "", "of the communication for which it is busy", &Row::share},
            {"pause_share", "", "of all pauses, those that its node sent", &Row::pauseShare},
            {"sentence", "", "for people", &Row::sentence}};
}

std::vector<RecordField<JobRow>>
JobRow::GetFields()
{
    using Row = JobRow;
    return {{"job", "", "number of the job, from 0", &Row::number},
            {"name", "", "of the job", &Row::name},
            {"job_run_id", "", "run of its iterations, collectives and messages", &Row::runId},
            {"workload", "", "what it trained", &Row::workload},
            {"ranks", "", "number of ranks", &Row::ranks},
            {"placement", "", "how it got its hosts", &Row::placement},
            {"hosts", "", "of its ranks, such as 0-3,8", &Row::hosts},
            {"arrival_s", "s", "when it asked for hosts", &Row::arrivalS},
            {"wait_s", "s", "how long it waited for them", &Row::waitS},
            {"start_s", "s", "when it got them", &Row::startS},
            {"end_s", "s", "when its last rank ended", &Row::endS},
            {"iteration_time_s", "s", "mean of its iterations", &Row::iterationS},
            {"alone_iteration_time_s", "s", "the same alone; 0: not simulated", &Row::aloneS},
            {"slowdown", "", "ratio of the two; 0: not known", &Row::slowdown},
            {"slots", "", "of each switch; 0: no switch sums for it", &Row::slots},
            {"sent", "", "packets to switches, without those sent again", &Row::sent},
            {"resent", "", "packets sent again", &Row::resent},
            {"packets", "", "of its ranks and switches, at switches", &Row::packets},
            {"added", "", "packets added in slots", &Row::added},
            {"repeated", "", "duplicates at switches", &Row::repeated},
            {"collisions", "", "packets to servers, as slots were taken", &Row::collided},
            {"passed", "", "packets to servers, sent again or floats", &Row::passed},
            {"evicted", "", "partial sums to servers", &Row::evicted}};
}

} // namespace ns3::training
