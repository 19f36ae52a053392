/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_AGGREGATION_PROGRAM_H
#define DISTRIBUTED_TRAINING_AGGREGATION_PROGRAM_H

#include "endpoint-table.h"
#include "payload-values.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/switch-program.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Base of switch programs that aggregate for jobs. It keeps the job table by number; each job has
 * the endpoints that contribute, the endpoints that receive results, and its range of the switch's
 * slots. It sends frames after their pipeline delay unless the switch has restarted meanwhile. It
 * logs jobs, refusals and restarts.
 */
class AggregationProgram : public SwitchProgram
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /** @return lowest slot above the ranges of all jobs */
    uint32_t GetFirstFreeSlot() const;

    /**
     * @param first lowest slot of interest
     * @param count number of slots
     * @return lowest slot, from `first` on, that begins a range of so many slots without a job; the
     *         range may exceed the slots of the switch
     */
    uint32_t FindFreeSlots(uint32_t first, uint32_t count) const;

    /**
     * @param number of a job
     * @return whether the program serves it
     */
    bool HasJob(uint8_t number) const
    {
        return m_jobs[number] != nullptr;
    }

    /**
     * @return by number of a job that has not ended: its slots whose sum is not complete. A program
     *         that does not tell, the default, has none in samples
     */
    virtual std::map<uint8_t, uint32_t> GetOccupiedSlots() const
    {
        return {};
    }

  protected:
    /// Job numbers have 8 bits in all headers.
    static constexpr std::size_t JOB_NUMBERS = 256;

    /** A job; subclasses add their own state. */
    struct Job
    {
        virtual ~Job() = default;

        uint8_t number{0};           ///< number of the job
        uint32_t firstSlot{0};       ///< first slot of its range
        uint32_t slots{0};           ///< size of its range; 0: the program has no ranges
        EndpointTable children;      ///< endpoints that contribute
        std::vector<Target> targets; ///< receivers of results: the children in order, then others

        /**
         * @param slot number of a slot
         * @return whether it is in the job's range
         */
        bool HasSlot(uint32_t slot) const
        {
            return slot - firstSlot < slots;
        }
    };

    void DoDispose() override;

    /**
     * Adds the attribute Verify.
     * @param type of the program
     * @return the type
     */
    static TypeId AddVerify(TypeId type);

    /** Clears all sums; the jobs stay. */
    void Reset() override = 0;

    /**
     * @param number of a job
     * @return its name for messages, such as "switchml job 3"
     */
    std::string GetJobName(uint8_t number) const
    {
        return GetName() + " job " + std::to_string(number);
    }

    /**
     * @param number of a job to be added
     * @throw ConfigurationError if it is taken
     */
    void CheckJobNumberIsFree(uint8_t number) const;

    /**
     * @param number of a job to be added
     * @param count number of its contributors at this switch
     * @param most maximum
     * @param kind of contributors, such as "workers"
     * @throw ConfigurationError if there are none, or too many
     */
    void CheckChildren(uint8_t number,
                       std::size_t count,
                       uint32_t most,
                       const std::string& kind) const;

    /**
     * @param number of a job to be added
     * @param first first slot of its range
     * @param count number of slots of its range
     * @param available number of slots of the switch
     * @throw ConfigurationError if the range is empty, exceeds the switch's slots, or overlaps with
     *        the range of another job
     */
    void CheckSlots(uint8_t number, uint32_t first, uint32_t count, uint32_t available) const;

    /**
     * @tparam T the program's own job type
     * @param number of the job
     * @param firstSlot first slot of its range
     * @param slots size of its range
     * @param children endpoints that contribute and receive results, in the order of their bits
     * @return the job
     */
    template <class T>
    std::unique_ptr<T> MakeJob(uint8_t number,
                               uint32_t firstSlot,
                               uint32_t slots,
                               const std::vector<uint32_t>& children) const
    {
        auto job = std::make_unique<T>();
        job->number = number;
        job->firstSlot = firstSlot;
        job->slots = slots;
        for (uint32_t endpoint : children)
        {
            job->children.Add(endpoint);
            job->targets.push_back(MakeTarget(endpoint, number));
        }
        return job;
    }

    /**
     * @param job the complete job, with a free number
     */
    void AddJob(std::unique_ptr<Job> job);

    /**
     * Ends the service of a job. Its number and slots are free; its frames in the pipeline still
     * leave.
     * @param number of a job
     */
    void EndJob(uint8_t number);

    /**
     * @tparam T the program's own job type
     * @param number of a job
     * @return the job, or null
     */
    template <class T>
    T* FindJob(uint8_t number) const
    {
        return static_cast<T*>(m_jobs[number].get());
    }

    /**
     * Visits all jobs.
     * @tparam T the program's own job type
     * @param visit called with each job, by number
     */
    template <class T, class Visit>
    void ForEachJob(const Visit& visit) const
    {
        for (const auto& job : m_jobs)
        {
            if (job)
            {
                visit(static_cast<T&>(*job));
            }
        }
    }

    bool m_verify{false}; ///< attribute Verify: end when an invariant does not hold

    /**
     * Drops a frame that the program does not accept.
     * @param frame addressed to the program
     * @param reason for the log
     */
    void Refuse(Frame* frame, const char* reason) const;

    /**
     * Sends a frame to its destination after a delay, unless the switch restarts before.
     * @param frame owned by the program until then
     * @param delay pipeline delay
     */
    void SendAfter(Frame* frame, Time delay);

    /**
     * Like SendAfter(), to another endpoint.
     * @param frame owned by the program until then
     * @param delay pipeline delay
     * @param target destination
     */
    void SendAfter(Frame* frame, Time delay, const Target& target);

    /**
     * Like SendAfter(), to one target of a job, by SendResult().
     * @param frame owned by the program until then
     * @param delay pipeline delay
     * @param job of the frame
     * @param child index of the target
     */
    void SendAfter(Frame* frame, Time delay, Job& job, uint32_t child);

    /**
     * Like SendAfter(), to the first targets of a job, by SendResult() for each.
     * @param frame owned by the program until then
     * @param delay pipeline delay
     * @param job of the frame
     * @param count number of targets
     */
    void MulticastAfter(Frame* frame, Time delay, Job& job, uint32_t count);

    /**
     * Sends a frame to a target of a job; EmitTo() by default.
     * @param frame owned by the callee
     * @param job of the frame
     * @param child index of the target
     */
    virtual void SendResult(Frame* frame, Job& job, uint32_t child);

    /**
     * Calls a member function after a delay, unless the switch restarts before.
     * @param delay from now
     * @param action the function
     * @param arguments of the function, copied
     */
    template <class Program, class... Parameters>
    void CallAfter(Time delay, void (Program::*action)(Parameters...), Parameters... arguments)
    {
        Simulator::Schedule(delay,
                            &AggregationProgram::CallUnlessRestarted<Program, Parameters...>,
                            this,
                            action,
                            GetRestarts(),
                            arguments...);
    }

  private:
    template <class Program, class... Parameters>
    void CallUnlessRestarted(void (Program::*action)(Parameters...),
                             uint32_t restarts,
                             Parameters... arguments)
    {
        if (restarts == GetRestarts())
        {
            (static_cast<Program*>(this)->*action)(std::move(arguments)...);
        }
    }

    bool IsLost(Frame* frame, uint32_t restarts) const;
    void SendNow(Frame* frame, uint32_t restarts);
    void SendToNow(Frame* frame, Target target, uint32_t restarts);
    void SendResultNow(Frame* frame, Job* job, uint32_t child, uint32_t restarts);
    void MulticastNow(Frame* frame, Job* job, uint32_t count, uint32_t restarts);

    std::array<std::unique_ptr<Job>, JOB_NUMBERS> m_jobs; // by number
    std::vector<std::unique_ptr<Job>> m_ended;            // events may still refer to them
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_AGGREGATION_PROGRAM_H
