"""Walk: the humanoid in MuJoCo, actuated by joint torques only, planned and controlled by kinodyn.

--robot talos or g1 takes another humanoid (needs the extra "robots"); --plot FILE draws the result.
"""

import argparse
import warnings

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--robot", default="humanoid", help="name of the robot")
parser.add_argument("--speed", type=float, default=0.3, help="forward [m/s]")
parser.add_argument("--turn", type=float, default=0.0, help="turn [rad/s]")
parser.add_argument("--seconds", type=float, default=5.0, help="duration, from standing to standing [s]")
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
warnings.simplefilter("ignore", kd.DescriptionWarning)  # details of the files do not matter here

# Feet, legs, stance, step lengths and gains are derived from the robot; nothing is tuned for it.
robot = kd.load(options.robot, base="floating")
result = kd.walking.walk(robot, (options.speed, 0.0, options.turn), duration=options.seconds, progress=True)
print(result)
if options.plot:
    result.plot(options.plot)
    print(f"figure written to {options.plot}")
raise SystemExit(0 if result.walked else 1)
