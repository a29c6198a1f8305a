//! Muscles against OpenSim 4.6.
#![allow(non_snake_case)]
#![allow(clippy::excessive_precision)]

use soleus_dynamics::Options;
use soleus_dynamics::muscle::{CompiledMuscle, CurveCache, MuscleInfo, millard2012_curves};
use soleus_model::muscle::*;
use soleus_testing::reference_test;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

/// A muscle with default parameters but for its sizes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Thelen,
    Millard,
    MillardRigid,
    MillardNoActivation,
    MillardUndamped,
    DeGrooteFregly,
    DeGrooteFreglyRigid,
    Schutte,
    Delp,
    ThelenOriginal,
    RigidTendon,
}

/// One state of one muscle, as OpenSim 4.6 computed it (version string 4.6-2026-06-22-85aaf64) on a slider
/// joint with a straight path.
struct Row {
    kind: Kind,
    /// F₀, l₀, l_s, α₀, v_max.
    sizes: [f64; 5],
    /// L, L̇, excitation.
    inputs: [f64; 3],
    states: &'static [f64],
    rates: &'static [f64],
    fields: [f64; 20],
}

fn compile(kind: Kind, sizes: [f64; 5]) -> CompiledMuscle {
    use MuscleKind as K;
    let mut m = Muscle::new(match kind {
        Kind::Thelen => K::Thelen2003(Thelen2003::default()),
        Kind::Millard | Kind::MillardRigid | Kind::MillardNoActivation => {
            K::Millard2012Equilibrium(Box::default())
        }
        Kind::MillardUndamped => {
            let p = Millard2012Equilibrium { fiber_damping: 0.0, ..Default::default() };
            K::Millard2012Equilibrium(Box::new(p))
        }
        Kind::DeGrooteFregly | Kind::DeGrooteFreglyRigid => {
            K::DeGrooteFregly2016(DeGrooteFregly2016::default())
        }
        Kind::Schutte => K::Schutte1993(Box::default()),
        Kind::Delp => K::Delp1990(Box::default()),
        Kind::ThelenOriginal => K::Thelen2003Deprecated(Thelen2003Deprecated::default()),
        Kind::RigidTendon => K::RigidTendon(Box::default()),
    });
    m.ignore_tendon_compliance = matches!(kind, Kind::MillardRigid | Kind::DeGrooteFreglyRigid);
    m.ignore_activation_dynamics = matches!(kind, Kind::MillardNoActivation);
    resize(&mut m, sizes);
    CompiledMuscle::compile(&m, &Options::default()).unwrap()
}

fn resize(m: &mut Muscle, sizes: [f64; 5]) {
    [
        m.max_isometric_force,
        m.optimal_fiber_length,
        m.tendon_slack_length,
        m.pennation_angle_at_optimal,
        m.max_contraction_velocity,
    ] = sizes;
}

fn fields(i: &MuscleInfo<f64>) -> [f64; 20] {
    [
        i.fiber_length,
        i.tendon_length,
        i.normalized_fiber_length,
        i.pennation_angle,
        i.activation,
        i.fiber_velocity,
        i.tendon_velocity,
        i.pennation_angular_velocity,
        i.active_force_length_multiplier,
        i.passive_force_multiplier,
        i.force_velocity_multiplier,
        i.fiber_force,
        i.tendon_force,
        i.active_fiber_force,
        i.passive_fiber_force,
        i.fiber_stiffness,
        i.tendon_stiffness,
        i.muscle_stiffness,
        i.fiber_active_power,
        i.tendon_power,
    ]
}

fn close(ours: f64, theirs: f64, tolerance: f64) -> bool {
    ours == theirs || (ours - theirs).abs() <= tolerance * (1e-3 + theirs.abs())
}

/// A file of the reference data.
fn shared(path: &str) -> String {
    let file = format!("{}/{path}", soleus_testing::shared!("reference"));
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// Rows of a comma-separated table by column name.
struct Csv<'a> {
    head: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

impl<'a> Csv<'a> {
    fn new(text: &'a str) -> Csv<'a> {
        let mut lines = text.lines().map(|l| l.split(',').collect::<Vec<_>>());
        Csv { head: lines.next().unwrap(), rows: lines.collect() }
    }
    fn word(&self, row: usize, name: &str) -> &str {
        self.rows[row][self.head.iter().position(|h| *h == name).unwrap()]
    }
    fn get(&self, row: usize, name: &str) -> f64 {
        self.word(row, name).parse().unwrap()
    }
    fn sizes(&self, i: usize) -> [f64; 5] {
        ["F0", "l0", "ls", "alpha0", "vmax"].map(|n| self.get(i, n))
    }
}

/// Every class, in ordinary states and at the shortest fiber: all fields and rates.
///
/// OpenSim solves Millard's damped balance to 1e-10 F₀ in force, so velocities agree to about 1e-9; all else
/// is roundoff. Where OpenSim leaves a field unset (NaN), ours is not compared.
#[test]
fn opensim_val_all_classes() {
    let mut worst: f64 = 0.0;
    for (n, row) in ROWS.iter().enumerate() {
        let m = compile(row.kind, row.sizes);
        let [L, Ldot, e] = row.inputs;
        let mut rates = vec![NAN; row.states.len()];
        let tension = m.dynamics(L, Ldot, e, row.states, &mut rates);
        let ours = fields(&m.info(L, Ldot, e, row.states));
        assert!(close(tension, ours[12], 1e-14), "row {n}: tension {tension} against info {}", ours[12]);
        let pairs = rates.iter().zip(row.rates).chain(ours.iter().zip(&row.fields));
        for (i, (o, t)) in pairs.enumerate() {
            // Unset in OpenSim: NaN, or a stiffness of zero made from NaN.
            if t.is_nan() || (o.is_nan() && *t == 0.0) {
                continue;
            }
            assert!(close(*o, *t, 3e-9), "row {n} ({:?}), value {i}: ours {o}, OpenSim {t}", row.kind);
            worst = worst.max(if o == t { 0.0 } else { (o - t).abs() / (1e-3 + t.abs()) });
        }
    }
    println!("worst relative difference {worst:e}");
}

/// De Groote and Fregly's muscle with random parameters: rigid, explicit and implicit rows.
#[reference_test]
fn opensim_val_degroote_fregly_random() {
    let text = shared("moco/components/dgf_muscle.csv");
    let t = Csv::new(&text);
    for i in 0..t.rows.len() {
        let p = DeGrooteFregly2016 {
            active_force_width_scale: t.get(i, "width_scale"),
            passive_fiber_strain_at_one_norm_force: t.get(i, "e0"),
            tendon_strain_at_one_norm_force: t.get(i, "eT"),
            fiber_damping: t.get(i, "damping"),
            ..Default::default()
        };
        let mut m = Muscle::new(MuscleKind::DeGrooteFregly2016(p));
        resize(&mut m, t.sizes(i));
        m.ignore_tendon_compliance = t.word(i, "mode") == "rigid";
        let CompiledMuscle::DeGrooteFregly2016(m) = CompiledMuscle::compile(&m, &Options::default()).unwrap()
        else {
            panic!("another class")
        };
        let (L, Ldot, a, f) =
            (t.get(i, "L"), t.get(i, "Ldot"), t.get(i, "activation"), t.get(i, "norm_tendon_force"));
        if t.word(i, "mode").starts_with("implicit") {
            let r = m.residual(L, Ldot, a, f, t.get(i, "norm_tendon_force_deriv"));
            assert!(close(r, t.get(i, "residual_implicit"), 1e-10), "row {i}: {r}");
            continue;
        }
        let states = if f.is_nan() { vec![a] } else { vec![a, f] };
        let mut rates = vec![0.0; states.len()];
        m.dynamics(L, Ldot, a, &states, &mut rates);
        let info = m.info(L, Ldot, a, &states);
        for (name, ours) in [
            ("fiber_length", info.fiber_length),
            ("fiber_velocity", info.fiber_velocity),
            ("active_fiber_force", info.active_fiber_force),
            ("passive_fiber_force", info.passive_fiber_force),
            ("tendon_force", info.tendon_force),
            ("pennation", info.pennation_angle),
        ] {
            assert!(close(ours, t.get(i, name), 1e-10), "row {i} {name}: {ours}");
        }
        if !f.is_nan() {
            assert!(close(rates[1], t.get(i, "dF_explicit"), 1e-10), "row {i}: {}", rates[1]);
        }
    }
}

/// Millard's muscle with random parameters, rigid and elastic.
#[reference_test]
fn opensim_val_millard_random() {
    let text = shared("moco/components/millard_muscle.csv");
    let t = Csv::new(&text);
    for i in 0..t.rows.len() {
        let mut p = Millard2012Equilibrium { fiber_damping: t.get(i, "damping"), ..Default::default() };
        p.fiber_force_length_curve.strain_at_one_norm_force = t.get(i, "fiber_strain_one");
        p.tendon_force_length_curve.strain_at_one_norm_force = t.get(i, "tendon_strain_one");
        let mut m = Muscle::new(MuscleKind::Millard2012Equilibrium(Box::new(p)));
        resize(&mut m, t.sizes(i));
        m.ignore_tendon_compliance = t.word(i, "mode") == "rigid";
        let m = CompiledMuscle::compile(&m, &Options::default()).unwrap();
        let (L, Ldot, a) = (t.get(i, "L"), t.get(i, "Ldot"), t.get(i, "activation"));
        let states = [a, t.get(i, "state_fiber_length")];
        let info = m.info(L, Ldot, a, &states[..m.state_names().len()]);
        let f0 = t.get(i, "F0");
        for (name, ours, scale) in [
            ("fiber_length", info.fiber_length, 0.1),
            ("fiber_velocity", info.fiber_velocity, 1.0),
            ("active_fiber_force", info.active_fiber_force, f0),
            ("passive_fiber_force", info.passive_fiber_force, f0),
            ("tendon_force", info.tendon_force, f0),
        ] {
            // OpenSim's Newton iteration stops at 1e-10 F₀.
            assert!((ours - t.get(i, name)).abs() < 2e-9 * scale, "row {i} {name}: {ours}");
        }
    }
}

/// Thelen's muscle with random sizes.
#[reference_test]
fn opensim_val_thelen_random() {
    let text = shared("moco/components/thelen_muscle.csv");
    let t = Csv::new(&text);
    for i in 0..t.rows.len() {
        let mut m = Muscle::new(MuscleKind::Thelen2003(Thelen2003::default()));
        resize(&mut m, t.sizes(i));
        let m = CompiledMuscle::compile(&m, &Options::default()).unwrap();
        let a = t.get(i, "activation");
        let info = m.info(t.get(i, "L"), 0.0, a, &[a, t.get(i, "state_fiber_length")]);
        for (name, ours) in [
            ("fiber_velocity", info.fiber_velocity),
            ("active_fiber_force", info.active_fiber_force),
            ("passive_fiber_force", info.passive_fiber_force),
            ("tendon_force", info.tendon_force),
        ] {
            assert!(close(ours, t.get(i, name), 1e-10), "row {i} {name}: {ours}");
        }
    }
}

/// Equilibria of the three main classes, found by the same iterations as OpenSim's.
#[reference_test]
fn opensim_val_equilibrium() {
    let text = shared("moco/components/equilibrium.csv");
    let t = Csv::new(&text);
    for i in 0..t.rows.len() {
        let mut m = Muscle::new(match t.word(i, "muscle") {
            "DGF" => MuscleKind::DeGrooteFregly2016(DeGrooteFregly2016::default()),
            "Millard" => MuscleKind::Millard2012Equilibrium(Box::default()),
            _ => MuscleKind::Thelen2003(Thelen2003::default()),
        });
        resize(&mut m, t.sizes(i));
        let m = CompiledMuscle::compile(&m, &Options::default()).unwrap();
        let (L, Ldot, a) = (t.get(i, "L"), t.get(i, "Ldot"), t.get(i, "activation"));
        let mut states = [0.0; 2];
        m.solve_equilibrium(L, Ldot, a, &mut states).unwrap();
        assert!(close(states[1], t.get(i, "value"), 1e-9), "row {i}: {states:?}");
    }
}

/// Millard's curves, value by value.
#[reference_test]
fn opensim_val_millard_curves() {
    let text = shared("curves/muscle_curves.json");
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let numbers = |v: &serde_json::Value| -> Vec<f64> {
        v.as_array().map(|a| a.iter().filter_map(|x| x.as_f64()).collect()).unwrap_or_default()
    };
    let other = ActiveForceLengthCurve {
        min_norm_active_fiber_length: 0.45,
        transition_norm_fiber_length: 0.75,
        max_norm_active_fiber_length: 1.8,
        shallow_ascending_slope: 0.87,
        minimum_value: 0.05,
    };
    let thelen_like = TendonForceLengthCurve { strain_at_one_norm_force: 0.033, ..Default::default() };
    use millard2012_curves as c;
    let cache = &mut CurveCache::default();
    let curves = [
        ("ActiveForceLengthCurve(default)", c::active_force_length(&Default::default(), cache)),
        ("ActiveForceLengthCurve(0.45,0.75,1.8,0.87,0.05)", c::active_force_length(&other, cache)),
        ("ForceVelocityCurve(default)", c::force_velocity(&Default::default(), cache)),
        ("FiberForceLengthCurve(default)", c::fiber_force_length(&Default::default(), cache)),
        ("TendonForceLengthCurve(default)", c::tendon_force_length(&Default::default(), cache)),
        ("TendonForceLengthCurve(0.033)", c::tendon_force_length(&thelen_like, cache)),
    ];
    for (name, curve) in curves {
        let (curve, data) = (curve.unwrap(), &all[name]);
        let (x, y, d1) = (numbers(&data["x"]), numbers(&data["y"]), numbers(&data["d1"]));
        assert!(x.len() > 50 && x.len() == y.len() && x.len() == d1.len(), "{name}: {} points", x.len());
        for i in 0..x.len() {
            let (ours, slope) = curve.value_and_slope(x[i]);
            // OpenSim inverts x(u) to 100 ε in x, and the file has 15 digits; slopes reach 40, curvatures 4000.
            assert!((ours - y[i]).abs() < 2e-12, "{name} at {}: {ours} {}", x[i], y[i]);
            assert!((slope - d1[i]).abs() < 1e-9, "{name} at {}: slope {slope} {}", x[i], d1[i]);
        }
    }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row {
        kind: Kind::Thelen,
        sizes: [1512.971807242143, 0.031786045758174286, 0.3933817780891761, 0.35794238591306476, 8.91269052872664],
        inputs: [0.4324739955689068, 0.05144076561479854, 0.18322274492384683],
        states: &[0.2078369059214079, 0.03199472029566846],
        rates: &[-0.3996135418831455, 0.0644122608423976],
        fields: [0.03199472029566846, 0.40247986554543574, 1.0065649731672115, 0.355503847350407, 0.2078369059214079, 0.0644122608423976, -0.01726775394057742, -0.7474632116545737, 0.999904229313669, 0.00038146028545441024, 1.4438053003219529, 454.5402260667151, 426.1183881450817, 453.9630874092401, 0.5771386574750629, 2425.3692321704607, 141680.4664331722, 3750.663169084799, -29.240788799024113, 7.358107476044733],
    },
    Row {
        kind: Kind::Thelen,
        sizes: [1512.971807242143, 0.031786045758174286, 0.3933817780891761, 0.35794238591306476, 8.91269052872664],
        inputs: [0.41494787911994985, 0.0, 0.6520105345126705],
        states: &[0.6434660802698416, 0.0281534673685834],
        rates: &[0.38877329021184465, -0.2075448612484478],
        fields: [0.0281534673685834, 0.3890905120084143, 0.8857178267083847, 0.4066691793325923, 0.6434660802698416, -0.2075448612484478, 0.22597457248725888, 3.1749117687259636, 0.9713939815468934, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.0],
    },
    Row {
        kind: Kind::Millard,
        sizes: [1059.0289346383515, 0.11697740853000235, 0.32114242207663984, 0.17923077505479884, 13.489911224865752],
        inputs: [0.46792704117329864, 0.0, 0.8562771389130047],
        states: &[0.8966043711163488, 0.13532520291477032],
        rates: &[-1.8599993776121384, -0.01849149905674796],
        fields: [0.13532520291477032, 0.3342183047986005, 1.1568490413263184, 0.15471850835883966, 0.8966043711163488, -0.01849149905674796, 0.018715051311532907, 0.02131182018949581, 0.8831267107295495, 0.032385527420310346, 0.9416693680186226, 822.6980403261807, 812.8708697316755, 789.6418213709009, 33.0562189552799, -7443.257002838867, 92537.28761186259, -7715.98923582846, 14.578713199190792, -15.212920036678689],
    },
    Row {
        kind: Kind::Millard,
        sizes: [53.04014891904158, 0.11114497416550095, 0.3653089805298967, 0.18479169997161005, 6.111565832814685],
        inputs: [0.3959965637347391, 0.3587882672379212, 0.5148574962077974],
        states: &[0.2937391391388876, 0.04910995613546652],
        rates: &[23.508006572951608, 0.0],
        fields: [0.04935948302689897, 0.3510599253630941, 0.4441, 0.42655798121870425, 0.2937391391388876, 0.0, 0.3587882672379212, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.0, -0.0],
    },
    Row {
        kind: Kind::MillardRigid,
        sizes: [939.5060743864419, 0.13847304739203226, 0.06242281434188625, 0.38417387705237854, 10.698748522128401],
        inputs: [0.1876121184884082, -0.6167919450154035, 0.8051340056075817],
        states: &[0.35986195134408727],
        rates: &[42.8231470607596],
        fields: [0.13552064452426227, 0.062422814341886235, 0.9786788626135207, 0.3929967979630333, 0.35986195134408727, -0.5697711567910545, 0.0, 1.7429499395362926, 0.9998659003671833, 0.0, 0.24684084339191864, 47.31102672897475, 43.70429712350936, 83.44384389601859, -36.13281716704384, 13.690978585863938, INFINITY, 62.88195589677383, 26.956458428340444, -0.0],
    },
    Row {
        kind: Kind::MillardRigid,
        sizes: [3597.4155585739295, 0.03576347825368827, 0.35027863391172637, 0.293773214144651, 11.664316003201536],
        inputs: [0.3660447514263955, -0.1637394601560532, 0.7679370137686728],
        states: &[0.3388962528153737],
        rates: &[42.54903084637406],
        fields: [0.018863052400799597, 0.35027863391172637, 0.5274389774673065, 0.5811715182096289, 0.3388962528153737, -0.13685672476313454, 0.0, 4.765587957280281, 0.1943136142578479, 0.0, 0.30083013601964304, 0.0, 0.0, 71.2659280961672, -71.2659280961672, 36122.300771661656, INFINITY, 25234.864706555447, 0.0, -0.0],
    },
    Row {
        kind: Kind::MillardNoActivation,
        sizes: [2728.1108359668106, 0.11627021369580126, 0.08239295491930783, 0.2563244143878298, 10.055258136164761],
        inputs: [0.17400077146069015, 0.0, 0.22497252961306358],
        states: &[0.09489752300910341],
        rates: &[0.021646760942916496],
        fields: [0.09489752300910341, 0.08379761047794781, 0.8161808600213344, 0.31585125441003803, 0.22497252961306358, 0.021646760942916496, -0.022773303865105052, -0.07454329553484326, 0.8846860207908238, 0.0, 1.086892545499214, 595.2077965273617, 565.7642368936777, 590.1566119706143, 5.051184556747316, 4955.105192731999, 550070.2205810382, 5035.655724505672, -12.88432088278788, 12.884320882789],
    },
    Row {
        kind: Kind::MillardNoActivation,
        sizes: [1391.127411681172, 0.12213555145162297, 0.059529718009661864, 0.30846462684135945, 10.654763161641672],
        inputs: [0.21095108176297073, -0.26030187200729366, 0.013034835911108544],
        states: &[0.15610332225521456],
        rates: &[-1.3557938178790883],
        fields: [0.15610332225521456, 0.059315564735829635, 1.2781153431566237, 0.2398265948798964, 0.013034835911108544, -1.3557938178790883, 1.1354392011485757, 2.1238255375195445, 0.714688776657429, 0.10418561296197272, 0.0, 0.0, 0.0, 0.0, 0.0, 10625.1987709275, 0.0, 0.0, -196.50260349877271, -0.0],
    },
    Row {
        kind: Kind::MillardUndamped,
        sizes: [899.0121448557597, 0.03184730937533658, 0.3377905810527077, 0.2914698646563671, 14.763120008304986],
        inputs: [0.38236746639857794, -0.08332062660537957, 0.686949360957942],
        states: &[0.9565397294242834, 0.025650690733274206],
        rates: &[-13.040150784886285, 2.4124734595777926],
        fields: [0.025650690733274206, 0.35840488863736725, 0.8054272475884194, 0.3648188673240447, 0.9565397294242834, 2.4124734595777926, -2.6657477440264707, -35.919444997625135, 0.8753847179601645, 0.0, 1.709833535525697, 1287.1268888949812, 1202.419010248392, 1287.1268888949812, 0.0, 40004.96289357257, 74683.49631665427, 26593.70059131527, -3105.1594585680764, 3205.3457639441926],
    },
    Row {
        kind: Kind::MillardUndamped,
        sizes: [899.0121448557597, 0.03184730937533658, 0.3377905810527077, 0.2914698646563671, 14.763120008304986],
        inputs: [0.34549806310678, 0.0, 0.5287017398867132],
        states: &[0.5008996195572266, 0.03049301634876708],
        rates: &[2.221771127848974, -0.4701656502497104],
        fields: [0.03049301634876708, 0.31641075927995266, 0.9574754334625737, 0.3048216011232478, 0.5008996195572266, -0.4701656502497104, 0.4928875135711358, 4.851172481917506, 0.9977405066726882, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.0],
    },
    Row {
        kind: Kind::DeGrooteFregly,
        sizes: [2900.4375158008806, 0.14024609107687358, 0.17006124374615383, 0.19274748560707514, 5.587851162064913],
        inputs: [0.3197315723471128, 0.0, 0.5905839712874152],
        states: &[0.21759033920020698, 0.460852490153291],
        rates: &[18.078972095221562, -259.8765395088106],
        fields: [0.14659438200202327, 0.1756198656579334, 1.045265368014214, 0.1843024599042562, 0.21759033920020698, 1.7979027697864396, -1.8288760260470813, -2.2863180228095143, 0.9946208629101551, 0.024681059553442825, 2.0520791125380695, 1359.701315934791, 1336.673851690861, 1288.1154448762697, 71.58587105852129, -343.9695921152569, 412141.4759299053, -20.913184968672446, -2315.906326147737, 2444.6107620014277],
    },
    Row {
        kind: Kind::DeGrooteFregly,
        sizes: [2900.4375158008806, 0.14024609107687358, 0.17006124374615383, 0.19274748560707514, 5.587851162064913],
        inputs: [0.38323190354441194, 0.0, 0.37796883434360806],
        states: &[0.34693088456262167, 0.5637102137220953],
        rates: &[1.2801710207109123, -7.530138788656184],
        fields: [0.20867580464318805, 0.17629263077630022, 1.487925995233663, 0.12909872737014172, 0.34693088456262167, 0.045474394638854776, -0.045855993234103824, -0.028290390220203316, 0.241879600617522, 0.4736634231043506, 1.129435720699465, 1648.7264145279287, 1635.0062519196977, 274.8952522934047, 1373.831162234524, 54495.988364191064, 476288.8229310563, 48278.114091932555, -12.500695187137834, 74.9748356257471],
    },
    Row {
        kind: Kind::DeGrooteFreglyRigid,
        sizes: [2230.991738843522, 0.1529524672720636, 0.09363187882420906, 0.3252143522519331, 14.267709424082689],
        inputs: [0.23660792567257133, -0.18810482047257712, 0.9179583799504564],
        states: &[0.15428865680173232],
        rates: &[41.755044616802465],
        fields: [0.1510974521855272, 0.09363187882420906, 0.9878719505502529, 0.3293568768357691, 0.15428865680173232, -0.17799428934954625, 0.0, 0.4026513693034809, 0.9972086178647247, 0.016806097657654374, 0.7904584413390452, 308.82377159579124, 292.2246629370835, 271.32950655936685, 37.49426503642437, 2174.2737842465917, INFINITY, 2160.632410923284, 48.29510269959755, -0.0],
    },
    Row {
        kind: Kind::DeGrooteFreglyRigid,
        sizes: [2230.991738843522, 0.1529524672720636, 0.09363187882420906, 0.3252143522519331, 14.267709424082689],
        inputs: [0.1651857427309783, -0.37536321801760275, 0.3965474800085378],
        states: &[0.6337982170632666],
        rates: &[-8.258300148567207],
        fields: [0.0866501328594541, 0.09363187882420906, 0.5665167382055074, 0.5992142208157548, 0.6337982170632666, -0.3099670794642993, 0.0, 2.443187431579843, 0.17226257227647357, 0.0009296826547178954, 0.6514098988227678, 160.74390800855988, 132.73895074278354, 158.66979368613815, 2.074114322421739, 19625.323347962298, INFINITY, 13972.80854261602, 49.18241254809516, -0.0],
    },
    Row {
        kind: Kind::Schutte,
        sizes: [1870.0807023635064, 0.04897219461039509, 0.14757968289959023, 0.4562497665207133, 12.36216227134743],
        inputs: [0.20228776314887148, 0.0, 0.3653368361509006],
        states: &[0.8160576970414286, 0.05492332370037979],
        rates: &[-6.579866516544808, 0.005108070848312814],
        fields: [0.05492332370037979, 0.15178003401147638, 1.1215205717719965, 0.40372408895715967, 0.8160576970414286, 0.005108070848312814, NAN, NAN, 0.9351916512477011, 0.04842033417895887, NAN, NAN, 1597.4564345790639, 1646.5627500449064, 90.5499325500631, NAN, NAN, 0.0, NAN, NAN],
    },
    Row {
        kind: Kind::Schutte,
        sizes: [1807.620836630697, 0.12615657380843132, 0.3626409247599358, 0.07407774035474832, 5.432930863927174],
        inputs: [0.5435679911133198, 0.0, 0.7192045799199374],
        states: &[0.5957821623375834, 0.1748858561398191],
        rates: &[8.607473865767528, -0.36224721462714743],
        fields: [0.1748858561398191, 0.3689315518270995, 1.3862603498204, 0.05341364068227462, 0.5957821623375834, -0.36224721462714743, NAN, NAN, 0.33900996476317674, 0.40255755384085035, NAN, NAN, 763.9821093959754, 37.40181115165308, 727.6714222658048, NAN, NAN, 0.0, NAN, NAN],
    },
    Row {
        kind: Kind::Delp,
        sizes: [4624.778216167564, 0.18607482154066307, 0.14918462011782094, 0.3270864222589433, 11.859658309578894],
        inputs: [0.38221159060089605, 0.0, 0.6303992934263946],
        states: &[0.7901294542825534, 0.2364663394541849, -0.3915996595153697],
        rates: &[-2.3318271424650696, -0.3915996595153697, 803.5978929632405],
        fields: [NAN, NAN, NAN, NAN, 0.7901294542825534, -0.3915996595153697, NAN, NAN, NAN, NAN, NAN, NAN, 3946.376747670137, NAN, NAN, NAN, NAN, NAN, NAN, NAN],
    },
    Row {
        kind: Kind::Delp,
        sizes: [872.554457436005, 0.1180837031760506, 0.22114923069237047, 0.5019721688122849, 7.828581980722068],
        inputs: [0.2695975411547531, -0.34909527558912695, 0.0006606157907871335],
        states: &[0.41132199103076406, 0.04827397854783976, -0.2727206144809961],
        rates: &[-5.995056512895812, -0.2727206144809961, 4.109236417098398e+32],
        fields: [NAN, NAN, NAN, NAN, 0.41132199103076406, -0.2727206144809961, NAN, NAN, NAN, NAN, NAN, NAN, 7328.126259566408, NAN, NAN, NAN, NAN, NAN, NAN, NAN],
    },
    Row {
        kind: Kind::ThelenOriginal,
        sizes: [2909.1820659413233, 0.06513170488109167, 0.02901641091599108, 0.28876088994334864, 13.749277880318576],
        inputs: [0.08156026626777932, 0.2199305985092734, 0.3398450308634292],
        states: &[0.7345173548085783, 0.0554630059401433],
        rates: &[-9.866808098628727, -0.3978046662218925],
        fields: [0.0554630059401433, 0.029290330661797162, 0.8515515760166247, 0.34097572066839776, 0.7345173548085783, -0.3978046662218925, NAN, NAN, 0.9568832706928435, 0.006808004955013266, NAN, NAN, 160.0721335612329, 150.04490794119548, 19.80572591996426, NAN, NAN, 0.0, NAN, NAN],
    },
    Row {
        kind: Kind::ThelenOriginal,
        sizes: [3710.0092859295987, 0.04617501610582339, 0.09458360065241203, 0.45175222691365086, 11.717532479923342],
        inputs: [0.1495135567068789, -0.08734850700095649, 0.17043002121661766],
        states: &[0.8853156229517195, 0.02126035564113483],
        rates: &[-17.872140043377545, 533.6510920141852],
        fields: [0.02126035564113483, 0.14275460731927303, 0.4604298478729403, 1.2472685577174518, 0.8853156229517195, 533.6510920141852, NAN, NAN, 0.5586277783817987, 0.0005018876101439575, NAN, NAN, 95398.69634869834, 300075.8713443501, 1.8620076941270967, NAN, NAN, 0.0, NAN, NAN],
    },
    Row {
        kind: Kind::RigidTendon,
        sizes: [2667.410082379756, 0.10086432560704375, 0.18164923387489712, 0.5428399990991319, 9.182741886433114],
        inputs: [0.249367666717275, 0.0, 0.11559632640820627],
        states: &[],
        rates: &[],
        fields: [0.0854432983458322, 0.18164923387489712, 0.8471111845699522, 0.6558103130496591, 0.11559632640820627, 0.0, NAN, NAN, 0.9446219835162782, 0.0, 1.0, 291.2673935236967, 230.84515473261834, 291.2673935236967, 0.0, NAN, NAN, 0.0, -0.0, 0.0],
    },
    Row {
        kind: Kind::RigidTendon,
        sizes: [1993.94351777297, 0.11632823395598443, 0.040138274586230066, 0.46706399694160877, 13.601545959229673],
        inputs: [0.18117781769853203, 0.37886136127482933, 0.014906279735641847],
        states: &[],
        rates: &[],
        fields: [0.15045160004944788, 0.040138274586230066, 1.293336922026813, 0.3555898567949529, 0.014906279735641847, 0.37886136127482933, NAN, NAN, 0.5755370942022169, 0.24699882555916117, 1.7029289815225126, 521.6324778688058, 488.99982670157266, 29.130770747579835, 492.501707121226, NAN, NAN, 0.0, -11.036523460413074, 0.0],
    },
];
