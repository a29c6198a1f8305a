//! Formulas: text, meaning, values, derivatives.

use soleus_math::formula::{
    Expr, Formula, FormulaError, FormulaProblem, Item, Meaning, Place, Scope, Unknown,
};
use soleus_math::function::Expression;
use soleus_math::names::nearest_name;
use soleus_math::{Dual, Jet, Random, Real};

/// `x`, `y`, `v` (a vector), `a[one_r]`, `a[two_r]`, `a[one_l]`, `a[two_l]`, `w[…]` of the same things, and `double`, which is 2 x.
struct Names;

const ITEMS: [&str; 4] = ["one_r", "two_r", "one_l", "two_l"];

impl Scope for Names {
    fn resolve(&mut self, name: &str, item: Option<&str>) -> Result<Meaning, Unknown> {
        let unknown = |names: &[&'static str]| {
            let nearest = nearest_name(item.unwrap_or(name), names.iter().copied(), 3).map(str::to_string);
            Unknown { nearest, ..Unknown::default() }
        };
        let place = item.and_then(|i| ITEMS.iter().position(|n| i == *n || i == format!("/set/{n}")));
        match (name, item, place) {
            ("x", None, _) => Ok(Meaning::Number(0)),
            ("y", None, _) => Ok(Meaning::Number(1)),
            ("v", None, _) => Ok(Meaning::Vector(2)),
            ("double", None, _) => Ok(Meaning::Expr(Expr::input("x") * 2.0)),
            ("itself", None, _) => Ok(Meaning::Expr(Expr::input("itself") + 1.0)),
            ("a", Some(_), Some(i)) => Ok(Meaning::Number(5 + i)),
            ("w", Some(_), Some(i)) => Ok(Meaning::Expr(Expr::number(10.0 + i as f64))),
            ("a" | "w", Some(_), None) => Err(unknown(&ITEMS)),
            _ => Err(unknown(&["x", "y", "v", "a", "w", "double"])),
        }
    }
    fn items(&mut self, _: &str) -> Vec<Item> {
        ITEMS.iter().map(|n| Item { name: (*n).to_string(), path: format!("/set/{n}") }).collect()
    }
}

const X: [f64; 9] = [0.7, 1.9, 0.3, -0.4, 1.2, 0.11, 0.22, 0.35, 0.47];

fn formula(text: &str) -> Formula {
    let e = Expr::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    Formula::new(&e, &mut Names).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn value(text: &str) -> f64 {
    let f = formula(text);
    f.value(&X, &mut vec![f64::NAN; f.stack_len()])
}

fn refused(text: &str) -> FormulaError {
    Expr::parse(text)
        .and_then(|e| Formula::new(&e, &mut Names))
        .map_or_else(|e| e, |_| panic!("{text} was accepted"))
}

/// Everything the language has, beside the same in Rust.
fn samples() -> Vec<(&'static str, f64)> {
    let [x, y, v0, v1, v2, a0, a1, a2, a3] = X;
    let norm = (v0 * v0 + v1 * v1 + v2 * v2).sqrt();
    let softplus = |x: f64, s: f64| (s * x).exp().ln_1p() / s;
    vec![
        ("1.5e-1 + .5 - 2", 1.5e-1 + 0.5 - 2.0),
        ("-x^2", -(x * x)),
        ("2^3^2", 512.0),
        ("2^-x", 2f64.powf(-x)),
        ("x ** 3 * -y", -x * x * x * y),
        ("x - y - 1 - (y - x)", x - y - 1.0 - (y - x)),
        ("x/y/2", x / y / 2.0),
        ("x^y", x.powf(y)),
        ("(x + 1)^2.5", (x + 1.0).powf(2.5)),
        ("v.y * [x, 2, 3].z", v1 * 3.0),
        ("norm(v)", norm),
        ("dot(v, [1, 2, 3] * x) + dot(v / 2, v)", x * (v0 + 2.0 * v1 + 3.0 * v2) + norm * norm / 2.0),
        ("cross(v, [0, 0, 1]).x - cross([0, 0, 1], v).x", 2.0 * v1),
        ("(v - [x, 0, 0] + -v).x", -x),
        ("where(x < y, x, y)", x.min(y)),
        ("where(x >= y or not x == x, 1, 2)", 2.0),
        ("where(x > 0 and y != 0, v, -v).z", v2),
        ("where(x <= 0, sqrt(0 - x), x)", x),
        ("min(3, x, y) + max(x, y, 0.1)", x + y),
        ("clamp(y, 0, 1) + clamp(-x, -0.5, 2)", 0.5),
        ("abs(-x) + sign(-x) + sign(y) + sign(0)", x),
        ("smooth_abs(x, 0.1)", (x * x + 0.01).sqrt()),
        ("softplus(x - 1) + softplus(200 * y, 50)", softplus(x - 1.0, 1.0) + 200.0 * y),
        ("smooth_max(x, y, 5)", y + softplus(x - y, 5.0)),
        ("smooth_min(x, y, 5)", y - softplus(y - x, 5.0)),
        ("smooth_step(x, 2)", 0.5 * (1.0 + (2.0 * x).tanh())),
        ("log10(x) + ln(y) + exp(x)", x.log10() + y.ln() + x.exp()),
        ("hypot(3, 4) + atan2(x, y)", 5.0 + x.atan2(y)),
        ("degrees(x) - radians(180) + pi", x.to_degrees()),
        ("linear(x, [0, 1, 2], [1, 3, -1])", 1.0 + 2.0 * x),
        ("spline(x, [0, 1, 2, 3], [0, 1, 2, 3])", x),
        ("sum(a[*_r]^2)", a0 * a0 + a1 * a1),
        ("mean(a[*])", (a0 + a1 + a2 + a3) / 4.0),
        ("max(a[*]) - min(a[*_l])", a3 - a2),
        ("sum((a[*_r] - a[*_l])^2)", (a0 - a2).powi(2) + (a1 - a3).powi(2)),
        ("sum(a[*_l] * w[*_l])", 12.0 * a2 + 13.0 * a3),
        ("sum(a[one_r, *_l])", a0 + a2 + a3),
        ("sum(a[/set/one_*])", a0 + a2),
        ("sum(sum(a[*_r]) * a[*_l])", (a0 + a1) * (a2 + a3)),
        ("sum(x, y, 1) + mean(x, y)", x + y + 1.0 + (x + y) / 2.0),
        ("double + a[/set/two_l]", 2.0 * x + a3),
        ("k * x + b; k = 3 * b; b = y; ", 3.0 * y * x + y),
        ("x; x = y; x = 2", y),
        ("a * a + sin(a); a = x\n + y", (x + y).powi(2) + (x + y).sin()),
    ]
}

#[test]
fn analytic_values() {
    for (text, expected) in samples() {
        let found = value(text);
        // A few operations of numbers near one.
        assert!((found - expected).abs() < 4e-15 * (1.0 + expected.abs()), "{text}: {found} {expected}");
    }
}

#[test]
fn analytic_vectors() {
    let f = formula("cross(v, [x, 0, 0]) * 2");
    let (mut out, mut stack) = ([0.0; 3], vec![0.0; f.stack_len()]);
    assert_eq!(f.width(), 3);
    f.evaluate(&X, &mut stack, &mut out);
    assert_eq!(out, [0.0, 2.0 * X[4] * X[0], -2.0 * X[3] * X[0]]);
    assert_eq!(f.inputs(), [0, 2, 3, 4].as_slice());
}

/// What is printed reads back to the same, with the same value, and prints the same.
#[test]
fn identity_text_and_tree() {
    let more = [
        "integral(x) / (final(v.x) - initial(v.x)) + average(y)",
        "not (x < 1 or y > 2) and x == 1",
        "-(x + y) * -(x - -2) ^ (2 ^ 0.5)",
        "(x - (y - 1)) - (-y)",
        "[x, -1, y / (2 / x)]",
        // Found by scripts/fuzz: a sum in parentheses that begins another, and π in a table.
        "(x - y) + 1",
        "x - 0 + -0",
        // A component of a number.
        "(0.002).z + x",
        "x - a; a = -2",
        "a + 1; a = b - 1; b = x + y",
        "linear(x, [0, 3.141592653589793], [3.141592653589793, 1])",
    ];
    for text in samples().iter().map(|s| s.0).chain(more) {
        let e = Expr::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let printed = e.to_string();
        let again = Expr::parse(&printed).unwrap_or_else(|e| panic!("{text} → {printed}: {e}"));
        assert_eq!(e, again, "{text} → {printed}");
        assert_eq!(printed, again.to_string());
        let json = serde_json::to_string(&e).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Expr>(&json).ok().as_ref(), Some(&e), "{json}");
    }
    for (text, expected) in samples() {
        let printed = Expr::parse(text).map(|e| e.to_string()).unwrap_or_default();
        assert!((value(&printed) - expected).abs() < 4e-15 * (1.0 + expected.abs()), "{text} → {printed}");
    }
}

/// Formulas that OpenSim's expressions can say have the same bits in both.
#[test]
fn identity_with_expressions() {
    let texts = [
        "x^2*y - 3*sin(x)/cos(y)",
        "k*(x + y)^3 + m; k = 2*m; m = sqrt(y)",
        "min(x, y)*max(x, 0.3) + atan2(x, y) - erf(x)*erfc(y)",
        "exp(-x^2) + log(y) + step(x) + delta(x) + square(x) + cube(y) + recip(x)",
        "tan(x) + cot(x) + sec(x) + csc(x) + asin(x) + acos(x) + atan(x) + sinh(x) + cosh(x) + tanh(y) + abs(-y)",
    ];
    for text in texts {
        let Ok(old) = Expression::new(text, &["x", "y"]) else { panic!("{text}") };
        assert_eq!(value(text).to_bits(), old.value(&X[..2]).to_bits(), "{text}");
    }
}

/// First and second derivatives of everything, by duals and by jets, against central differences.
#[test]
fn deriv_of_everything() {
    let mut random = Random::new(7);
    for (text, _) in samples() {
        let f = formula(text);
        let direction: Vec<f64> = (0..9).map(|_| random.signed()).collect();
        let first = |x: &[f64]| {
            let z: Vec<Dual<f64, 1>> = x.iter().zip(&direction).map(|(&x, &d)| Dual::new(x, [d])).collect();
            f.value(&z, &mut vec![Dual::zero(); f.stack_len()])
        };
        type J = Jet<9, 45>;
        let jets: Vec<J> = X.iter().enumerate().map(|(i, &x)| J::variable(x, i)).collect();
        let jet = f.value(&jets, &mut vec![J::zero(); f.stack_len()]);
        let plain = value(text);
        let y = first(&X);
        assert_eq!((y.v.to_bits(), jet.v.to_bits()), (plain.to_bits(), plain.to_bits()), "{text}");
        // Differences: truncation h² and rounding ε/h are both near 1e-10 for numbers near one; slopes of softplus(200 y) are 200.
        let h = 1e-5;
        let moved = |s: f64| -> Vec<f64> { X.iter().zip(&direction).map(|(x, d)| x + s * d).collect() };
        let at = |s: f64| f.value(&moved(s), &mut vec![0.0; f.stack_len()]);
        let by_differences = (at(h) - at(-h)) / (2.0 * h);
        let slope: f64 = (0..9).map(|i| jet.g[i] * direction[i]).sum();
        let scale = 1.0 + by_differences.abs();
        assert!((y.d[0] - by_differences).abs() < 1e-8 * scale, "{text}: {} {by_differences}", y.d[0]);
        assert!((slope - y.d[0]).abs() < 1e-13 * scale, "{text}: {slope} {}", y.d[0]);
        let by_differences = (first(&moved(h)).d[0] - first(&moved(-h)).d[0]) / (2.0 * h);
        let mut second = 0.0;
        for i in 0..9 {
            for j in 0..9 {
                second += jet.second(i, j) * direction[i] * direction[j];
            }
        }
        assert!(
            (second - by_differences).abs() < 1e-7 * (1.0 + second.abs()),
            "{text}: {second} {by_differences}"
        );
    }
}

/// What is wrong is told with its line and column, and the name that was probably meant.
#[test]
fn analytic_errors_have_places() {
    let cases: &[(&str, u32, u32, &str, &str)] = &[
        ("x + duble", 1, 5, "`duble` is unknown", "the nearest name is `double`"),
        ("x +\n  a[one_x]", 2, 3, "`a[one_x]` is unknown", "the nearest name is `one_l`"),
        ("x + sqr(y)", 1, 5, "unknown function `sqr`", "the nearest name is `sqrt`"),
        ("sin(x, y)", 1, 1, "`sin` takes one argument, found 2", ""),
        ("x + ", 1, 5, "expected a number, a name or `(`, found the end", ""),
        ("x y", 1, 3, "expected an operator, found `y`", ""),
        ("(x", 1, 3, "expected `)`, found the end", ""),
        ("a[one_r", 1, 8, "expected `]`, found the end", ""),
        ("1.2.3", 1, 1, "`1.2.3` is not a number", ""),
        ("x < y", 1, 3, "a formula needs a number or a vector, found a condition", ""),
        ("x + v", 1, 5, "a sum needs another number, found a vector", ""),
        (
            "v * v",
            1,
            5,
            "`*` after a vector needs a number (or write dot(a, b), cross(a, b)), found a vector",
            "",
        ),
        ("x.y", 1, 1, "`.y` needs a vector, found a number", ""),
        ("v.w", 1, 3, "expected a component `.x`, `.y` or `.z`, found `w`", ""),
        (
            "where(x, 1, 2)",
            1,
            7,
            "the first argument of `where` needs a condition such as `a < b`, found a number",
            "",
        ),
        (
            "a[*_r]",
            1,
            1,
            "the pattern `a[*_r]` matches several quantities; use it inside sum(…), mean(…), min(…) or max(…)",
            "",
        ),
        ("sum(a[*_x])", 1, 5, "nothing matches the pattern `a[*_x]`", ""),
        (
            "sum(a[*_r] * a[*_*])",
            1,
            14,
            "the patterns `a[*_r]` and `a[*_*]` cannot be used in the same sum",
            "",
        ),
        ("sum(x)", 1, 1, "`sum` with one argument needs a pattern such as `activation[*]`", ""),
        (
            "integral(x)",
            1,
            1,
            "`integral(…)` is allowed in goals only, not in formulas evaluated at one point in time",
            "",
        ),
        ("x; 2 = y", 1, 4, "expected a definition `name = …`, found `2`", ""),
        ("x; k y", 1, 6, "expected a definition `name = …`, found `y`", ""),
        ("0 < x < 1", 1, 7, "expected `and` between comparisons, found `<`", ""),
        (
            "linear(x, [0, 0.5, 0.2], [1, 2, 3])",
            1,
            1,
            "PiecewiseLinearFunction: x must increase, but x[2] = 0.2 follows 0.5",
            "",
        ),
        ("[x, y]", 1, 1, "`[…]` takes three numbers, found 2", ""),
    ];
    for (text, line, column, message, hint) in cases {
        let e = refused(text);
        assert_eq!(e.place, Place { line: *line, column: *column }, "{text}: {e}");
        assert_eq!((e.problem.to_string().as_str(), e.hint().as_str()), (*message, *hint), "{text}");
    }
    assert_eq!(
        refused("x +\n y y").to_string(),
        "line 2, column 4 of the formula: expected an operator, found `y`"
    );
    assert!(matches!(refused("itself").problem, FormulaProblem::TooBig(_)));
}

/// What a program builds is what is read, and what is used twice is computed and printed once.
#[test]
fn identity_built_and_read() {
    let x = Expr::input("x");
    let shared = x.clone() * 3.0 + 1.0;
    let e = shared.clone() * shared.clone()
        - Expr::choose(x.clone().binary(soleus_math::formula::Operator::Less, 0.5), shared, x);
    assert_eq!(e.to_string(), "part1 * part1 - where(x < 0.5, part1, x); part1 = x * 3 + 1");
    let value = {
        let f = Formula::new(&e, &mut Names).unwrap_or_else(|e| panic!("{e}"));
        f.value(&X, &mut vec![0.0; f.stack_len()])
    };
    let y = X[0] * 3.0 + 1.0;
    assert_eq!(value, y * y - X[0]);
    // Doubled sixty times: a tree would have 2⁶⁰ parts.
    let mut e = Expr::input("x");
    for _ in 0..60 {
        e = e.clone() * 0.5 + e * 0.5;
    }
    let f = Formula::new(&e, &mut Names).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(f.value(&X, &mut vec![0.0; f.stack_len()]), X[0]);
    let again = Expr::parse(&e.to_string()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.to_string(), e.to_string());
}

/// Sums of a loop do not nest, and nonsense of any length is refused without a crash.
#[test]
fn analytic_long_formulas() {
    let mut e = Expr::number(0.0);
    for i in 0..5000 {
        e = e + Expr::input("x") * f64::from(i);
    }
    let f = Formula::new(&e, &mut Names).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(f.stack_len(), 3);
    let found = f.value(&X, &mut vec![0.0; f.stack_len()]);
    assert!((found - 0.7 * 12_497_500.0).abs() < 1e-6, "{found}");
    // A chain that a program built: freed, printed and refused, whatever its length.
    let mut chain = Expr::input("x");
    for _ in 0..100_000 {
        chain = chain * 0.5;
    }
    assert!(Formula::new(&chain, &mut Names).is_err());
    assert!(chain.to_string().len() > 100_000);
    assert!(Expr::parse(&("v".to_string() + &".x".repeat(50_000))).is_err());
    for piece in ["(", "-", "x*", "x^", "not ", "[", "sum(", "x+(", "a[", "where("] {
        let text = piece.repeat(50_000) + "x";
        assert!(Expr::parse(&text).is_err(), "{piece}");
    }
    assert!(Expr::parse(&("x+".repeat(50_000) + "x")).is_ok());
}

/// The deepest formulas that are read are also printed and made ready on the smallest stack that threads have.
#[test]
fn analytic_deep_formulas_fit_the_stack() {
    for (open, close) in [
        ("x*", ""),
        ("x/", ""),
        ("-(", ")"),
        ("sin(", ")"),
        ("x^", ""),
        ("where(x<1,1,", ")"),
        ("[1,2,", "].x"),
        ("max(x,", ")"),
    ] {
        let deepest =
            (1..300).rev().find(|&n| Expr::parse(&(open.repeat(n) + "x" + &close.repeat(n))).is_ok());
        let n = deepest.unwrap_or_else(|| panic!("{open}"));
        let text = open.repeat(n) + "x" + &close.repeat(n);
        let work = move || {
            let e = Expr::parse(&text).unwrap_or_else(|e| panic!("{e}"));
            let again = Expr::parse(&e.to_string()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(again, e);
            let f = Formula::new(&e, &mut Names).unwrap_or_else(|e| panic!("{e}"));
            assert!(f.stack_len() > 0);
        };
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
        let done = thread.map(std::thread::JoinHandle::join);
        assert!(matches!(done, Ok(Ok(()))), "{open} {n}");
    }
}

/// Definitions make expressions deeper than the parser takes in one piece; their text is read all the same.
#[test]
fn identity_deep_definitions() {
    let level = |inner: &str| "sin(x - (1 - ".repeat(6) + inner + &"))".repeat(6);
    let mut text = level("a0");
    for k in 0..4 {
        text += &format!("; a{k} = {}", level(&if k < 3 { format!("a{}", k + 1) } else { "y".to_string() }));
    }
    let e = Expr::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let again = Expr::parse(&e.to_string()).unwrap_or_else(|error| panic!("{e}: {error}"));
    assert_eq!(again, e);
    assert_eq!(value(&e.to_string()).to_bits(), value(&text).to_bits());
}
