#include "core/sphere_overlaps.hpp"

#include "core/interrupts.hpp"

namespace kinodyn {

namespace {

double depth_of(const Ball& a, const Ball& b) { return a.radius + b.radius - norm(a.centre - b.centre); }

bool overlap(const Ball& a, const Ball& b) {
    const double reach = a.radius + b.radius;
    return squared(a.centre - b.centre) < reach * reach;
}

Ball placed(const double* T, const Ball& ball) {
    const Vec3& c = ball.centre;
    return {{T[0] * c.x + T[1] * c.y + T[2] * c.z + T[3], T[4] * c.x + T[5] * c.y + T[6] * c.z + T[7],
             T[8] * c.x + T[9] * c.y + T[10] * c.z + T[11]},
            ball.radius};
}

// The spheres of one state in the world: bounding ones at once, others when a pair of links is near.
class PlacedSpheres {
  public:
    explicit PlacedSpheres(const SphereLevels& levels)
        : bounding(levels.bounding.size()), levels_(levels), coarse_(levels.coarse.size()), fine_(levels.fine.size()) {}

    void place(const double* poses) {
        poses_ = poses;
        ready_.assign(levels_.bounding.size(), false);
        for (std::size_t k = 0; k < bounding.size(); ++k) bounding[k] = placed(poses + 16 * k, levels_.bounding[k]);
    }

    // The largest overlap of fine spheres, 0 if there is none; with `any`, that of the first two that overlap.
    double depth(const LinkPair& pair, bool any) {
        prepare(pair.first);
        prepare(pair.second);
        double deepest = 0;
        for (int i = levels_.coarse_start[pair.first]; i < levels_.coarse_start[pair.first + 1]; ++i) {
            if (!overlap(coarse_[i], bounding[pair.second])) continue;
            for (int k = levels_.coarse_start[pair.second]; k < levels_.coarse_start[pair.second + 1]; ++k)
                if (depth_of(coarse_[i], coarse_[k]) > deepest) {
                    deepest = std::max(deepest, fine_depth(i, k));
                    if (any && deepest > 0) return deepest;
                }
        }
        return deepest;
    }

    std::vector<Ball> bounding;

  private:
    void prepare(int link) {
        if (ready_[link]) return;
        ready_[link] = true;
        const double* T = poses_ + 16 * link;
        const int first = levels_.coarse_start[link], last = levels_.coarse_start[link + 1];
        for (int k = first; k < last; ++k) coarse_[k] = placed(T, levels_.coarse[k]);
        for (int k = levels_.fine_start[first]; k < levels_.fine_start[last]; ++k)
            fine_[k] = placed(T, levels_.fine[k]);
    }

    double fine_depth(int i, int k) const {
        double deepest = 0;
        for (int a = levels_.fine_start[i]; a < levels_.fine_start[i + 1]; ++a) {
            if (!overlap(fine_[a], coarse_[k])) continue;
            for (int b = levels_.fine_start[k]; b < levels_.fine_start[k + 1]; ++b)
                deepest = std::max(deepest, depth_of(fine_[a], fine_[b]));
        }
        return deepest;
    }

    const SphereLevels& levels_;
    const double* poses_ = nullptr;
    std::vector<bool> ready_;
    std::vector<Ball> coarse_, fine_;
};

}  // namespace

std::vector<PairOverlaps> find_overlaps(const SphereLevels& levels, const std::vector<LinkPair>& pairs,
                                        const double* poses, long n_states, long kept) {
    std::vector<PairOverlaps> found(pairs.size());
    PlacedSpheres spheres(levels);
    for (long state = 0; state < n_states; ++state) {
        poll_interrupt();
        spheres.place(poses + 16 * state * static_cast<long>(levels.bounding.size()));
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            if (!overlap(spheres.bounding[pairs[k].first], spheres.bounding[pairs[k].second])) continue;
            const bool listed = found[k].count < kept;
            const double depth = spheres.depth(pairs[k], !listed);
            if (depth <= 0) continue;
            ++found[k].count;
            if (!listed) continue;
            found[k].states.push_back(static_cast<int>(state));
            found[k].depths.push_back(depth);
        }
    }
    return found;
}

}  // namespace kinodyn
