/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BYTE_BUFFER_H
#define DISTRIBUTED_TRAINING_BYTE_BUFFER_H

#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The real bytes of a message. The buffer is filled once and then shared read-only by the message,
 * its frames and its retransmissions; a modified copy needs its own buffer.
 */
struct ByteBuffer : public SimpleRefCount<ByteBuffer>
{
    std::vector<uint8_t> bytes; ///< the contents
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BYTE_BUFFER_H
