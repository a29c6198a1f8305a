//! Metabolic models against OpenSim 4.6.
#![allow(clippy::excessive_precision)]

use soleus_dynamics::metabolics::bhargava2004::{Bhargava2004, BhargavaMuscle, Switch};
use soleus_dynamics::metabolics::umberger2010::{Umberger2010, UmbergerMuscle};
use soleus_dynamics::metabolics::{MuscleAtWork, muscle_mass};
use soleus_math::Dual;

const F0: f64 = 1500.0;
const L0: f64 = 0.09;
const VMAX: f64 = 12.0;

/// Excitation, activation, active and passive fiber force, fiber velocity, normalized fiber length and
/// force–length multiplier of a Millard2012EquilibriumMuscle (F₀ 1500 N, l₀ 0.09 m, v_max 12 l₀/s) in nine states, from
/// OpenSim 4.6.
const STATES: [[f64; 7]; 9] = [
    [
        0.5442292252959519,
        0.40145740822067527,
        574.4840044355437,
        199.81631720358328,
        1.4386774838657996,
        0.6666666666666666,
        0.6814267367700417,
    ],
    [
        0.625720304108054,
        0.11225241627782245,
        160.63277520937262,
        699.5302875587176,
        5.036618070422767,
        0.6666666666666666,
        0.6814267367700417,
    ],
    [
        0.83746908209646,
        0.2963863136116073,
        498.3098932074082,
        4.629091742550239,
        0.03332946054636172,
        0.9444444444444445,
        0.9920726927458703,
    ],
    [
        0.9956448355104628,
        0.4967503321463255,
        572.8299902922097,
        -7.381029177340457,
        -0.053143410076851284,
        0.9444444444444445,
        0.9920726927458703,
    ],
    [
        0.47635320869933495,
        0.6571147335169538,
        672.465354105741,
        19.848089530553338,
        -0.06917571544919038,
        1.1111111111111112,
        0.9437533919767309,
    ],
    [
        0.6348606582851885,
        0.874643041786132,
        470.595924088746,
        -8.951555694434926,
        -0.27653316106910586,
        1.1111111111111112,
        0.9437533919767309,
    ],
    [
        0.7412518562014903,
        0.687840901601113,
        186.70851628872168,
        321.304183057599,
        -0.3307541355232016,
        1.3888888888888888,
        0.5593283065032488,
    ],
    [
        0.7582302462868173,
        0.6115446037847517,
        56.08495289907084,
        278.96167270676625,
        -0.6356202100491976,
        1.3888888888888888,
        0.5593283065032488,
    ],
    [
        0.0,
        0.3,
        399.4818191496908,
        -2.4572257664371837,
        -0.017692025518347722,
        0.9111111111111112,
        0.966163710126995,
    ],
];

fn at(s: [f64; 7]) -> MuscleAtWork<f64> {
    MuscleAtWork {
        excitation: s[0],
        activation: s[1],
        active_fiber_force: s[2],
        passive_fiber_force: s[3],
        fiber_velocity: s[4],
        normalized_fiber_length: s[5],
        active_force_length_multiplier: s[6],
    }
}

fn mass() -> f64 {
    muscle_mass(F0, L0, 0.25e6, 1059.7)
}

/// Totals in W, from OpenSim's probe less its basal rate; the subtraction leaves 1e-13 W of noise.
fn check(what: &str, ours: impl Fn(&MuscleAtWork<f64>) -> f64, theirs: [f64; 9]) {
    for (state, want) in STATES.iter().zip(theirs) {
        let rate = ours(&at(*state));
        assert!((rate - want).abs() < 1e-11 * (1.0 + want.abs()), "{what} {state:?}: {rate} {want}");
    }
}

/// Bhargava2004MuscleMetabolicsProbe and Bhargava2004SmoothedMuscleMetabolics with several options.
#[test]
fn opensim_val_bhargava() {
    let p = BhargavaMuscle::new(mass(), F0);
    let default = Bhargava2004::default();
    let check = |what: &str, model: Bhargava2004, theirs: [f64; 9]| {
        check(what, |at| model.rates(&p, at).total, theirs);
    };
    check(
        "default",
        default.clone(),
        [
            0.0,
            0.0,
            64.67751734373661,
            136.97828707219992,
            94.24499945088542,
            214.19890912291703,
            145.87256873398837,
            132.2767453362238,
            8.823684847899344,
        ],
    );
    check(
        "force-dependent, no negative work, scaled",
        Bhargava2004 {
            use_force_dependent_shortening_prop_constant: true,
            include_negative_mechanical_work: false,
            muscle_effort_scaling_factor: 0.9,
            ..default.clone()
        },
        [
            0.5722379999999987,
            0.5722379999999987,
            69.12240746958452,
            125.92913448413407,
            90.02430338852628,
            232.50842374966123,
            148.7745704266257,
            154.44737696873642,
            8.605663049064063,
        ],
    );
    check(
        "negative allowed",
        Bhargava2004 {
            forbid_negative_total_power: false,
            enforce_minimum_heat_rate_per_muscle: false,
            ..default.clone()
        },
        [
            -786.8571656626958,
            -761.3997333395127,
            64.67751734373661,
            136.97828707219992,
            94.24499945088542,
            214.19890912291703,
            145.87256873398837,
            132.2767453362238,
            8.823684847899344,
        ],
    );
    check(
        "no shortening heat",
        Bhargava2004 { shortening_rate_on: false, ..default.clone() },
        [
            -786.8571656626958,
            -761.3997333395127,
            64.67751734373661,
            129.46581556768564,
            82.27218000622705,
            182.2839150024596,
            103.86574343221326,
            79.03614370025954,
            7.0676425385123025,
        ],
    );
    check(
        "tanh",
        Bhargava2004 { switch: Switch::Tanh, ..default.clone() },
        [
            -1.1368683772161603e-13,
            0.0,
            63.25578604631994,
            135.04937197248398,
            91.84510551007642,
            214.07291787218958,
            145.81635474873713,
            132.27658489548634,
            8.09935583612102,
        ],
    );
    check(
        "huber, no negative work",
        Bhargava2004 { switch: Switch::Huber, include_negative_mechanical_work: false, ..default.clone() },
        [
            39.64003635978112,
            47.64620498217165,
            82.15304878060715,
            136.9782870721999,
            94.24499945088539,
            214.19890912291703,
            145.87256873398837,
            132.27674533622383,
            11.426611305117959,
        ],
    );
    check(
        "huber, force-dependent",
        Bhargava2004 { switch: Switch::Huber, use_force_dependent_shortening_prop_constant: true, ..default },
        [
            -1.1368683772161603e-13,
            -1.1368683772161603e-13,
            61.117027580446845,
            139.36898587396212,
            98.90396222878309,
            259.8181057492243,
            164.6047776656563,
            169.54918101885227,
            8.988469359659973,
        ],
    );
}

fn umberger() -> UmbergerMuscle {
    UmbergerMuscle {
        mass: mass(),
        optimal_fiber_length: L0,
        max_contraction_velocity: VMAX,
        ratio_slow_twitch_fibers: 0.5,
    }
}

/// Umberger2010MuscleMetabolicsProbe with several options.
#[test]
fn opensim_val_umberger() {
    let default = Umberger2010::default();
    let check = |what: &str, model: Umberger2010, theirs: [f64; 9]| {
        check(what, |at| model.rates(&umberger(), at).total, theirs);
    };
    check(
        "default",
        default.clone(),
        [
            0.0,
            1740.807778940071,
            67.91805338130638,
            114.89243961909222,
            86.264605795573,
            204.7607948303475,
            118.83756946721076,
            103.15924260675894,
            14.02157860731036,
        ],
    );
    check(
        "fixed recruitment, no negative work",
        Umberger2010 {
            use_bhargava_recruitment_model: false,
            include_negative_mechanical_work: false,
            ..default.clone()
        },
        [
            99.7020587669343,
            245.5173747338256,
            70.34521965894476,
            115.07290955857229,
            102.37835321783001,
            216.29315250013462,
            124.98795061890385,
            109.47367674229938,
            31.605829695243898,
        ],
    );
    check(
        "negative allowed",
        Umberger2010 {
            forbid_negative_total_power: false,
            enforce_minimum_heat_rate_per_muscle: false,
            ..default
        },
        [
            -165.44651024419068,
            1740.807778940071,
            67.91805338130638,
            114.89243961909222,
            86.264605795573,
            204.7607948303475,
            118.83756946721076,
            103.15924260675894,
            14.02157860731036,
        ],
    );
}

/// Both models, smooth and sharp: duals against central differences.
#[test]
fn deriv_rates() {
    type D = Dual<f64, 7>;
    let p = BhargavaMuscle::new(mass(), F0);
    let smooth = Bhargava2004 { switch: Switch::Tanh, ..Default::default() };
    let umberger_model = Umberger2010::default();
    let plain = |s: [f64; 7]| {
        [
            Bhargava2004::default().rates(&p, &at(s)).total,
            smooth.rates(&p, &at(s)).total,
            umberger_model.rates(&umberger(), &at(s)).total,
        ]
    };
    // The last state sits where the excitation is zero and recruitment switches.
    for s in &STATES[2..8] {
        let d: [D; 7] = std::array::from_fn(|i| D::variable(s[i], i));
        let at = MuscleAtWork {
            excitation: d[0],
            activation: d[1],
            active_fiber_force: d[2],
            passive_fiber_force: d[3],
            fiber_velocity: d[4],
            normalized_fiber_length: d[5],
            active_force_length_multiplier: d[6],
        };
        let dual = [
            Bhargava2004::default().rates(&p, &at).total,
            smooth.rates(&p, &at).total,
            umberger_model.rates(&umberger(), &at).total,
        ];
        for i in 0..7 {
            let h = 1e-6 * (1.0 + s[i].abs());
            let (mut hi, mut lo) = (*s, *s);
            hi[i] += h;
            lo[i] -= h;
            let (hi, lo) = (plain(hi), plain(lo));
            for k in 0..3 {
                assert_eq!(dual[k].v.to_bits(), plain(*s)[k].to_bits());
                let fd = (hi[k] - lo[k]) / (2.0 * h);
                // Roundoff ε·200/h ~ 4e-8; truncation h² f‴/6 with f‴ ~ 1e5 from tanh(10 v).
                assert!(
                    (dual[k].d[i] - fd).abs() < 1e-5 * (1.0 + fd.abs()),
                    "{k} {i}: {} {fd}",
                    dual[k].d[i]
                );
            }
        }
    }
}
