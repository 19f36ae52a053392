# SPDX-License-Identifier: GPL-2.0-only
#
# The Python package with all programs:
#
#   docker build -t distributed-training .
#   docker run --rm -v "$PWD:/work" distributed-training run training-job --ranks=16 --topology=fat-tree:k=4
#
# The C++ classes in Python (`dt.ns`) need a compiler: `docker build --target build` keeps it, and /opt/venv.

FROM debian:12-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates ccache cmake g++ git libboost-dev \
        libsqlite3-dev libtomlplusplus-dev ninja-build python3-dev python3-venv zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN python3 -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir /source

FROM debian:12-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libsqlite3-0 python3 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 simulator \
    && install -d -o simulator /work
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
USER 1000
WORKDIR /work
ENTRYPOINT ["distributed-training"]
CMD ["--help"]
