// Retargeting of a clip: configurations of all its frames at once, that follow points and vary smoothly over time.
#pragma once

#include <vector>

#include "core/distance.hpp"
#include "core/layout.hpp"
#include "core/model.hpp"
#include "core/tree_structure.hpp"

namespace kinodyn {

struct RetargetSettings {
    double row_weight;     // of inequality rows that are violated
    double ground_weight;  // of points below the ground [1/m]
    double smoothing;      // of joint positions over time, against second differences
    double base_smoothing;
    double base_proximity;  // weight of the smoothed base pose
    double max_change;      // of a coordinate in one iteration [rad or m]
    std::int32_t iterations;
    std::int32_t base_only;  // 1: joints stay, only the base moves
    std::int32_t verify;     // 1: steps that do not lower the cost are rejected; 0: all are taken

    static constexpr auto layout() {
        using S = RetargetSettings;
        return named("retarget_settings", field("row_weight", &S::row_weight),
                     field("ground_weight", &S::ground_weight), field("smoothing", &S::smoothing),
                     field("base_smoothing", &S::base_smoothing), field("base_proximity", &S::base_proximity),
                     field("max_change", &S::max_change), field("iterations", &S::iterations),
                     field("base_only", &S::base_only), field("verify", &S::verify));
    }
};

// frames that are next to each other in gradients of rows, and that are solved together: a whole number of packs
constexpr long retarget_block = 16;

// Arrays have the frames of the clip along their last axis, `padded` of them: a whole number of blocks.
struct RetargetProblem {
    const Model* model = nullptr;
    const ModelOf<float>* rounded_model = nullptr;  // in float32
    RetargetSettings settings{};
    long frames = 0, padded = 0;
    int points = 0, tracked = 0, rows = 0;     // the first points are tracked, all may have to stay above the ground
    const std::int32_t* point_body = nullptr;  // (points)
    const double* point_local = nullptr;       // (points, 3) in the body
    std::vector<int> dofs;                     // v indices that move
    std::vector<int> dof_index;                // v index -> index in dofs, -1 for others
    TreeStructure tree;                        // of dofs; without branches if joints share coordinates
    struct Column {
        int column, dof;  // of the model; index in dofs
    };
    std::vector<std::vector<Column>> chains;  // of each body: columns that move it and are in dofs, from the root on
    struct Joint {
        int dof, iq;  // index in dofs; in q
    };
    std::vector<Joint> joints;                        // with one coordinate each, that are in dofs
    double *q = nullptr, *z = nullptr, *u = nullptr;  // (nq, padded): positions, feasible positions, scaled multipliers
    std::vector<std::vector<int>> ground_points;      // of each body: points that must not be below z = 0
    struct Box {
        double centre[3], half[3];
    };
    std::vector<Box> ground_boxes;        // of each body: around these points [m]
    const bool* moving = nullptr;         // (padded): frames that are solved; a block is if any of its frames is
    double* damping = nullptr;            // (padded): of the normal equations, adapted
    const double* target = nullptr;       // (tracked, 3, padded)
    const double* weight = nullptr;       // (tracked, padded) [1/m]
    const double* com_target = nullptr;   // (2, padded)
    const double* com_weight = nullptr;   // (padded)
    const float* row_gradient = nullptr;  // (padded / block, rows, dofs, block)
    const double* row_bound = nullptr;    // (rows, padded): gradient . q >= bound
    const double *lower = nullptr, *upper = nullptr;               // (nq)
    const double* max_step = nullptr;                              // (nq): from frame to frame
    const double* posture = nullptr;                               // (nq)
    const double *posture_weight = nullptr, *proximity = nullptr;  // (dofs)
    // results, in blocks that move
    double* point = nullptr;   // (tracked, 3, padded)
    double* lowest = nullptr;  // (bodies, padded): height of the lowest point that must not be below z = 0, or a bound
                               // above zero; only if base_only
    double* com = nullptr;     // (3, padded)

    // Gradients of row r at frames from t on, one for each dof; `retarget_block` apart.
    const float* gradient_of(int r, long t) const {
        const long block = t / retarget_block;
        const long n = static_cast<long>(dofs.size());
        return row_gradient + ((block * rows + r) * n) * retarget_block + t % retarget_block;
    }
};

// Rows gradient . q >= bound that keep the links of a robot apart, for frames of a clip.
struct ClearanceProblem {
    const Model* model = nullptr;
    const ModelOf<float>* rounded_model = nullptr;
    const DistanceQuery* query = nullptr;
    double margin = 0, watched = 0;  // [m]: distance that is kept; beyond it, up to which pairs have rows
    long count = 0, padded = 0;
    int rows = 0;
    const std::int64_t* frames = nullptr;  // (count)
    const double* q = nullptr;             // (nq, padded)
    const double* level = nullptr;         // (pairs) or (padded, pairs): distances of spheres at which links touch [m]
    long level_stride = 0;                 // 0 or the number of pairs
    const std::int32_t* number = nullptr;  // (pairs): of pairs with the same number only the nearest has a row
    std::vector<int> dof_index;            // v index -> index in the columns of gradients, -1 for others
    std::vector<int> coordinate;           // column -> q index of a joint with one coordinate, else -1
    float* gradient = nullptr;             // (padded / block, rows, columns, block)
    double* bound = nullptr;               // (rows, padded), `retarget_unused` where there are fewer pairs

    float* gradient_of(int r, long t) const {
        const long n = static_cast<long>(coordinate.size());
        return gradient + ((t / retarget_block * rows + r) * n) * retarget_block + t % retarget_block;
    }
};
constexpr double retarget_unused = -1e6;

}  // namespace kinodyn
