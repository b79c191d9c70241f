#include "bindings/robot.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "bindings/arrays.hpp"
#include "bindings/layouts.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

void add_bodies(CompiledRobot& robot, const Table<BodyRecord>& bodies) {
    Model& m = robot.model;
    for (const BodyRecord& record : bodies) {
        const int index = static_cast<int>(m.bodies.size());
        if (record.parent >= index || record.iq < 0 || record.iq + coordinates(record.kind) > m.nq || record.iv < 0 ||
            record.iv + dofs(record.kind) > m.nv)
            throw nb::value_error("a body's indices are out of range");
        Body body{};
        static_cast<BodyRecord&>(body) = record;
        m.bodies.push_back(body);
        robot.all_bodies.push_back(index);
    }
}

void add_frames(CompiledRobot& robot, const std::vector<std::string>& names, const Table<FrameRecord>& frames) {
    if (names.size() != frames.size()) throw nb::value_error("as many frame names as frames are needed");
    for (std::size_t i = 0; i < frames.size(); ++i) {
        FixedFrame frame{};
        static_cast<FrameRecord&>(frame) = frames[i];
        if (frame.body >= static_cast<int>(robot.model.bodies.size()))
            throw nb::value_error("a frame's body is out of range");
        robot.model.frames.push_back(frame);
        robot.all_frames.push_back(static_cast<int>(i));
        robot.frame_index[names[i].c_str()] = i;
    }
}

void construct(CompiledRobot* self, int nq, int nv, nb::handle bodies, nb::handle frames,
               const std::vector<std::string>& frame_names, const Numbers& armature, const Numbers& damping,
               const Numbers& gravity, const std::vector<std::string>& dof_joints,
               const std::vector<std::string>& dof_links, const std::vector<int>& parameter_bodies) {
    const Table<BodyRecord> body_table("bodies", bodies);
    const Table<FrameRecord> frame_table("frames", frames);
    const auto size = static_cast<std::size_t>(nv);
    if (armature.shape(0) != size || damping.shape(0) != size || gravity.shape(0) != 3)
        throw nb::value_error("armature and damping must have nv numbers, gravity three");
    new (self) CompiledRobot;
    Model& m = self->model;
    m.nq = nq;
    m.nv = nv;
    add_bodies(*self, body_table);
    add_frames(*self, frame_names, frame_table);
    m.armature.assign(armature.data(), armature.data() + nv);
    m.damping.assign(damping.data(), damping.data() + nv);
    std::memcpy(m.gravity, gravity.data(), sizeof m.gravity);
    self->dof_joint = dof_joints;
    self->dof_link = dof_links;
    self->parameter_bodies = parameter_bodies;
    complete(m);
}

}  // namespace

void bind_robot(nb::module_& m) {
    export_layouts<BodyRecord, FrameRecord>();
    nb::class_<CompiledRobot>(m, "CompiledRobot", nb::dynamic_attr())
        .def("__init__", &construct, nb::kw_only(), nb::arg("nq"), nb::arg("nv"), nb::arg("bodies"), nb::arg("frames"),
             nb::arg("frame_names"), nb::arg("armature"), nb::arg("damping"), nb::arg("gravity"), nb::arg("dof_joints"),
             nb::arg("dof_links"), nb::arg("parameter_bodies"));
}

}  // namespace kinodyn
