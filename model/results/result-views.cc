/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/result-views.h"

namespace ns3::training
{

const char* const RESULT_VIEWS = R"(
CREATE VIEW IF NOT EXISTS bucket AS
    SELECT run_id, iteration, communicator, sequence AS bucket, operation, algorithm, layers,
           max(bytes) AS bytes, count(*) AS ranks, min(start_s) AS ready_s,
           max(max(start_s, turn_s)) AS start_s, max(end_s) AS end_s
    FROM collective GROUP BY run_id, iteration, communicator, sequence, operation, layers;
CREATE VIEW IF NOT EXISTS bucket_wait AS
    SELECT run_id, iteration, communicator, bucket, operation, layers, bytes,
           start_s - ready_s AS wait_s, end_s - start_s AS network_s
    FROM bucket;
CREATE VIEW IF NOT EXISTS bottleneck AS
    SELECT run_id, node, port, peer, node || ' -> ' || peer AS link, rate_bps, utilization, paused_s,
           coalesce(1.0 * (SELECT sum(pauses) FROM link_counter AS own
                           WHERE own.run_id = busiest.run_id AND own.node = busiest.node) /
                    nullif((SELECT sum(pauses) FROM link_counter AS every
                            WHERE every.run_id = busiest.run_id), 0), 0.0) AS pause_share
    FROM (SELECT run_id, node, port, peer, rate_bps, utilization, paused_s, max(busy_s)
          FROM link_counter GROUP BY run_id) AS busiest;
CREATE VIEW IF NOT EXISTS slowest_message AS
    SELECT run_id, source, destination, communicator, collective, step, bytes, start_s, end_s,
           end_s - start_s AS time_s, 8e-9 * bytes / nullif(end_s - start_s, 0) AS rate_Gbps
    FROM message ORDER BY time_s DESC;
DROP VIEW IF EXISTS binding; -- of an older program
CREATE VIEW binding AS
    WITH measured AS (
        SELECT run_id, sum(iteration_time_s) AS time_s, sum(compute_time_s) AS compute_s,
               sum(communication_time_s) AS communication_s, sum(bubble_s) AS bubble_s,
               sum(exposed_data_s + exposed_tensor_s + exposed_pipeline_s + exposed_context_s +
                   exposed_expert_s + exposed_other_s) AS exposed_s
        FROM iteration WHERE warmup = 0 GROUP BY run_id),
    line AS ( -- a frame takes 20 bytes more than its own: preamble and gap; a sum, as a join is slow
        SELECT run_id, node, peer, sum(bits) / max(rate_bps) AS busy_s
        FROM (SELECT used.run_id, node, port, peer, 8.0 * (bytes + 20 * frames) AS bits,
                     0 AS rate_bps
              FROM link_iteration AS used
                   JOIN iteration ON iteration.run_id = used.run_id AND
                                     iteration.iteration = used.iteration
              WHERE warmup = 0
              UNION ALL SELECT run_id, node, port, peer, 0.0, rate_bps FROM link_counter)
        GROUP BY run_id, node, port, peer HAVING max(rate_bps) > 0),
    busiest AS (SELECT run_id, node, peer, max(busy_s) AS busy_s FROM line GROUP BY run_id),
    found AS (
        SELECT run.run_id, coalesce(job.run_id, run.run_id) AS links, time_s, compute_s, bubble_s,
               exposed_s, communication_s > 0 AND busy_s > 0 AS is_measured,
               CASE WHEN communication_s > 0 AND busy_s > 0 THEN min(busy_s / communication_s, 1.0)
                    ELSE utilization END AS share,
               CASE WHEN communication_s > 0 AND busy_s > 0 THEN busiest.node
                    ELSE bottleneck.node END AS node,
               CASE WHEN communication_s > 0 AND busy_s > 0 THEN busiest.peer
                    ELSE bottleneck.peer END AS peer
        FROM run LEFT JOIN measured ON measured.run_id = run.run_id
                 LEFT JOIN busiest ON busiest.run_id = run.run_id
                 LEFT JOIN job ON job.job_run_id = run.run_id
                 LEFT JOIN bottleneck ON bottleneck.run_id = coalesce(job.run_id, run.run_id)),
    judged AS (
        SELECT *, node || ' -> ' || peer AS link,
               CASE WHEN time_s > 0 AND compute_s > 0 AND exposed_s + bubble_s <= 0.05 * time_s
                    THEN 'computation'
                    WHEN time_s > 0 AND bubble_s > exposed_s THEN 'waiting'
                    WHEN share >= 0.7 THEN 'link'
                    WHEN share > 0 THEN 'latency'
                    ELSE 'unknown' END AS what,
               (SELECT sum(pauses) FROM link_counter AS own
                WHERE own.run_id = links AND own.node = found.node) AS own_pauses,
               (SELECT sum(pauses) FROM link_counter AS every WHERE every.run_id = links) AS pauses,
               (SELECT sum(drops) FROM link_counter AS every WHERE every.run_id = links) AS drops,
               (SELECT sum(losses) FROM link_counter AS every WHERE every.run_id = links) AS losses
        FROM found)
    SELECT run_id, what, link, share, pause_share, sentence FROM limitation
    UNION ALL
    SELECT run_id, what, link, share, coalesce(1.0 * own_pauses / nullif(pauses, 0), 0.0) AS pause_share,
           CASE what
           WHEN 'computation' THEN
               printf('Computation binds: ranks are idle for %.0f %% of an iteration',
                      100.0 * (exposed_s + bubble_s) / time_s)
           WHEN 'waiting' THEN
               printf('Waiting binds: ranks wait for other ranks for %.0f %% of an iteration, and for communication for %.0f %%',
                      100.0 * bubble_s / time_s, 100.0 * exposed_s / time_s)
           WHEN 'link' THEN
               printf('The link %s binds: it is busy for %.0f %% of the %s', link, 100.0 * share,
                      CASE WHEN is_measured THEN 'communication' ELSE 'run' END)
           WHEN 'latency' THEN
               printf('No link binds, but latencies, windows and hosts: the busiest link, %s, is busy for %.0f %% of the %s',
                      link, 100.0 * share,
                      CASE WHEN is_measured THEN 'communication' ELSE 'run' END)
           ELSE 'What binds is not known: no traffic is recorded' END ||
           CASE WHEN own_pauses > 0
                THEN printf('; %s sent %.0f %% of the pauses', node, 100.0 * own_pauses / pauses)
                ELSE '' END ||
           CASE WHEN drops > 0 THEN printf('; frames dropped: %d', drops) ELSE '' END ||
           CASE WHEN losses > 0 THEN printf('; frames lost on links: %d', losses) ELSE '' END AS sentence
    FROM judged WHERE run_id NOT IN (SELECT run_id FROM limitation);
)";

} // namespace ns3::training
