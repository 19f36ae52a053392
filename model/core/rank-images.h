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
 * Ranks that are images of one another under cyclic shifts of the replicas of a job. Rank r is in
 * replica r / stride mod replicas, and `block` replicas in a row are simulated: image 0. All other
 * blocks are images of it, so what leaves image 0 arrives there, as from the image on its other
 * side. Images may lie in rows of as many, such as those of a server: a shift within all rows at
 * once, or of the rows. By default all ranks are simulated.
 */
class RankImages
{
  public:
    RankImages() = default;

    /**
     * @param stride ranks with the same replica in a row
     * @param replicas number of replicas
     * @param block replicas that are simulated; divides them
     * @param row images in a row; divides their number
     */
    RankImages(uint32_t stride, uint32_t replicas, uint32_t block, uint32_t row)
        : m_stride(stride),
          m_replicas(replicas),
          m_block(block),
          m_row(row)
    {
    }

    /** @return number of images; 1: all ranks are simulated */
    uint32_t GetCount() const
    {
        return m_replicas / m_block;
    }

    /** @return images in a row; their number if there is one row */
    uint32_t GetRow() const
    {
        return m_row;
    }

    /** @param rank a rank @return number of its image; 0: it is simulated */
    uint32_t GetImage(uint32_t rank) const
    {
        return rank / m_stride % m_replicas / m_block;
    }

    /**
     * @param rank a rank
     * @param images number of an image: so many places in its row further, and so many rows, as
     *        that image is from image 0
     * @return the rank in its place there
     */
    uint32_t Turn(uint32_t rank, uint32_t images) const
    {
        return Move(rank, images / m_row, images % m_row);
    }

    /**
     * @param rank a rank
     * @param like a rank
     * @return the rank in the place of `rank` so many images back as `like` is in
     */
    uint32_t TurnBack(uint32_t rank, uint32_t like) const
    {
        const uint32_t image = GetImage(like);
        return Move(rank, GetCount() / m_row - image / m_row, m_row - image % m_row);
    }

    /** @param rank a rank @return the simulated rank whose image it is */
    uint32_t GetSimulated(uint32_t rank) const
    {
        return TurnBack(rank, rank);
    }

  private:
    /** @return the rank in the place of a rank so many rows, and places in a row, further */
    uint32_t Move(uint32_t rank, uint32_t rows, uint32_t places) const
    {
        const uint32_t image = GetImage(rank);
        const uint32_t row = (image / m_row + rows) % (GetCount() / m_row);
        const uint32_t turned = row * m_row + (image % m_row + places) % m_row;
        return rank - image * m_block * m_stride + turned * m_block * m_stride;
    }

    uint32_t m_stride{1};
    uint32_t m_replicas{1};
    uint32_t m_block{1};
    uint32_t m_row{1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_IMAGES_H
