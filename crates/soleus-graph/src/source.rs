//! Source code of a program: C, or CUDA C, without dependencies.

use crate::graph::{Node, Op};
use crate::program::Program;
use std::fmt::Write;

/// A language to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C99.
    C,
    /// CUDA C: one copy per thread.
    Cuda,
}

/// Operations of one function. One long function takes compilers minutes; functions of this size a few seconds in all, and what lives longer
/// than one of them goes through an array.
const OPERATIONS_OF_A_FUNCTION: usize = 400;

/// Writes a program as a function `name`. Input i of copy k is at `x[i * n + k]`, output i at `y[i * n + k]`.
///
/// In C `name(x, y, n, k)` computes copy k; in CUDA the kernel `name(x, y, n)` computes all of them.
pub fn write(program: &Program, name: &str, language: Language, single: bool) -> String {
    let real = if single { "float" } else { "double" };
    let cuda = language == Language::Cuda;
    let mut s = String::new();
    let head = if cuda { "static __device__ __noinline__" } else { "static" };
    let table_head = if cuda { "static __device__ const" } else { "static const" };
    let _ = writeln!(s, "/* Written by Soleus. Inputs x[i * n + k], outputs y[i * n + k] of copy k of n. */");
    if !cuda {
        let _ = writeln!(s, "#include <math.h>");
    }
    let _ = writeln!(s, "typedef {real} {name}_real;\n#define T {name}_real");
    let f = if single && !cuda { "f" } else { "" };
    let plain = [
        ("SQRT", "sqrt"),
        ("SIN", "sin"),
        ("COS", "cos"),
        ("TAN", "tan"),
        ("ASIN", "asin"),
        ("ACOS", "acos"),
        ("ATAN", "atan"),
        ("EXP", "exp"),
        ("LN", "log"),
        ("SINH", "sinh"),
        ("COSH", "cosh"),
        ("TANH", "tanh"),
        ("ABS", "fabs"),
    ];
    // In double precision a device computes functions in some hundred instructions each: calls keep compile times down.
    for (macro_name, function) in plain {
        if cuda && !single && !matches!(function, "sqrt" | "fabs") {
            let _ = writeln!(
                s,
                "static __device__ __noinline__ T {name}_{function}(T a) {{ return {function}(a); }}"
            );
            let _ = writeln!(s, "#define {macro_name}(a) {name}_{function}(a)");
        } else {
            let _ = writeln!(s, "#define {macro_name}(a) {function}{f}(a)");
        }
    }
    if cuda && !single {
        let _ = writeln!(
            s,
            "static __device__ __noinline__ T {name}_div(T a, T b) {{ return a / b; }}\n#define DIV(a, b) {name}_div(a, b)"
        );
    } else {
        s.push_str("#define DIV(a, b) ((a) / (b))\n");
    }
    let _ = writeln!(s, "#define ATAN2(a, b) atan2{f}(a, b)\n#define POW(a, b) pow{f}(a, b)");
    let small_head = if cuda { "static __device__ __forceinline__" } else { "static inline" };
    let _ = writeln!(
        s,
        "{small_head} T {name}_rank(const T *b, int m, T x) {{\n  int lo = 0, hi = m;\n  while (lo < hi) {{ int k = (lo + hi) / 2; if (x > b[k]) lo = k + 1; else hi = k; }}\n  return (T)lo;\n}}\n{small_head} int {name}_row(T x, int last) {{\n  int k = (int)x;\n  return k < 0 ? 0 : k > last ? last : k;\n}}"
    );
    let used: Vec<bool> = {
        let mut used = vec![false; program.tables.len()];
        let looks = program.nodes.iter().filter(|n| matches!(n.op, Op::Rank | Op::Cell));
        looks.for_each(|n| used[n.b as usize] = true);
        used
    };
    for (i, t) in program.tables.iter().enumerate().filter(|(i, _)| used[*i]) {
        let values: Vec<String> = t.values.iter().map(|v| literal(*v)).collect();
        let _ = writeln!(s, "{table_head} T {name}_t{i}[{}] = {{{}}};", t.values.len(), values.join(","));
    }
    let plan = Plan::new(program);
    for (number, range) in plan.functions.iter().enumerate() {
        let _ = writeln!(s, "{head} void {name}_{number}(const T *x, T *y, T *w, long n, long k) {{");
        body(&mut s, program, &plan, number, range.clone(), name);
        s.push_str("}\n");
    }
    if cuda {
        let _ = writeln!(
            s,
            "extern \"C\" __global__ void __launch_bounds__(128) {name}(const T *x, T *y, long n) {{\n  long k = (long)blockIdx.x * blockDim.x + threadIdx.x;\n  if (k >= n) return;"
        );
    } else {
        let _ = writeln!(s, "void {name}(const T *x, T *y, long n, long k) {{");
    }
    let _ = writeln!(s, "  T w[{}];", plan.room.max(1));
    for number in 0..plan.functions.len() {
        let _ = writeln!(s, "  {name}_{number}(x, y, w, n, k);");
    }
    s.push_str("}\n#undef T\n#undef DIV\n#undef ATAN2\n#undef POW\n");
    for (macro_name, _) in plain {
        let _ = writeln!(s, "#undef {macro_name}");
    }
    s
}

/// Which function computes what, and where values wait that a later function needs.
struct Plan {
    functions: Vec<std::ops::Range<usize>>,
    function_of: Vec<u32>,
    place: Vec<u32>,
    room: usize,
}

impl Plan {
    fn new(p: &Program) -> Plan {
        let count = p.nodes.len();
        let (mut functions, mut function_of) = (Vec::new(), vec![u32::MAX; count]);
        let (mut begin, mut inside) = (0, 0);
        for (i, n) in p.nodes.iter().enumerate() {
            if n.op.arity() > 0 {
                function_of[i] = functions.len() as u32;
                inside += 1;
            }
            if inside == OPERATIONS_OF_A_FUNCTION || i + 1 == count {
                functions.push(begin..i + 1);
                (begin, inside) = (i + 1, 0);
            }
        }
        // The last function that needs each value.
        let mut last = function_of.clone();
        for (i, n) in p.nodes.iter().enumerate().filter(|(_, n)| n.op.arity() > 0) {
            for a in n.operands().filter(|a| function_of[*a as usize] != u32::MAX) {
                last[a as usize] = last[a as usize].max(function_of[i]);
            }
        }
        let (mut place, mut free, mut room) = (vec![u32::MAX; count], Vec::new(), 0);
        let mut ending: Vec<Vec<u32>> = vec![Vec::new(); functions.len() + 1];
        let mut at = 0;
        for i in (0..count).filter(|&i| function_of[i] != u32::MAX) {
            while at < function_of[i] as usize {
                free.append(&mut ending[at]);
                at += 1;
            }
            if last[i] > function_of[i] {
                let w = free.pop().unwrap_or_else(|| {
                    room += 1;
                    room as u32 - 1
                });
                place[i] = w;
                ending[last[i] as usize].push(w);
            }
        }
        Plan { functions, function_of, place, room }
    }
}

fn literal(x: f64) -> String {
    if x == f64::INFINITY {
        "((T)INFINITY)".into()
    } else if x == f64::NEG_INFINITY {
        "((T)-INFINITY)".into()
    } else if x.is_nan() {
        "((T)NAN)".into()
    } else {
        format!("((T){x:?})")
    }
}

fn body(s: &mut String, p: &Program, plan: &Plan, number: usize, range: std::ops::Range<usize>, of: &str) {
    let here = |i: u32| plan.function_of[i as usize] == number as u32;
    let name = |i: u32| match p.nodes[i as usize].constant() {
        Some(x) => literal(x),
        None => format!("v{i}"),
    };
    // What comes from elsewhere.
    let mut from: Vec<u32> = range
        .clone()
        .filter(|&i| p.nodes[i].op.arity() > 0)
        .flat_map(|i| p.nodes[i].operands())
        .filter(|&a| !here(a) && p.nodes[a as usize].op != Op::Const)
        .collect();
    let mine = |o: u32| if p.nodes[o as usize].op.arity() > 0 { here(o) } else { number == 0 };
    from.extend(p.outputs.iter().filter(|&&o| mine(o) && p.nodes[o as usize].op == Op::Input));
    from.sort_unstable();
    from.dedup();
    for a in from {
        let n = &p.nodes[a as usize];
        let _ = match n.op {
            Op::Input => writeln!(s, "T v{a}=x[{}L*n+k];", n.a),
            _ => writeln!(s, "T v{a}=w[{}];", plan.place[a as usize]),
        };
    }
    for i in range.clone().filter(|&i| p.nodes[i].op.arity() > 0) {
        let _ = writeln!(s, "T v{i}={};", expression(p, &p.nodes[i], &name, of));
        if plan.place[i] != u32::MAX {
            let _ = writeln!(s, "w[{}]=v{i};", plan.place[i]);
        }
    }
    for (k, &o) in p.outputs.iter().enumerate().filter(|(_, o)| mine(**o)) {
        let _ = writeln!(s, "y[{k}L*n+k]={};", name(o));
    }
}

fn expression(p: &Program, n: &Node, name: &dyn Fn(u32) -> String, of: &str) -> String {
    let (a, b) = (|| name(n.a), || name(n.b));
    let call = |f: &str| format!("{f}({})", name(n.a));
    match n.op {
        Op::Const | Op::Input => String::new(),
        Op::Add => format!("{}+{}", a(), b()),
        Op::Sub => format!("{}-{}", a(), b()),
        Op::Mul => format!("{}*{}", a(), b()),
        Op::Mask => format!("{0}==0?0:{0}*{1}", a(), b()),
        Op::Div => format!("DIV({},{})", a(), b()),
        Op::Neg => format!("-{}", a()),
        Op::Min => format!("{1}<{0}?{1}:{0}", a(), b()),
        Op::Max => format!("{1}>{0}?{1}:{0}", a(), b()),
        Op::Less => format!("{}<{}?(T)1:(T)0", a(), b()),
        Op::LessEqual => format!("{}<={}?(T)1:(T)0", a(), b()),
        Op::Select => format!("{}!=0?{}:{}", a(), b(), name(n.c)),
        Op::Held => a(),
        Op::Atan2 => format!("ATAN2({},{})", a(), b()),
        Op::Pow => format!("POW({},{})", a(), b()),
        Op::Rank => format!("{of}_rank({of}_t{},{},{})", n.b, p.tables[n.b as usize].values.len(), a()),
        Op::Cell => {
            let t = &p.tables[n.b as usize];
            format!("{of}_t{}[{of}_row({},{})*{}+{}]", n.b, a(), t.values.len() / t.width - 1, t.width, n.c)
        }
        Op::Sqrt => call("SQRT"),
        Op::Sin => call("SIN"),
        Op::Cos => call("COS"),
        Op::Tan => call("TAN"),
        Op::Asin => call("ASIN"),
        Op::Acos => call("ACOS"),
        Op::Atan => call("ATAN"),
        Op::Exp => call("EXP"),
        Op::Ln => call("LN"),
        Op::Sinh => call("SINH"),
        Op::Cosh => call("COSH"),
        Op::Tanh => call("TANH"),
        Op::Abs => call("ABS"),
    }
}
