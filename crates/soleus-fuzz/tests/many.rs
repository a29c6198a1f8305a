//! Many of one thing: time in proportion to the file.

use soleus_fuzz::{Limits, run_case, targets};
use std::time::{Duration, Instant};

/// A file of `n` things.
type Make = fn(usize) -> String;

/// Name, target, number of things, and the file.
const CASES: &[(&str, &str, usize, Make)] = &[
    ("markers", "osim", 20_000, |n| {
        model(
            "MarkerSet",
            &repeat(n, |i| {
                format!("<Marker name=\"m{i}\"><socket_parent_frame>/ground</socket_parent_frame></Marker>")
            }),
        )
    }),
    ("markers without a frame", "osim", 20_000, |n| {
        model(
            "MarkerSet",
            &repeat(n, |i| {
                format!(
                    "<Marker name=\"m{i}\"><socket_parent_frame>/bodyset/b{i}</socket_parent_frame></Marker>"
                )
            }),
        )
    }),
    ("offset frames on each other", "osim", 4_000, |n| {
        model(
            "ComponentSet",
            &repeat(n, |i| {
                let parent = if i == 0 { "/ground".to_string() } else { format!("/componentset/f{}", i - 1) };
                format!(
                    "<PhysicalOffsetFrame name=\"f{i}\"><socket_parent>{parent}</socket_parent></PhysicalOffsetFrame>"
                )
            }),
        )
    }),
    ("offset frames the other way round", "osim", 4_000, |n| {
        model(
            "ComponentSet",
            &repeat(n, |i| {
                let parent =
                    if i + 1 == n { "/ground".to_string() } else { format!("/componentset/f{}", i + 1) };
                format!(
                    "<PhysicalOffsetFrame name=\"f{i}\"><socket_parent>{parent}</socket_parent></PhysicalOffsetFrame>"
                )
            }),
        )
    }),
    ("points of a path", "osim", 10_000, |n| {
        let points =
            repeat(n, |_| "<PathPoint><socket_parent_frame>/ground</socket_parent_frame></PathPoint>".into());
        model(
            "ForceSet",
            &format!(
                "<PathActuator name=\"a\"><path><GeometryPath><PathPointSet><objects>{points}</objects></PathPointSet></GeometryPath></path></PathActuator>"
            ),
        )
    }),
    ("actuators and their coordinate", "osim", 10_000, |n| {
        model(
            "ForceSet",
            &repeat(n, |i| {
                format!(
                    "<CoordinateActuator name=\"a{i}\"><coordinate>q{i}</coordinate></CoordinateActuator>"
                )
            }),
        )
    }),
    ("bodies of OpenSim 2", "osim", 5_000, |n| {
        let bodies = repeat(n, |i| {
            let parent = if i == 0 { "ground".to_string() } else { format!("b{}", i - 1) };
            format!(
                "<Body name=\"b{i}\"><mass>1</mass><Joint><PinJoint name=\"j\"><parent_body>{parent}</parent_body><CoordinateSet><objects><Coordinate name=\"q{i}\"/></objects></CoordinateSet></PinJoint></Joint></Body>"
            )
        });
        format!(
            "<OpenSimDocument Version=\"20302\"><Model><BodySet><objects><Body name=\"ground\"/>{bodies}</objects></BodySet></Model></OpenSimDocument>"
        )
    }),
    ("muscles of OpenSim 1", "osim", 5_000, |n| {
        let list = repeat(n, |i| {
            format!(
                "<Thelen2003Muscle name=\"m{i}\"><MusclePointSet><objects><MusclePoint name=\"p\"><body>b{i}</body></MusclePoint></objects></MusclePointSet></Thelen2003Muscle>"
            )
        });
        format!(
            "<OpenSimDocument Version=\"10600\"><Model><ActuatorSet><objects>{list}</objects></ActuatorSet></Model></OpenSimDocument>"
        )
    }),
    ("names of actuators in a controller", "osim", 10_000, |n| {
        let actuators = repeat(n, |i| format!("<PointActuator name=\"a{i}\"/>"));
        let names = repeat(n, |i| format!("a{i}"));
        let functions = repeat(n, |i| format!("<Constant name=\"a{i}\"/>"));
        format!(
            "<OpenSimDocument Version=\"30500\"><Model><ForceSet><objects>{actuators}</objects></ForceSet><ControllerSet><objects><PrescribedController name=\"c\"><actuator_list>{names}</actuator_list><ControlFunctions name=\"ControlFunctions\"><objects>{functions}</objects></ControlFunctions></PrescribedController></objects></ControllerSet></Model></OpenSimDocument>"
        )
    }),
    ("properties of one body", "osim", 50_000, |n| {
        model("BodySet", &format!("<Body name=\"b\">{}</Body>", repeat(n, |i| format!("<mass>{i}</mass>"))))
    }),
    ("elements inside each other", "osim", 100_000, |n| "<a>".repeat(n)),
    ("coordinates of one joint", "osim", 5_000, |n| {
        let list = repeat(n, |i| format!("<Coordinate name=\"q{i}\"/>"));
        let axes = repeat(6, |_| {
            format!(
                "<TransformAxis><coordinates>{}</coordinates></TransformAxis>",
                repeat(n, |i| format!("q{i}"))
            )
        });
        model(
            "JointSet",
            &format!(
                "<CustomJoint name=\"j\"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/ground</socket_child_frame><coordinates>{list}</coordinates><SpatialTransform>{axes}</SpatialTransform></CustomJoint>"
            ),
        )
    }),
    ("points of a spline", "osim", 50_000, |n| {
        let x = repeat(n, |i| i.to_string());
        let spline = format!("<SimmSpline><x>{x}</x><y>{x}</y></SimmSpline>");
        let natural = format!("<GCVSpline><x>{x}</x><y>{x}</y></GCVSpline>");
        let one = |f: &str| {
            format!(
                "<PrescribedForce name=\"f\"><socket_frame>/ground</socket_frame><forceFunctions><objects>{f}{f}{f}</objects></forceFunctions></PrescribedForce>"
            )
        };
        model("ForceSet", &(one(&spline) + &one(&natural)))
    }),
    ("terms of a polynomial", "osim", 20_000, |n| {
        let c = repeat(n, |i| i.to_string());
        let f = format!(
            "<PolynomialFunction><coefficients>{c}</coefficients></PolynomialFunction><MultivariatePolynomialFunction><dimension>3</dimension><order>50</order><coefficients>{c}</coefficients></MultivariatePolynomialFunction>"
        );
        model(
            "ForceSet",
            &format!(
                "<PrescribedForce name=\"f\"><socket_frame>/ground</socket_frame><forceFunctions><objects>{f}</objects></forceFunctions></PrescribedForce>"
            ),
        )
    }),
    ("external forces", "loads", 10_000, |n| {
        let list = repeat(n, |_| {
            "<ExternalForce name=\"f\"><applied_to_body>foo</applied_to_body></ExternalForce>".into()
        });
        format!(
            "<OpenSimDocument Version=\"40000\"><ExternalLoads><objects>{list}</objects></ExternalLoads></OpenSimDocument>"
        )
    }),
    ("tasks", "setup", 20_000, |n| {
        let list = repeat(n, |i| format!("<IKMarkerTask name=\"m{i}\"><weight>1</weight></IKMarkerTask>"));
        format!(
            "<OpenSimDocument Version=\"40000\"><InverseKinematicsTool><IKTaskSet><objects>{list}</objects></IKTaskSet></InverseKinematicsTool></OpenSimDocument>"
        )
    }),
    ("analyses of OpenSim 1", "setup", 10_000, |n| {
        let list = repeat(n, |_| "<Kinematics name=\"k\"/>".into());
        format!(
            "<OpenSimDocument Version=\"10600\"><AnalyzeTool><AnalysisSet><objects>{list}</objects></AnalysisSet></AnalyzeTool></OpenSimDocument>"
        )
    }),
    ("goals", "setup", 10_000, |n| {
        let list = repeat(n, |i| format!("<MocoControlGoal name=\"g{i}\"/>"));
        format!(
            "<OpenSimDocument Version=\"40000\"><MocoStudy><MocoProblem><MocoPhase><goals>{list}</goals></MocoPhase></MocoProblem></MocoStudy></OpenSimDocument>"
        )
    }),
    ("controls", "controls", 20_000, |n| {
        let list = repeat(n, |_| {
            "<ControlLinear name=\"c\"><x_nodes><ControlLinearNode><t>0</t><value>1</value></ControlLinearNode></x_nodes></ControlLinear>".into()
        });
        format!(
            "<OpenSimDocument Version=\"40000\"><ControlSet><objects>{list}</objects></ControlSet></OpenSimDocument>"
        )
    }),
    ("goals of a study", "study", 5_000, |n| {
        "model = \"a\"\n[time]\nfinal = 1\n".to_string()
            + &repeat(n, |i| format!("[[goals]]\ntype = \"control\"\nname = \"g{i}\"\n"))
    }),
    ("phases of a study", "study", 1_000, |n| {
        "model = \"a\"\n[time]\nfinal = 1\n".to_string()
            + &repeat(n, |i| format!("[[phases]]\nname = \"p{i}\"\n[phases.time]\nfinal = {i}\n"))
    }),
    ("states of a study, each wrong", "study", 5_000, |n| {
        "model = \"a\"\n[time]\nfinal = 1\n".to_string()
            + &repeat(n, |i| format!("[[states]]\nnaem = \"s{i}\"\n"))
    }),
    ("lists inside each other", "study", 50_000, |n| "a = ".to_string() + &"[".repeat(n)),
    ("brackets inside each other", "expression", 100_000, |n| "(".repeat(n)),
    ("signs", "expression", 100_000, |n| "-".repeat(n) + "x"),
    ("powers", "expression", 50_000, |n| "x^".repeat(n) + "x"),
    ("functions of functions", "expression", 50_000, |n| "sin(".repeat(n) + "x" + &")".repeat(n)),
    ("sums", "expression", 100_000, |n| "x+".repeat(n) + "x"),
    ("definitions that double", "expression", 60, |n| {
        "a0;".to_string() + &repeat(n, |i| format!("a{i} = a{}*a{};", i + 1, i + 1)) + &format!("a{n} = x")
    }),
    ("definitions in a row", "expression", 10_000, |n| {
        "a0;".to_string() + &repeat(n, |i| format!("a{i} = a{}+1;", i + 1)) + &format!("a{n} = x")
    }),
    ("labels", "sto", 100_000, |n| {
        format!("a\nendheader\ntime\t{}\n0\t{}\n", "q\t".repeat(n), "1\t".repeat(n))
    }),
    ("lines of a header", "sto", 100_000, |n| format!("{}endheader\ntime\tq\n0\t1\n", "a=b\n".repeat(n))),
    ("rows without numbers", "sto", 100_000, |n| format!("a\nendheader\ntime\tq\n{}", "x\n".repeat(n))),
    ("rows of one time", "csv", 100_000, |n| format!("time,q\n{}", "0,1\n".repeat(n))),
    ("quotes", "csv", 200_000, |n| format!("time,q\n{}", "\"".repeat(n))),
    ("markers of a trial", "trc", 50_000, |n| {
        format!("PathFileType\nFrame#\tTime\t{}\n1\t0\t{}\n", "m\t".repeat(n), "1\t".repeat(3 * n))
    }),
    ("faces", "obj", 100_000, |n| "v 0 0 0\n".repeat(3) + &"f 1 2 3\n".repeat(n)),
    ("lines that go on", "obj", 100_000, |n| "\\\n".repeat(n)),
    ("facets in one place", "stl", 20_000, |n| {
        "solid\n".to_string()
            + &"facet\nvertex 0 0 0\nvertex 0 0 1e-6\nvertex 0 0 2e-6\nendfacet\n".repeat(n)
            + "endsolid\n"
    }),
];

fn repeat(n: usize, one: impl Fn(usize) -> String) -> String {
    (0..n).map(one).collect::<Vec<_>>().join(" ")
}

fn model(set: &str, objects: &str) -> String {
    format!(
        "<OpenSimDocument Version=\"40000\"><Model name=\"m\"><Ground name=\"ground\"/><{set}><objects>{objects}</objects></{set}></Model></OpenSimDocument>"
    )
}

#[test]
fn issue_16_many_of_anything_are_read_in_time() {
    let limits = Limits { time: Duration::from_secs(30), ..Limits::default() };
    let all = targets();
    // `SOLEUS_MANY=4` shows what grows faster than its file.
    let times = std::env::var("SOLEUS_MANY").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut faults = Vec::new();
    for (name, target, n, make) in CASES {
        let target = all.iter().find(|t| t.name == *target).unwrap();
        let n = times * n;
        let bytes = make(n).into_bytes();
        let start = Instant::now();
        let found = run_case(target, &bytes, &limits);
        println!("{:>8.3} s {:>8} kB {name}", start.elapsed().as_secs_f64(), bytes.len() / 1000);
        if let Err(fault) = found {
            faults.push(format!("{n} {name}: {fault:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
