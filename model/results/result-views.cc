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
    SELECT run.run_id, coalesce(what, 'unknown') AS what, link, share, pause_share,
           coalesce(sentence, 'What binds is not recorded') AS sentence
    FROM run LEFT JOIN limitation ON limitation.run_id = run.run_id;
)";

} // namespace ns3::training
