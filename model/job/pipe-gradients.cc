/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gradient-training.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>

namespace ns3::training
{

namespace
{

/** What is asked of the process at the other end. */
enum class Question : uint32_t
{
    BEGIN = 1, ///< rank: number of ranks; iteration: number of iterations; first: batch;
               ///< count: gradients of an iteration. Answer: uint64, gradients of the model
    MAKE,      ///< Answer: float64, loss; `count` float32, gradients from `first` on
    APPLY,     ///< `count` float32 follow: sums of the gradients from `first` on. No answer
    WEIGHTS,   ///< Answer: uint64, number of weights; float32, weights of the rank
    EVALUATE   ///< Answer: float64, loss; float64, accuracy
};

/** A question, in the byte order of the machine. */
struct Request
{
    Question question;
    uint32_t rank;
    uint32_t iteration;
    uint32_t reserved;
    uint64_t first;
    uint64_t count;
};

static_assert(sizeof(Request) == 32, "the layout is documented in doc/python-learning.rst");

/** A stream socket with a process at the other end. */
class Connection
{
  public:
    Connection(int socket, double timeout)
        : m_socket(socket),
          m_timeout(timeout)
    {
    }

    /** Sends bytes. */
    void Send(const void* data, std::size_t bytes) const
    {
        const auto* next = static_cast<const char*>(data);
        while (bytes > 0)
        {
            Wait(POLLOUT);
            const ssize_t sent = send(m_socket, next, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN && errno != EINTR)
            {
                Fail(std::strerror(errno));
            }
            next += std::max<ssize_t>(sent, 0);
            bytes -= static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
        }
    }

    /** Receives bytes. */
    void Receive(void* data, std::size_t bytes) const
    {
        auto* next = static_cast<char*>(data);
        while (bytes > 0)
        {
            Wait(POLLIN);
            const ssize_t received = recv(m_socket, next, bytes, MSG_DONTWAIT);
            if (received == 0)
            {
                Fail("the other end is closed");
            }
            if (received < 0 && errno != EAGAIN && errno != EINTR)
            {
                Fail(std::strerror(errno));
            }
            next += std::max<ssize_t>(received, 0);
            bytes -= static_cast<std::size_t>(std::max<ssize_t>(received, 0));
        }
    }

    /** @return a number that is received */
    template <class Number>
    Number Get() const
    {
        Number number;
        Receive(&number, sizeof(number));
        return number;
    }

    /** @return numbers that are received */
    std::vector<float> GetFloats(uint64_t count) const
    {
        std::vector<float> numbers(count);
        Receive(numbers.data(), count * sizeof(float));
        return numbers;
    }

  private:
    [[noreturn]] void Fail(const std::string& reason) const
    {
        throw std::runtime_error("gradients: socket " + std::to_string(m_socket) + ": " + reason);
    }

    void Wait(short events) const
    {
        pollfd waiting{m_socket, events, 0};
        if (poll(&waiting, 1, static_cast<int>(m_timeout * 1e3)) == 0)
        {
            Fail("no answer within " + std::to_string(static_cast<int>(m_timeout)) + " s");
        }
    }

    int m_socket;
    double m_timeout; // s
};

/** A replica whose model is in another process. */
class PipeLearner : public GradientLearner
{
  public:
    PipeLearner(const Connection& connection, uint64_t gradients, uint32_t rank, bool updates)
        : m_connection(connection),
          m_gradients(gradients),
          m_rank(rank),
          m_updates(updates)
    {
    }

    std::vector<float> Make(const GradientPlace& place, std::size_t count) override
    {
        Ask(Question::MAKE, place.iteration, place.first, count);
        m_losses.resize(place.iteration + 1);
        m_losses.back() = m_connection.Get<double>();
        return m_connection.GetFloats(count);
    }

    void Apply(const GradientPlace& place, const std::vector<float>& sum) override
    {
        if (m_updates)
        {
            Ask(Question::APPLY, place.iteration, place.first, sum.size());
            m_connection.Send(sum.data(), sum.size() * sizeof(float));
        }
    }

    double GetLoss(uint32_t iteration) const override
    {
        return m_losses.at(iteration);
    }

    std::vector<float> GetWeights() const override
    {
        Ask(Question::WEIGHTS, 0, 0, 0);
        const auto count = m_connection.Get<uint64_t>();
        if (count != m_gradients)
        {
            throw std::runtime_error("gradients: rank " + std::to_string(m_rank) + " has " +
                                     std::to_string(count) + " weights, not " +
                                     std::to_string(m_gradients));
        }
        return m_connection.GetFloats(count);
    }

    LearnerScore Evaluate(uint32_t iteration) const override
    {
        Ask(Question::EVALUATE, iteration, 0, 0);
        LearnerScore score;
        score.loss = m_connection.Get<double>();
        score.accuracy = m_connection.Get<double>();
        return score;
    }

  private:
    void Ask(Question question, uint32_t iteration, uint64_t first, uint64_t count) const
    {
        const Request request{question, m_rank, iteration, 0, first, count};
        m_connection.Send(&request, sizeof(request));
    }

    Connection m_connection;
    uint64_t m_gradients; // of an iteration
    uint32_t m_rank;
    bool m_updates;               // false: a view of the rank's replica
    std::vector<double> m_losses; // by iteration
};

/** A training in another process. */
class PipeTraining : public GradientTraining
{
  public:
    PipeTraining(const std::string& spelling,
                 const Connection& connection,
                 const TrainingPlan& plan)
        : m_spelling(spelling),
          m_connection(connection),
          m_plan(plan)
    {
    }

    void Check(uint32_t iterations, uint64_t gradients) const override
    {
        const Request request{Question::BEGIN,
                              m_plan.ranks,
                              iterations,
                              0,
                              m_plan.batch,
                              gradients};
        m_connection.Send(&request, sizeof(request));
        const auto weights = m_connection.Get<uint64_t>();
        if (weights != gradients)
        {
            throw ConfigurationError("gradients",
                                     m_spelling,
                                     ": the model has " + std::to_string(weights) +
                                         " weights (allowed: " + std::to_string(gradients) +
                                         ", the parameters of the workload)");
        }
        m_gradients = gradients;
    }

    bool RepeatsInMemory() const override
    {
        return false;
    }

    std::unique_ptr<GradientLearner> MakeLearner(uint32_t rank) const override
    {
        return std::make_unique<PipeLearner>(m_connection, m_gradients, rank, true);
    }

    std::unique_ptr<GradientLearner> MakeReference(uint32_t rank) const override
    {
        return std::make_unique<PipeLearner>(m_connection, m_gradients, rank, false);
    }

  private:
    std::string m_spelling;
    Connection m_connection;
    TrainingPlan m_plan;
    mutable uint64_t m_gradients{0}; // of an iteration, after Check()
};

std::shared_ptr<const GradientTraining>
MakePipe(const KeyValues& values, const TrainingPlan& plan)
{
    const int socket = static_cast<int>(values.GetCount("fd"));
    struct stat status;
    if (fstat(socket, &status) != 0 || !S_ISSOCK(status.st_mode))
    {
        throw ConfigurationError(
            "gradients",
            values.GetSpelling(),
            ": the program has no socket of this number (allowed: one that "
            "the process that starts it hands on, as the Python package does)");
    }
    return std::make_shared<PipeTraining>(values.GetSpelling(),
                                          Connection(socket, values.GetNumber("timeout")),
                                          plan);
}

const Registry<GradientSourceEntry>::Entry g_pipe(
    "pipe",
    {"a training in the process that starts the program, such as TrainingJob.train() in Python",
     nullptr,
     {Key::Count("fd", 3, 0, 1 << 20, "number of an open stream socket"),
      Key::Number("timeout", 600, 1, 1e6, "longest wait for an answer, s")},
     {},
     &MakePipe});

} // namespace

} // namespace ns3::training
