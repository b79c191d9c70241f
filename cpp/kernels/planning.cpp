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

// The problem's path is moved into the shortener and back.
template <class F>
void with_path(const Call& call, F&& f) {
    PlanningProblem& problem = *call.as<PlanningProblem*>();
    const long bytes = (MotionChecker::bytes(problem.query) + 63) / 64 * 64;
    const long words = PathShortener::words(problem.path_size(), problem.dim);
    char* memory = thread_scratch(static_cast<std::size_t>(bytes) + sizeof(float) * static_cast<std::size_t>(words));
    MotionChecker checker(problem.query, memory);
    PathShortener path(checker, problem, reinterpret_cast<float*>(memory + bytes));
    f(problem, path);
    problem.path.assign(path.vertex(0), path.vertex(path.size()));
    problem.checked_packs += checker.packs;
}

void shorten_path(const Call& call, long, long, Fault&) {
    with_path(call, [](PlanningProblem& problem, PathShortener& path) {
        // the remaining time is for the remaining motions
        const double begin = steady_time(), end = begin + 0.8 * problem.seconds;
        path.remove_vertices(end);
        int failures = 0;
        while (path.size() > 2 && failures < problem.settings.shortcut_failures && steady_time() < end)
            failures = path.shortcut() > 0 ? 0 : failures + 1;
        for (int round = 0; round < problem.settings.corner_rounds && path.size() > 2; ++round) path.cut_corners(end);
        problem.blocked_edge = path.first_blocked_edge(begin + problem.seconds);
    });
}

void path_blocked(const Call& call, long, long, Fault&) {
    with_path(call, [](PlanningProblem& problem, PathShortener& path) {
        problem.blocked_edge = path.first_blocked_edge(steady_time() + problem.seconds);
    });
}

}  // namespace

constexpr KernelEntry entries[] = {
    {"rrt_connect", rrt_connect}, {"shorten_path", shorten_path}, {"path_blocked", path_blocked}};
extern const KernelList planning_kernels;
const KernelList planning_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
