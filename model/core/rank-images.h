/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANK_IMAGES_H
#define DISTRIBUTED_TRAINING_RANK_IMAGES_H

#include <cstdint>

namespace ns3::training
{

/**
 * @ingroup distributed-training-core
 *
 * Ranks that are images of one another under a cyclic shift of the replicas of a job. Rank r is in
 * replica r / stride mod replicas, and `block` replicas in a row are simulated: image 0. All other
 * blocks are images of it, so what leaves image 0 arrives there, as from the image on its other
 * side. By default all ranks are simulated.
 */
class RankImages
{
  public:
    RankImages() = default;

    /**
     * @param stride ranks with the same replica in a row
     * @param replicas number of replicas
     * @param block replicas that are simulated; divides them
     */
    RankImages(uint32_t stride, uint32_t replicas, uint32_t block)
        : m_stride(stride),
          m_replicas(replicas),
          m_block(block)
    {
    }

    /** @return number of images; 1: all ranks are simulated */
    uint32_t GetCount() const
    {
        return m_replicas / m_block;
    }

    /** @param rank a rank @return number of its image; 0: it is simulated */
    uint32_t GetImage(uint32_t rank) const
    {
        return rank / m_stride % m_replicas / m_block;
    }

    /**
     * @param rank a rank
     * @param images number of images, at most GetCount()
     * @return the rank in its place so many images further
     */
    uint32_t Turn(uint32_t rank, uint32_t images) const
    {
        const uint32_t replica = rank / m_stride % m_replicas;
        const uint32_t turned = (replica + images * m_block) % m_replicas;
        return rank - replica * m_stride + turned * m_stride;
    }

    /**
     * @param rank a rank
     * @param like a rank
     * @return the rank in the place of `rank` so many images back as `like` is in
     */
    uint32_t TurnBack(uint32_t rank, uint32_t like) const
    {
        return Turn(rank, GetCount() - GetImage(like));
    }

    /** @param rank a rank @return the simulated rank whose image it is */
    uint32_t GetSimulated(uint32_t rank) const
    {
        return TurnBack(rank, rank);
    }

  private:
    uint32_t m_stride{1};
    uint32_t m_replicas{1};
    uint32_t m_block{1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_IMAGES_H
