#include "kernels/frame_control.hpp"

#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "kernels/impedance.hpp"

namespace nb = nanobind;

namespace kinodyn {

void bind_frame_control(nb::module_& m) {
    export_layouts<FrameControlSettings, ImpedanceSettings>();
    export_block_layouts<FrameGains, JointGains>();
    define(m, "frame_control",
           [](Args& args, Any q, Any v, Any mass_matrix, Any bias, Any target, Any rate, Any acceleration, Any wrench,
              Any gains, Any posture, Any joint_gains, Any frame, Any settings) {
               const auto given = record_from<FrameControlSettings>("settings", settings);
               const int nv = args.model().nv, rows = given.rows();
               const FrameControlSizes sizes = {rows, given.free_base ? nv - 6 : nv};
               args.path_to(frame);
               args.settings(given);
               args.configuration("q", q);
               args.tangent("v", v);
               args.matrix("mass_matrix", mass_matrix, nv, nv);
               args.tangent("bias", bias);
               args.matrix("target", target, 4, 4);
               args.input("rate of the target", rate, 6);
               args.input("acceleration", acceleration, 6);
               args.input("wrench", wrench, 6);
               args.input("gains", gains, static_cast<int>(block_size<FrameGains>(sizes)));
               args.configuration("posture", posture);
               args.input("joint gains", joint_gains, static_cast<int>(block_size<JointGains>(sizes)));
               args.output("desired", {nv});
               args.output("tau", {nv});
               args.output("error", {rows});
               args.output("error_rate", {rows});
               args.output("damped", {});
               args.output("lyapunov", {});
               args.output("lyapunov_rate", {});
           });
    define(m, "cartesian_impedance",
           [](Args& args, Any q, Any v, Any mass_matrix, Any target, Any rate, Any stiffness, Any damping, Any weights,
              Any posture, Any posture_stiffness, Any frame, Any settings) {
               const auto given = record_from<ImpedanceSettings>("settings", settings);
               const int nv = args.model().nv, rows = given.rows(), motors = given.free_base ? nv - 6 : nv;
               args.path_to(frame);
               args.settings(given);
               args.configuration("q", q);
               args.tangent("v", v);
               args.matrix("mass_matrix", mass_matrix, nv, nv);
               args.matrix("target", target, 4, 4);
               args.input("rate of the target", rate, 6);
               args.matrix("stiffness", stiffness, rows, rows);
               args.matrix("damping", damping, rows, rows);
               args.input("weights", weights, rows);
               args.configuration("posture", posture);
               args.input("posture stiffness", posture_stiffness, motors);
               args.output("tau", {nv});
               args.output("error", {rows});
               args.output("error_rate", {rows});
               args.output("wrench", {rows});
               args.output("damped", {});
               args.output("energy", {});
               args.output("loss", {});
               args.output("Jbar", {motors, rows});
           });
}

}  // namespace kinodyn
