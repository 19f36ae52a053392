# SPDX-License-Identifier: GPL-2.0-only
"""A sweep on the workers of Dask, here of a cluster on this machine.

    ./ns3w python -m pip install distributed
    ./ns3w python bindings/python/examples/dask_sweep.py runs.sqlite

Workers on other machines need the same paths: the build and the input files on a shared disk.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import distributed_training as dt

if TYPE_CHECKING:
    import pandas


def main(store: str | None = None) -> pandas.DataFrame:
    """Return the rows of 6 jobs, whose runs two workers make."""
    from distributed import Client, LocalCluster

    jobs = dt.CollectiveBenchmark.grid(bytes="1M", ranks=[2, 4, 8], transport=["rdma", "tcp"])
    with LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with Client(cluster) as client, client.get_executor() as executor:
            return dt.sweep(jobs, executor, store=store)


if __name__ == "__main__":
    columns = ["ranks", "transport", "time_us"]
    print(main(*sys.argv[1:2])[columns].to_string(index=False))
