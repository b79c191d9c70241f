// Matrices with the sparsity of a kinematic tree: which entries they have, and where.
#pragma once

#include <vector>

namespace kinodyn {

// The degrees of freedom of a tree. Rows of a matrix have one entry for each degree of freedom between the root and
// their own, in this order, and are padded to whole blocks.
struct TreeStructure {
    static constexpr int block = 4;
    std::vector<int> depth;              // of each degree of freedom: how many are between it and the root
    std::vector<int> row;                // where its row begins
    std::vector<std::vector<int>> path;  // those between the root and it, padded to blocks with `size()`
    long entries = 0;

    int size() const { return static_cast<int>(depth.size()); }
    // Adds a degree of freedom below others, which are listed from the root on.
    void add(const std::vector<int>& above) {
        const int blocks = static_cast<int>(above.size()) / block + 1;
        depth.push_back(static_cast<int>(above.size()));
        row.push_back(static_cast<int>(entries));
        path.push_back(above);
        entries += block * blocks;
    }
    void finish() {
        for (auto& above : path)
            while (above.size() % block != 0) above.push_back(size());
    }
};

}  // namespace kinodyn
