/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_AGGREGATION_PROGRAM_H
#define DISTRIBUTED_TRAINING_AGGREGATION_PROGRAM_H

#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/switch-program.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * Endpoints by the order in which they were added, found by endpoint in constant time.
 */
class EndpointTable
{
  public:
    /// Instead of a place in the order.
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

    /** @param endpoint added behind the others; once only */
    void Add(uint32_t endpoint);

    /**
     * @param endpoint any
     * @return its place in the order of addition, or NONE
     */
    uint32_t Find(uint32_t endpoint) const
    {
        return endpoint < m_places.size() ? m_places[endpoint] : NONE;
    }

    /** @return how many there are */
    uint32_t GetCount() const
    {
        return m_count;
    }

  private:
    std::vector<uint32_t> m_places; // by endpoint
    uint32_t m_count{0};
};

/**
 * @ingroup distributed-training-innetwork
 *
 * Base of switch programs that add for jobs. It keeps the table of jobs by number, each with the
 * endpoints that contribute, the endpoints that get results, and its range of the switch's slots;
 * sends frames after their time in the pipeline, if the switch has not restarted until then; and
 * moves numbers between payloads and registers. It logs jobs, refusals and restarts.
 */
class AggregationProgram : public SwitchProgram
{
  public:
    /** @return the type */
    static TypeId GetTypeId();
    AggregationProgram();
    ~AggregationProgram() override;

    /** @return the least slot behind the slots of all jobs */
    uint32_t GetFirstFreeSlot() const;

  protected:
    /// Numbers of jobs have 8 bits in all headers.
    static constexpr std::size_t JOB_NUMBERS = 256;

    /** A job; programs derive their own from it. */
    struct Job
    {
        virtual ~Job() = default;

        uint8_t number{0};           ///< which job
        uint32_t firstSlot{0};       ///< its range of the slots begins here
        uint32_t slots{0};           ///< size of that range; 0: the program has no ranges
        EndpointTable children;      ///< endpoints that contribute
        std::vector<Target> targets; ///< of results: the children in their order, then others

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

    /** Forgets all sums; the jobs stay. */
    void Reset() override = 0;

    /**
     * @param number of a job
     * @return its name for messages, such as "switchml job 3"
     */
    std::string GetJobName(uint8_t number) const;

    /**
     * @param number of a job that is to be added
     * @throw ConfigurationError if it is taken
     */
    void CheckJobNumberIsFree(uint8_t number) const;

    /**
     * @param number of a job that is to be added
     * @param first slot of its range
     * @param count slots of its range
     * @param available slots of the switch
     * @throw ConfigurationError if the range is empty, beyond the switch's slots, or overlaps with
     *        that of another job
     */
    void CheckSlots(uint8_t number, uint32_t first, uint32_t count, uint32_t available) const;

    /**
     * Adds endpoints that contribute to a job and get its results.
     * @param job to be completed
     * @param endpoints in the order of their bits
     */
    void AddChildren(Job& job, const std::vector<uint32_t>& endpoints) const;

    /**
     * @param job complete, with a number that is free
     */
    void AddJob(std::unique_ptr<Job> job);

    /**
     * @tparam T the program's own type of jobs
     * @param number of a job
     * @return it, or null
     */
    template <class T>
    T* FindJob(uint8_t number) const
    {
        return static_cast<T*>(m_jobs[number].get());
    }

    /** @return all jobs by number; null: none */
    const std::array<std::unique_ptr<Job>, JOB_NUMBERS>& GetJobs() const;

    /**
     * Frees a frame that the program does not take.
     * @param frame addressed to it
     * @param reason for the log
     */
    void Refuse(Frame* frame, const char* reason) const;

    /**
     * Sends a frame with its own addresses when a delay is over, unless the switch has restarted by
     * then.
     * @param frame owned by the program until then
     * @param delay its time in the pipeline
     */
    void SendAfter(Frame* frame, Time delay);

    /**
     * As SendAfter(), to another endpoint.
     * @param frame owned by the program until then
     * @param delay its time in the pipeline
     * @param target to send to
     */
    void SendAfter(Frame* frame, Time delay, const Target& target);

    /**
     * As SendAfter(), to one target of a job, by SendResult().
     * @param frame owned by the program until then
     * @param delay its time in the pipeline
     * @param job of the frame
     * @param child number of the target
     */
    void SendAfter(Frame* frame, Time delay, Job& job, uint32_t child);

    /**
     * As SendAfter(), to the first targets of a job, by SendResult() for each.
     * @param frame owned by the program until then
     * @param delay its time in the pipeline
     * @param job of the frame
     * @param count targets
     */
    void MulticastAfter(Frame* frame, Time delay, Job& job, uint32_t count);

    /**
     * A frame leaves for a target of a job: by default EmitTo().
     * @param frame owned by the callee
     * @param job of the frame
     * @param child number of the target
     */
    virtual void SendResult(Frame* frame, Job& job, uint32_t child);

    /**
     * Calls a member function when a delay is over, unless the switch has restarted by then.
     * @param delay from now
     * @param action the function
     * @param arguments of the function, copied
     */
    template <class Program, class... Parameters>
    void CallAfter(Time delay, void (Program::*action)(Parameters...), Parameters... arguments)
    {
        Simulator::Schedule(delay,
                            &AggregationProgram::CallInLife<Program, Parameters...>,
                            this,
                            action,
                            GetLife(),
                            arguments...);
    }

    /**
     * Reads the numbers of a real payload.
     * @param frame with the payload
     * @param values to be filled in
     * @param count of them
     */
    static void ReadValues(const Frame& frame, int32_t* values, uint32_t count);

    /** As ReadValues() of integers, of float32 numbers. */
    static void ReadValues(const Frame& frame, float* values, uint32_t count);

    /**
     * Gives a frame a payload of its own.
     * @param frame whose payload may be another frame's, too
     * @param values its numbers
     * @param count of them
     */
    static void WriteValues(Frame& frame, const int32_t* values, uint32_t count);

    /** As WriteValues() of integers, of float32 numbers. */
    static void WriteValues(Frame& frame, const float* values, uint32_t count);

  private:
    template <class Program, class... Parameters>
    void CallInLife(void (Program::*action)(Parameters...), uint32_t life, Parameters... arguments)
    {
        if (life == GetLife())
        {
            (static_cast<Program*>(this)->*action)(std::move(arguments)...);
        }
    }

    bool IsLost(Frame* frame, uint32_t life) const;
    void SendNow(Frame* frame, uint32_t life);
    void SendToNow(Frame* frame, Target target, uint32_t life);
    void SendResultNow(Frame* frame, Job* job, uint32_t child, uint32_t life);
    void MulticastNow(Frame* frame, Job* job, uint32_t count, uint32_t life);

    std::array<std::unique_ptr<Job>, JOB_NUMBERS> m_jobs; // by number
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_AGGREGATION_PROGRAM_H
