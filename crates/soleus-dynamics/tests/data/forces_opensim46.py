"""Writes forces_opensim46.json: what OpenSim 4.6 computes for one force of each class.

Run with the opensim 4.6 Python package:  python forces_opensim46.py
Four bodies hang on ground: a and b free, c on a pin, d on a slider. In each of the seeded random
states every force acts alone, and its generalized force (the change of inverse dynamics), report
values, energy and state derivatives are written down. The parameters are repeated
in forces_opensim.rs.
"""
import json, math, os, random, tempfile
import opensim as osim

V = osim.Vec3


def arr(v, n=3):
    return [v.get(i) for i in range(n)]


def icosphere(radius):
    t = (1 + 5**0.5) / 2
    v = [(-1, t, 0), (1, t, 0), (-1, -t, 0), (1, -t, 0), (0, -1, t), (0, 1, t), (0, -1, -t), (0, 1, -t),
         (t, 0, -1), (t, 0, 1), (-t, 0, -1), (-t, 0, 1)]
    f = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
         (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10),
         (8, 6, 7), (9, 8, 1)]
    v = [list(p) for p in v]
    mid = {}

    def middle(i, j):
        key = (min(i, j), max(i, j))
        if key not in mid:
            mid[key] = len(v)
            v.append([(v[i][k] + v[j][k]) / 2 for k in range(3)])
        return mid[key]

    for _ in range(2):
        f = [g for a, b, c in f for ab, bc, ca in [(middle(a, b), middle(b, c), middle(c, a))]
             for g in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))]
        mid.clear()
    out = []
    for p in v:
        n = math.sqrt(sum(x * x for x in p))
        # An egg, so that nothing is symmetric by chance.
        out.append([radius * p[0] / n, 1.2 * radius * p[1] / n, 0.9 * radius * p[2] / n])
    return out, f


def main():
    m = osim.Model()
    m.setName("forces")
    m.setGravity(V(0))
    g = m.getGround()
    bodies = {n: osim.Body(n, 1 + i, V(0.1, -0.05, 0.02), osim.Inertia(1, 1, 1, 0, 0, 0)) for i, n in enumerate("abcd")}
    for b in bodies.values():
        m.addBody(b)
    a, b, c, d = (bodies[n] for n in "abcd")
    for body, joint in ((a, osim.FreeJoint("ja", g, a)), (b, osim.FreeJoint("jb", g, b)),
                        (c, osim.PinJoint("jc", g, V(0.3, 0.2, 0.1), V(0.2, 0.3, 0.4), c, V(0.05, 0, 0), V(0))),
                        (d, osim.SliderJoint("jd", g, V(-0.3, 0.1, 0), V(0.5, 0, 0.1), d, V(0), V(0)))):
        m.addJoint(joint)
    qc, qd = "jc_coord_0", "jd_coord_0"
    fa = osim.PhysicalOffsetFrame("fa", a, osim.Transform(osim.Rotation(osim.BodyRotationSequence, 0.3, osim.CoordinateAxis(0), -0.2, osim.CoordinateAxis(1), 0.5, osim.CoordinateAxis(2)), V(0.02, 0.03, -0.01)))
    fb = osim.PhysicalOffsetFrame("fb", b, osim.Transform(osim.Rotation(osim.BodyRotationSequence, -0.1, osim.CoordinateAxis(0), 0.4, osim.CoordinateAxis(1), 0.2, osim.CoordinateAxis(2)), V(-0.04, 0.01, 0.05)))
    a.addComponent(fa)
    b.addComponent(fb)

    tmp = tempfile.mkdtemp()
    mesh = icosphere(0.12)
    obj = os.path.join(tmp, "egg.obj")
    with open(obj, "w") as out:
        for p in mesh[0]:
            out.write("v %.17g %.17g %.17g\n" % tuple(p))
        for t in mesh[1]:
            out.write("f %d %d %d\n" % tuple(i + 1 for i in t))

    geo = {
        "floor": osim.ContactHalfSpace(V(0.1, -0.05, 0.02), V(0.1, 0.2, -1.4), g, "floor"),
        "ballA": osim.ContactSphere(0.15, V(0.02, -0.03, 0.01), fa, "ballA"),
        "ballB": osim.ContactSphere(0.2, V(-0.01, 0.02, 0.03), b, "ballB"),
        "ellA": osim.ContactEllipsoid(V(0.1, 0.16, 0.22), V(0.01, 0.02, -0.03), V(0.3, 0.1, -0.2), a, "ellA"),
        "ellB": osim.ContactEllipsoid(V(0.2, 0.12, 0.15), V(0.0, 0.02, 0.03), V(-0.2, 0.4, 0.1), b, "ellB"),
        "eggA": osim.ContactMesh(obj, V(0.01, -0.02, 0.03), V(0.2, -0.1, 0.3), a, "eggA"),
        "eggB": osim.ContactMesh(obj, V(0.0, 0.01, 0.02), V(-0.3, 0.2, 0.1), b, "eggB"),
    }
    for x in geo.values():
        m.addContactGeometry(x)

    forces = []

    def add(name, f):
        f.setName(name)
        m.addForce(f)
        forces.append((name, f))
        return f

    f = add("coordinate_actuator", osim.CoordinateActuator(qc)); f.setOptimalForce(3.5)
    f = add("activation_actuator", osim.ActivationCoordinateActuator(qd)); f.setOptimalForce(2.5); f.set_activation_time_constant(0.04); f.set_default_activation(0.3)
    f = add("point_actuator", osim.PointActuator("a")); f.set_point(V(0.1, 0.2, -0.3)); f.set_direction(V(1, 2, -0.5)); f.setOptimalForce(4.0)
    f = add("point_actuator_global", osim.PointActuator("a")); f.set_point(V(0.1, 0.2, -0.3)); f.set_direction(V(1, 2, -0.5)); f.set_point_is_global(True); f.set_force_is_global(True); f.setOptimalForce(4.0)
    f = add("torque_actuator", osim.TorqueActuator()); f.set_bodyA("a"); f.set_bodyB("b"); f.setTorqueIsGlobal(False); f.setAxis(V(0.3, -1, 0.4)); f.setOptimalForce(5.0)
    f = add("body_actuator", osim.BodyActuator(b, V(0.1, 0.05, -0.2), False, False))
    f = add("point_to_point_actuator", osim.PointToPointActuator("a", "b")); f.setPointA(V(0.1, 0, 0.2)); f.setPointB(V(0, -0.1, 0.1)); f.setOptimalForce(6.0)
    f = add("spring_generalized", osim.SpringGeneralizedForce(qc)); f.setStiffness(12.0); f.setRestLength(0.2); f.setViscosity(0.7)
    add("limit_rotation", osim.CoordinateLimitForce(qc, 10.0, 1.5, -12.0, 2.0, 0.05, 30.0, False))
    add("limit_translation", osim.CoordinateLimitForce(qd, 0.05, 1500.0, -0.04, 2000.0, 5.0, 0.3, False))
    add("point_spring", osim.PointToPointSpring(a, V(0.1, 0.02, 0), b, V(0, 0.03, -0.1), 250.0, 0.3))
    add("point_spring_offset", osim.PointToPointSpring(fa, V(0.1, 0.02, 0), b, V(0, 0.03, -0.1), 250.0, 0.0))
    add("bushing", osim.BushingForce("x", fa, fb, V(100, 200, 300), V(10, 20, 30), V(1, 2, 3), V(0.1, 0.2, 0.3)))
    f = add("function_bushing", osim.FunctionBasedBushingForce("x", fa, V(0.01, 0.02, 0), V(0.1, 0, 0), fb, V(0, 0.01, 0), V(0, 0.2, 0)))
    f.set_m_x_theta_x_function(osim.LinearFunction(11.0, 0.5)); f.set_m_y_theta_y_function(osim.LinearFunction(12.0, -0.5)); f.set_m_z_theta_z_function(osim.LinearFunction(13.0, 0.1))
    f.set_f_x_delta_x_function(osim.LinearFunction(110.0, 2.0)); f.set_f_y_delta_y_function(osim.LinearFunction(120.0, -1.0)); f.set_f_z_delta_z_function(osim.LinearFunction(130.0, 0.4))
    f.set_rotational_damping(V(0.3, 0.2, 0.1)); f.set_translational_damping(V(3, 2, 1))
    f = add("expression_bushing", osim.ExpressionBasedBushingForce("x", fa, V(0.01, 0.02, 0), V(0.1, 0, 0), fb, V(0, 0.01, 0), V(0, 0.2, 0)))
    f.setMxExpression("10*theta_x^3 + delta_y"); f.setMyExpression("5*sin(theta_y)"); f.setMzExpression("7*theta_z*theta_x")
    f.setFxExpression("100*delta_x + exp(delta_z)"); f.setFyExpression("50*delta_y^3"); f.setFzExpression("80*delta_z - 3*theta_x")
    f.set_rotational_damping(V(0.3, 0.2, 0.1)); f.set_translational_damping(V(3, 2, 1))
    add("expression_coordinate", osim.ExpressionBasedCoordinateForce(qc, "-10*q^3 - 2*qdot + sin(q)"))
    add("expression_point", osim.ExpressionBasedPointToPointForce("a", V(0.1, 0.02, 0), "b", V(0, 0.03, -0.1), "200*(d-0.3)^2 + 1.5*ddot"))
    f = add("prescribed", osim.PrescribedForce("x", fa))
    f.setForceFunctions(osim.LinearFunction(2.0, 1.0), osim.LinearFunction(-3.0, 0.5), osim.Constant(4.0))
    f.setPointFunctions(osim.Constant(0.1), osim.LinearFunction(0.2, -0.1), osim.Constant(0.3))
    f.setTorqueFunctions(osim.Constant(1.5), osim.Constant(-2.5), osim.LinearFunction(1.0, 0.0))
    f.set_forceIsGlobal(False); f.set_pointIsGlobal(True)

    def hunt(name, names, k, diss, fr):
        f = osim.HuntCrossleyForce()
        f.setStiffness(k); f.setDissipation(diss); f.setStaticFriction(fr[0]); f.setDynamicFriction(fr[1]); f.setViscousFriction(fr[2])
        for n in names:
            f.addGeometry(n)
        f.setTransitionVelocity(0.13)
        add(name, f)

    hunt("hunt_floor", ["floor", "ballA"], 1e6, 0.4, (0.9, 0.6, 0.5))
    hunt("hunt_balls", ["ballA", "ballB"], 1e6, 0.4, (0.9, 0.6, 0.5))
    hunt("hunt_ellipsoids", ["ellA", "ellB"], 1e6, 0.4, (0.9, 0.6, 0.5))
    hunt("hunt_ellipsoid_ball", ["ballB", "ellA"], 1e6, 0.4, (0.9, 0.6, 0.5))
    hunt("hunt_ellipsoid", ["ellA", "floor"], 1e6, 0.4, (0.9, 0.6, 0.5))
    f = osim.SmoothSphereHalfSpaceForce("smooth", geo["ballA"], geo["floor"])
    f.set_stiffness(1e6); f.set_dissipation(0.4); f.set_static_friction(0.9); f.set_dynamic_friction(0.6); f.set_viscous_friction(0.5)
    f.set_transition_velocity(0.13); f.set_constant_contact_force(1e-4); f.set_hertz_smoothing(200.0); f.set_hunt_crossley_smoothing(40.0)
    add("smooth", f)

    def elastic(name, names):
        f = osim.ElasticFoundationForce()
        f.setStiffness(2e6); f.setDissipation(0.3); f.setStaticFriction(0.9); f.setDynamicFriction(0.6); f.setViscousFriction(0.5)
        for n in names:
            f.addGeometry(n)
        f.setTransitionVelocity(0.13)
        add(name, f)

    elastic("elastic_floor", ["eggA", "floor"])
    elastic("elastic_ball", ["eggA", "ballB"])
    elastic("elastic_meshes", ["eggA", "eggB"])

    plane = osim.Transform(osim.Rotation(osim.BodyRotationSequence, -1.5, osim.CoordinateAxis(0), 0.1, osim.CoordinateAxis(1), 0.2, osim.CoordinateAxis(2)), V(0.01, 0.06, -0.02))
    exponential = add("exponential", osim.ExponentialContactForce(plane, fa, V(0.02, -0.03, 0.04)))
    exponential.setExponentialShapeParameters(V(0.01, 50.0, 20.0))
    exponential.setNormalViscosity(0.3); exponential.setFrictionElasticity(500.0); exponential.setFrictionViscosity(90.0)

    state = m.initSystem()
    solver = osim.InverseDynamicsSolver(m)
    zero = osim.Vector(state.getNU(), 0.0)
    random.seed(20)
    rnd = lambda s: random.uniform(-s, s)
    controls = osim.Vector(m.getNumControls(), 0.0)
    for i in range(m.getNumControls()):
        controls[i] = 0.3 + 0.1 * i
    out = {"opensim": osim.GetVersionAndDate(), "mesh": {"vertices": mesh[0], "faces": mesh[1]},
           "controls": [controls[i] for i in range(m.getNumControls())], "states": []}
    cs = m.getCoordinateSet()
    for k in range(3):
        for i in range(cs.getSize()):
            q = cs.get(i)
            n = q.getName()
            if n.startswith("ja") or n.startswith("jb"):
                j = int(n[-1])
                # A few centimetres above the floor and apart, so that everything touches.
                base = [0, 0, 0, 0.05, 0.08, 0.0] if n[1] == "a" else [0, 0, 0, 0.05, 0.28, 0.05]
                q.setValue(state, base[j] + (rnd(0.9) if j < 3 else rnd(0.03)), False)
                q.setSpeedValue(state, rnd(0.6 if k else 0.1))
            else:
                q.setValue(state, rnd(0.6 if n == qc else 0.2), False)
                q.setSpeedValue(state, rnd(1.0))
        state.setTime(0.37 + k)
        m.realizeVelocity(state)
        row = {"time": state.getTime(), "bodies": {}, "coordinates": {}, "forces": {}}
        for n in (qc, qd):
            q = cs.get(n)
            row["coordinates"][n] = [q.getValue(state), q.getSpeedValue(state)]
        for n, body in bodies.items():
            X = body.getTransformInGround(state)
            w, v = body.getVelocityInGround(state).get(0), body.getVelocityInGround(state).get(1)
            row["bodies"][n] = {"p": arr(X.p()), "R": [[X.R().get(i, j) for j in range(3)] for i in range(3)], "w": arr(w), "v": arr(v)}
        for _, f in forces:
            f.setAppliesForce(state, False)
        m.realizeVelocity(state)
        m.setControls(state, controls)
        m.realizeAcceleration(state)
        off = osim.Vector(solver.solve(state, zero))
        for name, f in forces:
            for _, other in forces:
                other.setAppliesForce(state, False)
            f.setAppliesForce(state, True)
            m.realizeVelocity(state)
            m.setControls(state, controls)
            m.realizeAcceleration(state)
            on = solver.solve(state, zero)
            tau = [off[i] - on[i] for i in range(off.size())]
            rec = {"labels": [f.getRecordLabels().get(i) for i in range(f.getRecordLabels().getSize())]}
            try:
                vals = f.getRecordValues(state)
                rec["record"] = [vals.get(i) for i in range(vals.getSize())]
            except Exception as e:
                rec["record"] = None
            # Speeds of the free joints are angular and linear velocity in ground, so that these are the
            # wrenches (moment, force) on a and b about their origins, then the forces on c and d.
            rec["tau"] = tau
            rec["energy"] = m.calcPotentialEnergy(state)
            names = f.getStateVariableNames()
            rec["states"] = {names.get(i): [m.getStateVariableValue(state, names.get(i)), m.getStateVariableDerivativeValue(state, names.get(i))] for i in range(names.getSize())}
            row["forces"][name] = rec
        # The same contact halfway between sliding and sticking, its anchor at the plane's origin.
        m.setDiscreteVariableValue(state, "/forceset/exponential/sliding", 0.3)
        m.realizeAcceleration(state)
        row["exponential_sticking"] = record(exponential, state)
        m.setDiscreteVariableValue(state, "/forceset/exponential/sliding", 1.0)
        out["states"].append(row)
    return out


def pose(body, state):
    X, V6 = body.getTransformInGround(state), body.getVelocityInGround(state)
    return {"p": arr(X.p()), "R": [[X.R().get(i, j) for j in range(3)] for i in range(3)], "w": arr(V6.get(0)), "v": arr(V6.get(1))}


def record(f, state):
    vals, labels = f.getRecordValues(state), f.getRecordLabels()
    return {"labels": [labels.get(i) for i in range(labels.getSize())], "values": [vals.get(i) for i in range(vals.getSize())]}


def paths():
    """Path forces along a straight line to a slider: its coordinate is the length."""
    m = osim.Model()
    m.setGravity(V(0))
    g = m.getGround()
    body = osim.Body("b", 1, V(0), osim.Inertia(1, 1, 1, 0, 0, 0))
    m.addBody(body)
    m.addJoint(osim.SliderJoint("j", g, body))
    forces = []

    def add(name, f):
        f.setName(name)
        path = osim.GeometryPath.safeDownCast(f.updPath()) if hasattr(f, "updPath") else f.updGeometryPath()
        path.appendNewPathPoint("p0", g, V(0))
        path.appendNewPathPoint("p1", body, V(0))
        m.addForce(f)
        forces.append(f)

    f = osim.PathActuator(); f.setOptimalForce(30.0); add("actuator", f)
    add("spring", osim.PathSpring("x", 0.5, 400.0, 0.3))
    f = osim.Ligament(); f.setRestingLength(0.5); f.set_pcsa_force(90.0); add("ligament", f)
    f = osim.Blankevoort1991Ligament("x", 1200.0, 0.5); f.set_damping_coefficient(2.0); add("blankevoort", f)
    if hasattr(osim, "ExpressionBasedPathForce"):
        add("expression", osim.ExpressionBasedPathForce("x", 0.5, "300*s^2 + 4*s*ldot + 1"))
        add("unclamped", osim.ExpressionBasedPathForce("x", 0.5, "300*s^3 + 4*ldot", False))
    add("clutch", osim.ClutchedPathSpring("x", 500.0, 0.2, 0.01, 0.03))
    f = osim.McKibbenActuator("x", 1.5, 0.4); f.set_cord_length(0.1); add("mckibben", f)
    state = m.initSystem()
    q = m.getCoordinateSet().get(0)
    controls = osim.Vector(m.getNumControls(), 0.4)
    rows = []
    for length, speed in ((0.45, 0.7), (0.502, 0.5), (0.52, -0.3), (0.62, 0.8), (0.9, -1.2)):
        q.setValue(state, length)
        q.setSpeedValue(state, speed)
        m.realizeVelocity(state)
        m.setControls(state, controls)
        m.realizeAcceleration(state)
        rows.append({"length": length, "speed": speed, "forces": {f.getName(): record(f, state) for f in forces},
                     "stretch_rate": m.getStateVariableDerivativeValue(state, "/forceset/clutch/stretch")})
    return {"control": 0.4, "rows": rows}


def external():
    """Measured loads of one, three and eight rows on a free body."""
    m = osim.Model()
    m.setGravity(V(0))
    g = m.getGround()
    a = osim.Body("a", 1, V(0), osim.Inertia(1, 1, 1, 0, 0, 0))
    b = osim.Body("b", 1, V(0), osim.Inertia(1, 1, 1, 0, 0, 0))
    m.addBody(a); m.addBody(b)
    m.addJoint(osim.FreeJoint("ja", g, a)); m.addJoint(osim.FreeJoint("jb", g, b))
    random.seed(7)
    out, keep = [], []
    for n in (1, 3, 8):
        time = [0.1 * i + 0.02 * (i % 3) for i in range(n)]
        data = [[random.uniform(-1, 1) for _ in range(9)] for _ in range(n)]
        names = [p + c for p in ("f_", "p_", "t_") for c in "xyz"]
        file = os.path.join(tempfile.mkdtemp(), "loads%d.sto" % n)
        with open(file, "w") as fp:
            fp.write("loads\nversion=1\nnRows=%d\nnColumns=10\ninDegrees=no\nendheader\ntime\t%s\n" % (n, "\t".join(names)))
            for t, row in zip(time, data):
                fp.write("\t".join("%.17g" % x for x in [t] + row) + "\n")
        store = osim.Storage(file)
        keep.append(store)
        f = osim.ExternalForce(store, "f_", "p_", "t_", "a", "b", "b")
        f.setName("load%d" % n)
        m.addForce(f)
        out.append({"time": time, "columns": [[r[i] for r in data] for i in range(9)], "force": f, "rows": []})
    state = m.initSystem()
    for i in range(m.getCoordinateSet().getSize()):
        m.getCoordinateSet().get(i).setValue(state, random.uniform(-0.7, 0.7), False)
    for t in (0.0, 0.153, 0.41):
        state.setTime(t)
        m.realizeAcceleration(state)
        for o in out:
            o["rows"].append({"t": t, **record(o["force"], state)})
    for o in out:
        del o["force"]
    return {"a": pose(a, state), "b": pose(b, state), "loads": out}


def many_spheres():
    """Four spheres on one rocking body: some approach the floor, some leave it fast."""
    m = osim.Model()
    m.setGravity(V(0))
    g = m.getGround()
    a = osim.Body("a", 1, V(0), osim.Inertia(1, 1, 1, 0, 0, 0))
    m.addBody(a)
    m.addJoint(osim.FreeJoint("ja", g, a))
    m.addContactGeometry(osim.ContactHalfSpace(V(0), V(0, 0, -math.pi / 2), g, "floor"))
    f = osim.HuntCrossleyForce()
    f.setName("feet")
    f.setStiffness(1e6); f.setDissipation(2.0); f.setStaticFriction(0.8); f.setDynamicFriction(0.6); f.setViscousFriction(0.1)
    f.addGeometry("floor")
    for i, (x, z) in enumerate(((0.1, 0.05), (-0.1, 0.02), (0.03, -0.08), (-0.06, 0.09))):
        m.addContactGeometry(osim.ContactSphere(0.05, V(x, 0, z), a, "s%d" % i))
        f.addGeometry("s%d" % i)
    m.addForce(f)
    state = m.initSystem()
    random.seed(11)
    rows = []
    for k in range(6):
        for i in range(6):
            q = m.getCoordinateSet().get(i)
            q.setValue(state, 0.03 if i == 4 else random.uniform(-0.05, 0.05), False)
            q.setSpeedValue(state, random.uniform(-6, 6) if i < 3 else random.uniform(-0.2, 0.2))
        m.realizeAcceleration(state)
        rows.append({"a": pose(a, state), **record(f, state)})
    return rows


def write(out):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "forces_opensim46.json"), "w") as fp:
        json.dump(out, fp)


result = main()
result["paths"] = paths()
result["external"] = external()
result["many_spheres"] = many_spheres()
write(result)
