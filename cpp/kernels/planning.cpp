// Motion planning: `rrt_connect` continues a search, `shorten_path` simplifies a path, `path_blocked` does not. Both
// find the first of its edges that is not free throughout.

#include "planning/rrt_connect.hpp"
#include "planning/shortcut.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace {

void rrt_connect(const Call& call, long, long, Fault&) {
    PlanningProblem& problem = *call.as<PlanningProblem*>();
    MotionChecker checker(problem.query, thread_scratch(static_cast<std::size_t>(MotionChecker::bytes(problem.query))));
    RrtConnect(problem, checker).run();
    problem.checked_packs += checker.packs;
}

using Checks = PathShortener::Checks;

void simplify(const PlanningProblem& problem, PathShortener& path, double end) {
    path.remove_vertices(end);
    int failures = 0;
    while (path.size() > 2 && failures < problem.settings.shortcut_failures && steady_time() < end)
        failures = path.shortcut() > 0 ? 0 : failures + 1;
    for (int round = 0; round < problem.settings.corner_rounds && path.size() > 2; ++round) path.cut_corners(end);
}

// Calls f(problem, MotionChecker, PathChecker, memory for the path).
template <class F>
void with_checkers(const Call& call, F&& f) {
    PlanningProblem& problem = *call.as<PlanningProblem*>();
    const long motion = aligned(MotionChecker::bytes(problem.query)), path = aligned(PathChecker::bytes(problem.query));
    const long words = PathShortener::words(problem.path_size(), problem.dim);
    char* memory = thread_scratch(static_cast<std::size_t>(motion + path + static_cast<long>(sizeof(float)) * words));
    MotionChecker motions(problem.query, memory);
    PathChecker paths(problem.query, memory + motion);
    f(problem, motions, paths, reinterpret_cast<float*>(memory + motion + path));
    problem.checked_packs += motions.packs + paths.packs;
}

// Lazily first; most paths are free then. For the others, new edges are checked continuously before they replace
// others.
void shorten_path(const Call& call, long, long, Fault&) {
    with_checkers(call, [](PlanningProblem& problem, MotionChecker& motions, PathChecker& paths, float* memory) {
        const double begin = steady_time();
        std::vector<float> shortened;
        for (const Checks checks : {Checks::lazy, Checks::continuous}) {
            PathShortener path(motions, problem, checks, memory);
            // the remaining time is for the remaining edges
            simplify(problem, path, begin + (checks == Checks::lazy ? 0.4 : 0.8) * problem.seconds);
            problem.blocked_edge = path.blocked_edge(paths, begin + problem.seconds);
            shortened.assign(path.vertex(0), path.vertex(path.size()));
            if (problem.blocked_edge < 0) break;
        }
        problem.path.swap(shortened);
    });
}

void path_blocked(const Call& call, long, long, Fault&) {
    with_checkers(call, [](PlanningProblem& problem, MotionChecker& motions, PathChecker& paths, float* memory) {
        PathShortener path(motions, problem, Checks::continuous, memory);
        problem.blocked_edge = path.blocked_edge(paths, steady_time() + problem.seconds);
    });
}

}  // namespace

constexpr KernelEntry entries[] = {
    {"rrt_connect", rrt_connect}, {"shorten_path", shorten_path}, {"path_blocked", path_blocked}};
extern const KernelList planning_kernels;
const KernelList planning_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
