"""Walk: the humanoid in MuJoCo, moved by its torques alone, planned and controlled by kinodyn.

--robot talos or g1 does the same with these (needs the extra "robots"); --plot FILE draws it from above.
"""

import argparse
import warnings

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--robot", default="humanoid", help="which robot")
parser.add_argument("--speed", type=float, default=0.3, help="forward [m/s]")
parser.add_argument("--turn", type=float, default=0.0, help="turn [rad/s]")
parser.add_argument("--seconds", type=float, default=5.0, help="how long, from standing to standing")
parser.add_argument("--plot", metavar="FILE", help="where to write the picture")
options = parser.parse_args()
warnings.simplefilter("ignore", kd.DescriptionWarning)  # details of the files that do not matter here

# Feet, legs, stance, step lengths and gains are measured on the robot; nothing is tuned for it.
robot = kd.load(options.robot, base="floating")
result = kd.walking.walk(robot, (options.speed, 0.0, options.turn), duration=options.seconds, progress=True)
print(result)
if options.plot:
    result.plot(options.plot)
    print(f"picture in {options.plot}")
raise SystemExit(0 if result.walked else 1)
