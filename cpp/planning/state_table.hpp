// States of a search on a lattice, found by the key of their pose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kinodyn {

// Numbers of states by the key of their pose: a hash table with linear probing.
class StateTable {
  public:
    // The value of a key; `fresh` says that it has been added, with the value `next`.
    int find(std::uint64_t key, int next, bool& fresh) {
        if (2 * (count_ + 1) > keys_.size()) grow();
        const std::size_t place = probe(key);
        fresh = values_[place] < 0;
        if (fresh) keys_[place] = key, values_[place] = next, ++count_;
        return values_[place];
    }

  private:
    std::size_t probe(std::uint64_t key) const {
        std::size_t place = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> shift_);
        while (values_[place] >= 0 && keys_[place] != key) place = (place + 1) & (keys_.size() - 1);
        return place;
    }

    void grow() {
        const std::vector<std::uint64_t> keys = std::move(keys_);
        const std::vector<int> values = std::move(values_);
        --shift_;
        keys_.assign(std::size_t{1} << (64 - shift_), 0);
        values_.assign(keys_.size(), -1);
        for (std::size_t k = 0; k < keys.size(); ++k)
            if (values[k] >= 0) {
                const std::size_t place = probe(keys[k]);
                keys_[place] = keys[k], values_[place] = values[k];
            }
    }

    int shift_ = 50;  // of a hash; a table of twice the size uses one bit more
    std::size_t count_ = 0;
    std::vector<std::uint64_t> keys_;
    std::vector<int> values_;
};

}  // namespace kinodyn
