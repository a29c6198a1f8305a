//! Source code of a program: C, or CUDA C, without dependencies.
//!
//! Operations that are the same for many muscles, paths or bodies become one function over tables of numbers and slots
//! ([`Structured`]), so the code is short, compiles in seconds, and fits in the instruction cache.

use crate::graph::{NONE, Op};
use crate::program::Program;
use crate::structure::{Found, Operand, Structured, Template, TemplateNode};
use std::fmt::Write;

/// Programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C99.
    C,
    /// CUDA C: one copy per thread.
    Cuda,
}

/// Reverse sweeps compute parts of up to so many operations again.
const OPERATIONS_TO_COMPUTE_AGAIN: usize = 900;

/// Bytes that the tables of all kernels of a module may have to be in the constant memory of a device, which has 64 KiB.
const BYTES_OF_CONSTANT_MEMORY: usize = 60_000;

/// Copies that a device computes together.
pub const COPIES_OF_A_BLOCK: usize = 128;

/// Blocks that a multiprocessor computes at once: fewer registers for each copy, and more copies that wait for the memory in turn.
/// On an H200 evaluations in double precision are a fifth faster than with all the registers that the compiler asks for.
const BLOCKS_OF_A_MULTIPROCESSOR: usize = 4;

/// Single-precision values of a copy that wait in shared memory: with so many, these blocks share the 227 KiB of a multiprocessor.
/// Evaluations and steps are an eighth faster on an H200; in double precision it gains nothing.
const FAST_PLACES: usize = 108;

/// Programs with more operations (gradients of large models) leave shared memory alone, which takes the compiler half as long again, and
/// all registers to copies in double precision.
const OPERATIONS_OF_A_LARGE_PROGRAM: usize = 80_000;

/// Operations between which values from elsewhere are read and results are kept: reads of a chunk come first, so that they overlap.
const OPERATIONS_OF_A_CHUNK: usize = 24;

/// Writes a program as a function `name`. Input i of copy k is at `x[i * n + k]`, output i at `y[i * n + k]`.
///
/// In C `name(x, y, n, k)` computes copy k; in CUDA the kernel `name(x, y, n)` computes all of them.
pub fn write(program: &Program, name: &str, language: Language, single: bool) -> String {
    write_beside(program, name, language, single, 1)
}

/// The same in CUDA for [`Device`](crate::cuda::Device), in blocks of [`COPIES_OF_A_BLOCK`] with as many bytes of shared memory as the
/// constant `name_shared` says.
pub fn write_for_device(program: &Program, name: &str, single: bool) -> String {
    let fast = if single && program.operations() <= OPERATIONS_OF_A_LARGE_PROGRAM { FAST_PLACES } else { 0 };
    write_with(program, name, Language::Cuda, single, 1, Some(fast))
}

/// The same as [`write()`] for one of several programs in one file.
pub fn write_beside(
    program: &Program,
    name: &str,
    language: Language,
    single: bool,
    programs: usize,
) -> String {
    write_with(program, name, language, single, programs, None)
}

/// With so many fast places for the device of this library.
fn write_with(
    program: &Program,
    name: &str,
    language: Language,
    single: bool,
    programs: usize,
    fast: Option<usize>,
) -> String {
    let real = if single { "float" } else { "double" };
    let cuda = language == Language::Cuda;
    let mut s = String::new();
    let head = if cuda { "static __device__ __noinline__" } else { "static" };
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
    let again = program.recomputed(OPERATIONS_TO_COMPUTE_AGAIN);
    let structured = Structured::with_fast_places(&again, fast.unwrap_or(0));
    if fast.is_some() {
        let bytes = structured.fast * COPIES_OF_A_BLOCK * if single { 4 } else { 8 };
        let _ = writeln!(
            s,
            "extern __shared__ T {name}_f[];\n#define F(i) {name}_f[(i)*{COPIES_OF_A_BLOCK}+threadIdx.x]\nextern \"C\" __device__ const int {name}_shared = {bytes};"
        );
    }
    let used: Vec<bool> = {
        let mut used = vec![false; program.tables.len()];
        let looks = program.nodes.iter().filter(|n| matches!(n.op, Op::Rank | Op::Cell));
        looks.for_each(|n| used[n.b as usize] = true);
        used
    };
    // Constant memory of a device is fastest where all copies read the same number, and small.
    let looked_up = program.tables.iter().zip(&used).filter(|(_, used)| **used).map(|(t, _)| t.values.len());
    let loops = structured.templates.iter().filter(|t| t.instances > 1);
    let (numbers, slots) = loops.fold((looked_up.sum::<usize>(), structured.outputs.len()), |(n, s), t| {
        (n + t.numbers.len(), s + t.slots.len())
    });
    let bytes = numbers * if single { 4 } else { 8 } + slots * 4;
    let table_head = match cuda {
        false => "static const",
        true if bytes <= BYTES_OF_CONSTANT_MEMORY / programs => "static __constant__ const",
        true => "static __device__ const",
    };
    for (i, t) in program.tables.iter().enumerate().filter(|(i, _)| used[*i]) {
        let values: Vec<String> = t.values.iter().map(|v| literal(*v)).collect();
        let _ = writeln!(s, "{table_head} T {name}_t{i}[{}] = {{{}}};", t.values.len(), values.join(","));
    }
    for (t, template) in structured.templates.iter().enumerate() {
        if template.instances > 1 {
            let text = |list: &mut dyn Iterator<Item = String>| list.collect::<Vec<_>>().join(",");
            if template.columns > 0 {
                let numbers = text(&mut template.numbers.iter().map(|v| literal(*v)));
                let _ =
                    writeln!(s, "{table_head} T {name}_c{t}[{}] = {{{numbers}}};", template.numbers.len());
            }
            let slots = text(&mut template.slots.iter().map(u32::to_string));
            let _ = writeln!(s, "{table_head} int {name}_s{t}[{}] = {{{slots}}};", template.slots.len());
        }
        let arguments = if template.instances > 1 { ", int i, int end" } else { "" };
        let _ = writeln!(s, "{head} void {name}_{t}(const T *x, T *w, long n, long k{arguments}) {{");
        if template.instances > 1 {
            s.push_str("for (; i < end; i++) {\n");
            if template.columns > 0 {
                let _ = writeln!(s, "const T *c={name}_c{t}+i*{};", template.columns);
            }
            let _ = writeln!(s, "const int *s={name}_s{t}+i*{};", template.width);
        }
        body(&mut s, &structured, template, name);
        s.push_str(if template.instances > 1 { "}\n}\n" } else { "}\n" });
    }
    // Outputs, last.
    let width = structured.outputs.len();
    let slot = |o: &Found| match *o {
        Found::Place(k) => k.to_string(),
        Found::Input(_) | Found::Number(_) => "-1".into(),
    };
    let slots: Vec<String> = structured.outputs.iter().map(slot).collect();
    let _ = writeln!(s, "{table_head} int {name}_y[{}] = {{{}}};", width.max(1), slots.join(","));
    if cuda {
        let blocks = match single || program.operations() <= OPERATIONS_OF_A_LARGE_PROGRAM {
            true => BLOCKS_OF_A_MULTIPROCESSOR,
            false => 1,
        };
        let _ = writeln!(
            s,
            "extern \"C\" __global__ void __launch_bounds__({COPIES_OF_A_BLOCK}, {blocks}) {name}(const T *x, T *y, long n) {{\n  T w[{}];\n  for (long k = (long)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) {{",
            (structured.room - structured.fast).max(1)
        );
    } else {
        let _ = writeln!(
            s,
            "void {name}(const T *x, T *y, long n, long k) {{\n  T w[{}];",
            structured.room.max(1)
        );
    }
    for (t, range) in &structured.schedule {
        if structured.templates[*t].instances > 1 {
            let _ = writeln!(s, "  {name}_{t}(x, w, n, k, {}, {});", range.start, range.end);
        } else {
            let _ = writeln!(s, "  {name}_{t}(x, w, n, k);");
        }
    }
    let fast = structured.fast;
    let from = match fast {
        0 => format!("w[{name}_y[i]]"),
        _ => format!("{name}_y[i] < {fast} ? F({name}_y[i]) : w[{name}_y[i]-{fast}]"),
    };
    let _ = writeln!(s, "  for (int i = 0; i < {width}; i++) if ({name}_y[i] >= 0) y[i*n+k] = {from};");
    for (i, o) in structured.outputs.iter().enumerate() {
        let _ = match *o {
            Found::Place(_) => Ok(()),
            Found::Input(a) => writeln!(s, "  y[{i}L*n+k] = x[{a}L*n+k];"),
            Found::Number(v) => writeln!(s, "  y[{i}L*n+k] = {};", literal(v)),
        };
    }
    if cuda {
        s.push_str("  }\n");
    }
    s.push_str("}\n#undef T\n#undef F\n#undef DIV\n#undef ATAN2\n#undef POW\n");
    for (macro_name, _) in plain {
        let _ = writeln!(s, "#undef {macro_name}");
    }
    s
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

/// The operations of a template. Slots and numbers of the only instance are written out; those of several come from tables.
fn body(s: &mut String, structured: &Structured, t: &Template, of: &str) {
    let slot = |k: u32| match t.instances {
        1 => t.slots[k as usize].to_string(),
        _ => format!("s[{k}]"),
    };
    let name = |o: Operand| match o {
        Operand::No => String::new(),
        Operand::Local(k) => format!("v{k}"),
        Operand::Number(x) => literal(x),
        Operand::Column(k) => format!("c[{k}]"),
        Operand::Input(k) | Operand::Place(k) => format!("e{k}"),
    };
    // Scratch memory; a column is fast for all instances or for none.
    let place = |k: u32| match (t.instances, t.slots[k as usize] as usize) {
        (_, at) if at < structured.fast => format!("F({})", slot(k)),
        (1, at) => format!("w[{}]", at - structured.fast),
        _ if structured.fast == 0 => format!("w[s[{k}]]"),
        _ => format!("w[s[{k}]-{}]", structured.fast),
    };
    let mut read = vec![false; t.width];
    let chunks = t.nodes.chunks(OPERATIONS_OF_A_CHUNK).enumerate();
    for (first, chunk) in chunks.map(|(i, c)| (i * OPERATIONS_OF_A_CHUNK, c)) {
        for operand in chunk.iter().flat_map(|n| n.operands) {
            let (Operand::Input(k) | Operand::Place(k)) = operand else { continue };
            if std::mem::replace(&mut read[k as usize], true) {
                continue;
            }
            let _ = match operand {
                Operand::Input(_) => writeln!(s, "T e{k}=x[(long){}*n+k];", slot(k)),
                _ => writeln!(s, "T e{k}={};", place(k)),
            };
        }
        for (i, n) in chunk.iter().enumerate() {
            let _ = writeln!(s, "T v{}={};", first + i, expression(structured, n, &name, of));
        }
        for (i, n) in chunk.iter().enumerate().filter(|(_, n)| n.kept != NONE) {
            let _ = writeln!(s, "{}=v{};", place(n.kept), first + i);
        }
    }
}

fn expression(p: &Structured, n: &TemplateNode, name: &dyn Fn(Operand) -> String, of: &str) -> String {
    let [a, b, c] = n.operands.map(|o| move || name(o));
    let call = |f: &str| format!("{f}({})", a());
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
        Op::Select => format!("{}!=0?{}:{}", a(), b(), c()),
        Op::Held => a(),
        Op::Atan2 => format!("ATAN2({},{})", a(), b()),
        Op::Pow => format!("POW({},{})", a(), b()),
        Op::Rank => {
            format!("{of}_rank({of}_t{},{},{})", n.table, p.tables[n.table as usize].values.len(), a())
        }
        Op::Cell => {
            let t = &p.tables[n.table as usize];
            format!(
                "{of}_t{}[{of}_row({},{})*{}+{}]",
                n.table,
                a(),
                t.values.len() / t.width - 1,
                t.width,
                n.column
            )
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
