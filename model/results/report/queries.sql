-- SPDX-License-Identifier: GPL-2.0-only
--
-- Rows that a report gets of a run, @run, in the order in which a limit keeps them. @links is the run
-- that has its links: its own, or that of the cluster that it shared. Each query has its name and the
-- maximum number of rows on the page.

-- query: run
-- limit: 1
SELECT program, version, seed, started, finished, state, reason, configuration FROM run
WHERE run_id = @run

-- query: binding
-- limit: 1
SELECT what, link, share, pause_share, sentence FROM binding WHERE run_id = @run

-- query: job
-- limit: 200
SELECT * FROM job WHERE run_id = @run OR job_run_id = @run ORDER BY job

-- query: iteration
-- limit: 1000
SELECT * FROM iteration WHERE run_id = @run ORDER BY iteration DESC

-- query: bucket
-- limit: 4000
SELECT *, start_s - ready_s AS wait_s, end_s - start_s AS network_s FROM bucket WHERE run_id = @run
ORDER BY iteration DESC, ready_s

-- query: group
-- limit: 500
SELECT communicator, operation, algorithm, count(*) AS collectives, sum(bytes) AS bytes,
       sum(start_s - ready_s) AS wait_s, sum(end_s - start_s) AS network_s, max(ranks) AS ranks
FROM bucket
WHERE run_id = @run AND iteration = (SELECT coalesce(max(iteration), 0) FROM iteration WHERE run_id = @run)
GROUP BY communicator, operation, algorithm ORDER BY network_s DESC

-- query: layer
-- limit: 300
SELECT layers, count(*) AS collectives, sum(bytes) AS bytes, sum(start_s - ready_s) AS wait_s,
       sum(end_s - start_s) AS network_s
FROM bucket
WHERE run_id = @run AND layers <> '' AND
      iteration = (SELECT coalesce(max(iteration), 0) FROM iteration WHERE run_id = @run)
GROUP BY layers ORDER BY network_s DESC

-- query: phase
-- limit: 300
SELECT phase, sum(end_s - start_s) / count(DISTINCT rank) AS mean_s, max(end_s - start_s) AS longest_s,
       count(DISTINCT rank) AS ranks
FROM compute_phase
WHERE run_id = @run AND iteration = (SELECT coalesce(max(iteration), 0) FROM iteration WHERE run_id = @run)
GROUP BY phase ORDER BY mean_s DESC

-- query: path
-- limit: 5000
SELECT * FROM critical_path WHERE run_id = @run ORDER BY step

-- query: compute
-- limit: 20000
SELECT * FROM compute_phase WHERE run_id = @run ORDER BY iteration DESC, rank, start_s

-- query: collective
-- limit: 20000
SELECT * FROM collective WHERE run_id = @run ORDER BY iteration DESC, rank, start_s

-- query: message
-- limit: 200
SELECT * FROM slowest_message WHERE run_id = @run ORDER BY time_s DESC, start_s, source, destination

-- query: traffic
-- limit: 12000
SELECT communicator, min(199, CAST(200 * end_s / last AS INTEGER)) AS part, sum(bytes) AS bytes, last / 200 AS width_s
FROM message, (SELECT max(max(end_s), 1e-12) AS last FROM message WHERE run_id = @run)
WHERE run_id = @run GROUP BY communicator, part ORDER BY communicator, part

-- query: link
-- limit: 20000
SELECT node, port, peer, bytes, marks, pauses, drops, losses, trims, max_queue_bytes, rate_bps, utilization,
       paused_s
FROM link_counter WHERE run_id = @links ORDER BY busy_s DESC, node, port

-- In files of older versions samples have no job: the name then is that of the 0 beside them.
-- query: series
-- limit: 100
SELECT quantity, count(*) AS series, sum(rows) AS rows, max(peak) AS peak
FROM (SELECT quantity, count(*) AS rows, max(value) AS peak
      FROM (SELECT quantity, node, port, priority, queue_pair, value,
                   (SELECT job FROM sample AS own WHERE own.rowid = each.rowid) AS job
            FROM sample AS each, (SELECT 0 AS job) WHERE run_id = @links)
      GROUP BY quantity, node, port, priority, queue_pair, job)
GROUP BY quantity ORDER BY quantity

-- The 12 series of each quantity with the highest peaks; of each of 300 parts of the time the last
-- value and the highest one.
-- query: sample
-- limit: 90000
WITH here AS (SELECT time_s, quantity, node, port, peer, priority, queue_pair, value,
                     (SELECT job FROM sample AS own WHERE own.rowid = each.rowid) AS job
              FROM sample AS each, (SELECT 0 AS job) WHERE run_id = @links),
peak AS (SELECT *, row_number() OVER (PARTITION BY quantity ORDER BY peak DESC, node, port, priority,
                                      queue_pair, job) AS place
         FROM (SELECT quantity, node, port, priority, queue_pair, job, max(value) AS peak FROM here
               GROUP BY quantity, node, port, priority, queue_pair, job)),
span AS (SELECT max(max(time_s) - min(time_s), 1e-12) AS length, min(time_s) AS first FROM here),
part AS (SELECT here.*, CAST(300 * (time_s - first) / length AS INTEGER) AS part
         FROM here JOIN peak USING (quantity, node, port, priority, queue_pair, job), span
         WHERE place <= 12)
SELECT quantity, node, port, peer, priority, queue_pair, job, time_s, value
FROM (SELECT *,
             row_number() OVER (PARTITION BY quantity, node, port, priority, queue_pair, job, part
                                ORDER BY value DESC, time_s) AS highest,
             row_number() OVER (PARTITION BY quantity, node, port, priority, queue_pair, job, part
                                ORDER BY time_s DESC) AS last
      FROM part)
WHERE highest = 1 OR last = 1 ORDER BY time_s, quantity, node, port, priority, queue_pair, job
