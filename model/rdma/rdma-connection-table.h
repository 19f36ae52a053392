/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_CONNECTION_TABLE_H
#define DISTRIBUTED_TRAINING_RDMA_CONNECTION_TABLE_H

#include "ns3/ptr.h"
#include "ns3/training-prefetch.h"

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The connections of a NIC by number. One that does not exist yet is asked of listeners.
 *
 * @tparam T a connection: RdmaQueuePair or UecConnection
 */
template <class T>
class RdmaConnectionTable
{
  public:
    /** Creates the connection for a number in a received frame, or returns null to refuse it. */
    using Listener = std::function<T*(uint32_t number)>;

    /**
     * @param connection added; it keeps its number when it is closed
     * @return false if there is one of this number
     */
    bool Add(Ptr<T> connection)
    {
        if (!m_all.emplace(connection->GetNumber(), connection).second)
        {
            return false;
        }
        if (2 * m_all.size() > m_index.size())
        {
            MakeIndex(4 * m_index.size());
        }
        else
        {
            AddToIndex(PeekPointer(connection));
        }
        return true;
    }

    /** @param numbers of connections, which are closed and found no longer */
    void Close(const std::vector<uint32_t>& numbers)
    {
        for (uint32_t number : numbers)
        {
            m_all.at(number)->Close();
        }
        MakeIndex(m_index.size());
    }

    /** Forgets all connections and listeners. */
    void Clear()
    {
        m_listeners.clear();
        m_all.clear();
        m_index.assign(1, {});
    }

    /** @param listener asked before those that were added earlier */
    void AddListener(Listener listener)
    {
        m_listeners.push_back(std::move(listener));
    }

    /** Forgets all listeners. */
    void RemoveListeners()
    {
        m_listeners.clear();
    }

    /** @return all connections, also closed ones */
    const std::unordered_map<uint32_t, Ptr<T>>& GetAll() const
    {
        return m_all;
    }

    /**
     * @param number of a connection
     * @return the connection, or null if it does not exist or is closed
     */
    T* Find(uint32_t number) const
    {
        const std::size_t mask = m_index.size() - 1;
        std::size_t slot = Hash(number) & mask;
        while (m_index[slot].connection && m_index[slot].number != number)
        {
            slot = (slot + 1) & mask;
        }
        return m_index[slot].connection;
    }

    /**
     * @param number in a received frame
     * @return the connection, which a listener may have created; null: refused
     */
    T* FindOrAccept(uint32_t number) const
    {
        if (T* found = Find(number))
        {
            return found;
        }
        for (auto listener = m_listeners.rbegin(); listener != m_listeners.rend(); ++listener)
        {
            if (T* made = (*listener)(number))
            {
                return made;
            }
        }
        return nullptr;
    }

    /**
     * Prefetches the line that Find() reads.
     * @param number of a connection
     */
    void Prefetch(uint32_t number) const
    {
        __builtin_prefetch(&m_index[Hash(number) & (m_index.size() - 1)]);
    }

    /**
     * @param number of a connection
     * @return probably the connection, from one line; may be another one or null
     */
    const T* Guess(uint32_t number) const
    {
        return m_index[Hash(number) & (m_index.size() - 1)].connection;
    }

    /** Prefetches where the index is. */
    void PrefetchIndex() const
    {
        PrefetchBytes(&m_index, sizeof(m_index));
    }

  private:
    /** A slot of the index. */
    struct Indexed
    {
        uint32_t number;
        T* connection; // null: an empty slot
    };

    /** @return a hash that maps consecutive numbers to consecutive slots, which share lines */
    static std::size_t Hash(uint32_t number)
    {
        return number ^ number >> 8 ^ number >> 16;
    }

    void MakeIndex(std::size_t size)
    {
        m_index.assign(size, {});
        for (const auto& [number, connection] : m_all)
        {
            if (!connection->IsClosed())
            {
                AddToIndex(PeekPointer(connection));
            }
        }
    }

    void AddToIndex(T* connection)
    {
        const std::size_t mask = m_index.size() - 1;
        std::size_t slot = Hash(connection->GetNumber()) & mask;
        while (m_index[slot].connection)
        {
            slot = (slot + 1) & mask;
        }
        m_index[slot] = {connection->GetNumber(), connection};
    }

    std::unordered_map<uint32_t, Ptr<T>> m_all;
    // Hash table of those that are not closed with open addressing, at most half full: a packet
    // touches one cache line instead of three map nodes.
    std::vector<Indexed> m_index{1};
    std::vector<Listener> m_listeners;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_CONNECTION_TABLE_H
