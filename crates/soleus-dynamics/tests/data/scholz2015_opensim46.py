"""Writes scholz2015_opensim46.json: lengths, speeds and moment arms of the paths of models/geodesic_paths.osim.

Run with the opensim 4.6 Python package:  python scholz2015_opensim46.py
Every path is alone in its model, since OpenSim stops where one of them fails: those states are left out.
A row is q, u, and of each path its length, lengthening speed and moment arms by coordinate.
"""
import json, os, random
import opensim as osim

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "../../../../models/geodesic_paths.osim")
NAMES = ["hip_x", "hip_y", "hip_z", "knee_z"]
RANGES = [(-0.5, 0.5), (-0.5, 0.5), (-0.9, 1.2), (-1.6, 0.3)]


def alone(name, paths):
    """The model with one path, as new: OpenSim 4.6 goes on from the path of the pose before, also for moment arms."""
    model = osim.Model(MODEL)
    for other in paths:
        if other != name:
            model.updForceSet().remove(model.getForceSet().getIndex(other))
    model.finalizeConnections()
    return model


def main():
    osim.Logger.setLevelString("error")
    whole = osim.Model(MODEL)
    paths = [whole.getForceSet().get(i).getName() for i in range(whole.getForceSet().getSize())]
    out = {}
    for name in paths:
        r, rows = random.Random(7), []
        for _ in range(100):
            q = [round(r.uniform(*x), 3) for x in RANGES]
            u = [round(r.uniform(-2, 2), 3) for _ in RANGES]
            model = alone(name, paths)
            coordinates = [model.getCoordinateSet().get(c) for c in NAMES]
            force = osim.PathSpring.safeDownCast(model.getForceSet().get(0))
            for c, a, b in zip(coordinates, q, u):
                c.setDefaultValue(a)
                c.setDefaultSpeedValue(b)
            try:
                s = model.initSystem()
                model.realizeVelocity(s)
                arms = [force.getPath().computeMomentArm(s, c) for c in coordinates]
                rows.append(q + u + [force.getLength(s), force.getLengtheningSpeed(s)] + arms)
            except RuntimeError as e:
                print(name, q, str(e).strip().splitlines()[-1])
        out[name] = rows
    with open(os.path.join(HERE, "scholz2015_opensim46.json"), "w") as f:
        lines = ['"%s": [\n%s\n]' % (n, ",\n".join(json.dumps(x) for x in rows)) for n, rows in out.items()]
        f.write("{\n" + ",\n".join(lines) + "\n}\n")


main()
