//! Batches on a CUDA device: `device prepare MODEL FOLDER` records a model and writes its programs and reference points, `device run FOLDER [NVRTC]`
//! compiles and measures them. The two may run on two machines: the second needs a driver and NVRTC, and neither Rust nor the model.

use soleus_batch::cuda::{Compile, Device, Kernel, KernelStore, Memory};
use soleus_batch::{DeviceBatch, DevicePrograms, Evaluation, ImplicitEvaluation, Layout, Step};
use soleus_dynamics::System;
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_graph::lanes::Lanes;
use soleus_graph::{Program, Structured, source};
use soleus_math::Random;
use soleus_model::operator::ModelOperator;
use soleus_model::path::Path as ModelPath;
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["prepare", model, folder] => prepare(model, Path::new(folder)),
        ["run", folder] => measure(Path::new(folder), None),
        ["run", folder, library] => measure(Path::new(folder), Some(library)),
        ["compile", folder, library] => compile_only(Path::new(folder), library),
        _ => Err(
            "usage: device prepare MODEL FOLDER | device run FOLDER [NVRTC] | device compile FOLDER NVRTC"
                .into(),
        ),
    }
}

/// Numbers beyond this say that a muscle is at a singularity.
const SINGULAR: f64 = 1e9;

/// States that references are computed for.
const POINTS: usize = 64;

/// The programs that are measured.
const PROGRAMS: [&str; 5] = ["implicit", "evaluate", "step", "implicit_gradient", "gradient"];

fn prepare(file: &str, folder: &Path) -> Fallible<()> {
    std::fs::create_dir_all(folder)?;
    let (model, _) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let mut model = model.ok_or("not a model")?;
    // Elastic tendons with closed forms, whatever the file has.
    if let Err(e) = ModelOperator::ReplaceMusclesWithDeGrooteFregly2016.change(&mut model) {
        println!("muscles as they are: {e}");
    }
    let system = System::compile(&model)?;
    if model.forces.iter().any(|f| matches!(f.line_of_action, Some(ModelPath::Geometry(_)))) {
        let options = FitOptions { max_order: 5, ..FitOptions::default() };
        let fitted = fit_paths(&model, &system, &options, &mut |_, _| true);
        let good = fitted.iter().filter(|f| f.converged).count();
        println!("{} paths fitted, {good} within tolerance", fitted.len());
        for f in fitted {
            model.forces[f.force].line_of_action = Some(ModelPath::FunctionBased(f.path));
        }
    }
    let system = System::compile(&model)?;
    let start = Instant::now();
    let evaluation = Evaluation::record(&model, &system)?;
    let implicit = ImplicitEvaluation::record(&model, &system)?;
    println!("recorded in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let layout = &evaluation.layout;
    let weighted = |x: &Vec<f64>, outputs: usize| -> Vec<f64> {
        x.iter().copied().chain((0..outputs).map(|i| f64::from((i as f64).cos() as f32))).collect()
    };
    let states = Evaluation::random_states(&model, &system, POINTS, 5);
    // Accelerations and residuals by the engine itself.
    let mut ws = system.workspace::<f64>();
    let (program, n) = (evaluation.program(), layout.u.len());
    let engine: Vec<Vec<f64>> = states
        .iter()
        .map(|x| {
            let (s, e) = layout.state(x);
            let moved = system.compute_motion(&s, &e, &mut ws).is_ok();
            let y = ws.udot.iter().chain(&ws.zdot).map(|v| if moved { *v } else { f64::NAN });
            y.chain([0.0]).collect()
        })
        .collect();
    write(folder, "evaluate", &program, n, &states, Some(&engine))?;
    let inputs = implicit.random_inputs(&model, &system, POINTS, 5);
    let form = ImplicitSystem::new(&system);
    let engine: Vec<Vec<f64>> = inputs.iter().map(|x| implicit.residual(&form, x, &mut ws)).collect();
    write(folder, "implicit", &implicit.program(), n, &inputs, Some(&engine))?;
    // Gradients by the engine with dual numbers; steps by the reference interpreter, which tests compare with the engine.
    let x: Vec<Vec<f64>> = inputs.iter().map(|x| weighted(x, implicit.residuals.len())).collect();
    let engine: Vec<Vec<f64>> = x
        .iter()
        .map(|x| implicit.engine_gradient(&system, &x[..implicit.inputs.len()], &x[implicit.inputs.len()..]))
        .map(|g| g.unwrap_or_else(|| vec![f64::NAN; implicit.inputs.len()]))
        .collect();
    write(folder, "implicit_gradient", &implicit.gradient_program(), n, &x, Some(&engine))?;
    let x: Vec<Vec<f64>> = states.iter().map(|x| weighted(x, layout.outputs())).collect();
    let engine: Vec<Vec<f64>> = x
        .iter()
        .map(|x| evaluation.engine_gradient(&system, &x[..layout.inputs()], &x[layout.inputs()..]))
        .map(|g| g.unwrap_or_else(|| vec![f64::NAN; layout.inputs()]))
        .collect();
    write(folder, "gradient", &evaluation.gradient_program(), n, &x, Some(&engine))?;
    let h = f64::from(0.002f32);
    let with_h: Vec<Vec<f64>> = states.iter().map(|x| x.iter().copied().chain([h]).collect()).collect();
    let step = evaluation.step_program(&system, Step::LinearlyImplicit);
    write(folder, "step", &step, 2 * n, &with_h, None)?;
    // Where steps begin: the default pose, lifted or lowered until its feet just leave the ground, muscles in balance.
    let mut d = system.default_state.clone();
    let controls = vec![0.05; layout.e.len()];
    for (name, z) in system.aux_names.iter().zip(&mut d.z) {
        if name.ends_with("/activation") {
            *z = 0.05;
        }
    }
    let failed = system.solve_equilibrium(&mut d, &controls, &mut ws).len();
    println!("{failed} muscles are without balance at the start");
    let height = model.coordinates.iter().position(|c| c.name == "pelvis_ty");
    if let Some(m) = height.map(|c| system.tree.mobility_of_coordinate[c]) {
        let falls = |q: f64, ws: &mut soleus_dynamics::Workspace<f64>| {
            let mut x = d.clone();
            x.q[m] = q;
            system.compute_motion(&x, &controls, ws).is_ok() && ws.udot[m] < 0.0
        };
        let heights: Vec<f64> = (0..400).map(|k| 2.0 - 0.005 * f64::from(k)).collect();
        let standing = heights.into_iter().take_while(|q| falls(*q, &mut ws)).last();
        d.q[m] = standing.unwrap_or(d.q[m]);
        println!("steps begin with the pelvis at {:.3} m", d.q[m]);
    }
    let mut start: Vec<f64> = vec![n as f64, layout.z.len() as f64, layout.e.len() as f64];
    start.extend(d.q.iter().chain(&d.u).chain(&d.z));
    start.extend(&controls);
    start.push(d.time);
    // On this CPU first.
    let lanes = Lanes::new(step.clone(), false);
    let copies = 8;
    let mut x: Vec<f64> =
        start[3..].iter().chain([&h]).flat_map(|&v| std::iter::repeat_n(v, copies)).collect();
    let mut random = Random::new(7);
    x[..2 * n * copies].iter_mut().for_each(|v| *v += 0.01 * random.normal());
    let mut y = vec![0.0; lanes.outputs() * copies];
    let alive = (1..=5000).take_while(|_| {
        lanes.run(&x, &mut y, copies, 1);
        x[..layout.z.end * copies].copy_from_slice(&y[..layout.z.end * copies]);
        y.iter().all(|y| y.abs() < 1e6)
    });
    println!("{} steps of 2 ms of {copies} copies stay finite on this CPU", alive.count());
    Ok(std::fs::write(folder.join("start"), bytes(&start))?)
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn numbers(file: &Path) -> Fallible<Vec<f64>> {
    let bytes = std::fs::read(file)?;
    Ok(bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect())
}

/// A program and points: how many inputs, outputs, outputs of the first kind; then inputs and outputs of each point.
fn write(
    folder: &Path,
    name: &str,
    p: &Program,
    split: usize,
    inputs: &[Vec<f64>],
    outputs: Option<&[Vec<f64>]>,
) -> Fallible<()> {
    let mut list = vec![p.inputs as f64, p.outputs.len() as f64, split as f64];
    for (k, x) in inputs.iter().enumerate() {
        list.extend(x);
        match outputs {
            Some(y) => list.extend(&y[k]),
            None => list.extend(p.evaluate(x)),
        }
    }
    std::fs::write(folder.join(format!("{name}.points")), bytes(&list))?;
    Ok(std::fs::write(folder.join(format!("{name}.program")), p.to_bytes())?)
}

/// Binaries as files of a folder.
struct Folder(PathBuf);

impl KernelStore for Folder {
    fn read(&self, digest: &str) -> Option<Vec<u8>> {
        std::fs::read(self.0.join(digest)).ok()
    }
    fn write(&mut self, digest: &str, binary: &[u8]) {
        let _ = std::fs::create_dir_all(&self.0);
        let _ = std::fs::write(self.0.join(digest), binary);
    }
}

fn read_program(folder: &Path, name: &str) -> Fallible<Program> {
    let bytes = std::fs::read(folder.join(format!("{name}.program")))?;
    Program::from_bytes(&bytes).ok_or_else(|| format!("{name}: not a program").into())
}

/// Compile times where there is no device.
fn compile_only(folder: &Path, library: &str) -> Fallible<()> {
    for name in PROGRAMS {
        let program = read_program(folder, name)?;
        let s = Structured::new(&program.recomputed(900));
        println!(
            "{name}: {} operations, {} in {} templates, room {}",
            program.operations(),
            s.operations(),
            s.templates.len(),
            s.room
        );
        for single in [true, false] {
            let text = source::write_for_device(&program, name, single);
            let how =
                Compile { library: library.into(), architecture: "sm_90".into(), fast: single, threads: 0 };
            let start = Instant::now();
            let binary = how.compile(&text)?;
            println!(
                "  {}: {:.2} MB of source, compiled in {:.1} s, {:.2} MB",
                if single { "f32" } else { "f64" },
                text.len() as f64 / 1e6,
                start.elapsed().as_secs_f64(),
                binary.len() as f64 / 1e6
            );
        }
    }
    Ok(())
}

fn measure(folder: &Path, library: Option<&str>) -> Fallible<()> {
    let device = Device::first()?;
    let architecture = device.architecture()?;
    println!("{}, {} multiprocessors, {architecture}", device.name()?, device.multiprocessors()?);
    let candidates = ["libnvrtc.so.12", "libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so", "libnvrtc.so"];
    let tiny = "extern \"C\" __global__ void f() {}";
    let works = |library: &&str| {
        let how = Compile {
            library: library.to_string(),
            architecture: architecture.clone(),
            fast: false,
            threads: 0,
        };
        how.compile(tiny).is_ok()
    };
    let library = match library {
        Some(library) => library,
        None => candidates.into_iter().find(works).ok_or("no NVRTC")?,
    };
    let cache = std::env::temp_dir().join(format!("soleus-kernels-{}", std::process::id()));
    let mut kernels = Vec::new();
    for name in PROGRAMS {
        for single in [true, false] {
            let what = format!("{name} {}", if single { "f32" } else { "f64" });
            let how = Compile {
                library: library.into(),
                architecture: architecture.clone(),
                fast: single,
                threads: 0,
            };
            match build(&device, folder, name, &how, &cache, &what) {
                Ok(kernel) => kernels.push((name, single, kernel)),
                Err(e) => println!("{what}: {e}"),
            }
        }
    }
    let mut best = Vec::new();
    for &(name, single, kernel) in &kernels {
        match speed(&device, folder, name, single, kernel) {
            Ok(most) => best.push((name, most)),
            Err(e) => println!("{name}: {e}"),
        }
    }
    let steps: Vec<usize> = best.iter().filter(|b| b.0 == "step").map(|b| b.1).collect();
    if let [single, double] = steps.as_slice()
        && let Err(e) = endure(folder, library, &cache, [*single, *double])
    {
        println!("steps: {e}");
    }
    let _ = std::fs::remove_dir_all(cache);
    Ok(())
}

/// Compiles a program, then once more as a second start of a user's program would: read, written as source, found in the store, loaded.
fn build(
    device: &Device,
    folder: &Path,
    name: &str,
    how: &Compile,
    cache: &Path,
    what: &str,
) -> Fallible<Kernel> {
    let mut store = Folder(cache.to_path_buf());
    let mut times = [0.0; 2];
    let mut kernel = None;
    let mut size = 0;
    for time in &mut times {
        let start = Instant::now();
        let program = read_program(folder, name)?;
        let text = source::write_for_device(&program, name, how.fast);
        let binary = how.stored(&text, &mut store)?;
        size = binary.len();
        kernel = Some(device.load(&binary, name)?);
        *time = start.elapsed().as_secs_f64();
    }
    let kernel = kernel.ok_or("no kernel")?;
    let [registers, scratch] = device.needs(kernel)?;
    let program = read_program(folder, name)?;
    let structured = Structured::new(&program.recomputed(900));
    println!(
        "{what}: {} operations, {} written in {} functions; ready in {:.1} s, again in {:.2} s; {:.2} MB, {registers} registers, {scratch} bytes of scratch",
        structured.computed(),
        structured.operations(),
        structured.templates.len(),
        times[0],
        times[1],
        size as f64 / 1e6,
    );
    Ok(kernel)
}

/// Numbers on a device, of 32 or 64 bits.
struct Numbers<'a> {
    device: &'a Device,
    memory: Memory,
    count: usize,
    single: bool,
}

impl<'a> Numbers<'a> {
    fn new(device: &'a Device, count: usize, single: bool) -> Fallible<Numbers<'a>> {
        let memory = device.allocate(count * if single { 4 } else { 8 })?;
        Ok(Numbers { device, memory, count, single })
    }
    fn write(&self, x: &[f64]) -> Fallible<()> {
        if self.single {
            self.device.write(self.memory, &x.iter().map(|x| *x as f32).collect::<Vec<f32>>())?;
        } else {
            self.device.write(self.memory, x)?;
        }
        Ok(())
    }
    fn read(&self) -> Fallible<Vec<f64>> {
        Ok(if self.single {
            let mut y = vec![0f32; self.count];
            self.device.read(self.memory, &mut y)?;
            y.into_iter().map(f64::from).collect()
        } else {
            let mut y = vec![0f64; self.count];
            self.device.read(self.memory, &mut y)?;
            y
        })
    }
}

impl Drop for Numbers<'_> {
    fn drop(&mut self) {
        let _ = self.device.free(self.memory);
    }
}

fn median(mut list: Vec<f64>) -> [f64; 2] {
    list.sort_by(f64::total_cmp);
    [list.get(list.len() / 2).copied().unwrap_or(f64::NAN), list.last().copied().unwrap_or(f64::NAN)]
}

/// Agreement and speed; the number of blocks that was fastest.
fn speed(device: &Device, folder: &Path, name: &str, single: bool, kernel: Kernel) -> Fallible<usize> {
    let real = if single { "f32" } else { "f64" };
    let list = numbers(&folder.join(format!("{name}.points")))?;
    let (inputs, outputs, split) = (list[0] as usize, list[1] as usize, list[2] as usize);
    let points: Vec<&[f64]> = list[3..].chunks_exact(inputs + outputs).collect();
    let mut most = usize::MAX;
    for copies in [8192usize, 131_072] {
        let value = |i: usize, k: usize| points[k % points.len()][i];
        let x: Vec<f64> = (0..inputs).flat_map(|i| (0..copies).map(move |k| value(i, k))).collect();
        let dx = Numbers::new(device, x.len(), single)?;
        let dy = Numbers::new(device, outputs * copies, single)?;
        dx.write(&x)?;
        device.launch(kernel, dx.memory, dy.memory, copies, usize::MAX)?;
        device.wait()?;
        let y = dy.read()?;
        let mut shown = String::new();
        for range in [0..split, split..outputs].into_iter().filter(|r| !r.is_empty()) {
            // Rates of muscles at the singularity of their explicit form, and slopes of these, have no digits to compare.
            let errors: Vec<f64> = (0..points.len())
                .filter_map(|k| {
                    let wanted = &points[k][inputs..];
                    let counted = || range.clone().filter(|&i| wanted[i].abs() <= SINGULAR);
                    let size: f64 = counted().map(|i| wanted[i].powi(2)).sum();
                    let off: f64 = counted().map(|i| (y[i * copies + k] - wanted[i]).powi(2)).sum();
                    (2 * counted().count() >= range.len()).then(|| (off / size).sqrt())
                })
                .collect();
            let count = errors.len();
            let [middle, worst] = median(errors);
            shown += &format!(" {middle:.1e}/{worst:.1e} ({count})");
        }
        let mut rates = String::new();
        let (mut best, sm) = (f64::INFINITY, device.multiprocessors()?);
        for blocks in [usize::MAX, 8 * sm, 6 * sm, 5 * sm, 4 * sm, 3 * sm, 2 * sm, sm] {
            if blocks != usize::MAX && blocks * 128 > copies {
                continue;
            }
            let mut time = f64::INFINITY;
            for _ in 0..6 {
                let start = Instant::now();
                device.launch(kernel, dx.memory, dy.memory, copies, blocks)?;
                device.wait()?;
                time = time.min(start.elapsed().as_secs_f64());
            }
            let label = if blocks == usize::MAX { "all".into() } else { format!("{}", blocks / sm) };
            rates += &format!(" {label}: {:.1}", copies as f64 / time / 1e6);
            if time < best {
                (best, most) = (time, blocks);
            }
        }
        println!(
            "{name} {real}: {copies} copies, {:.3} ms, {:.2} M/s; norm error median/worst (points), by kind:{shown}; M/s by blocks a multiprocessor:{rates}",
            best * 1e3,
            copies as f64 / best / 1e6,
        );
    }
    Ok(most)
}

/// Ten seconds in steps of 2 ms, in 32 and 64 bits from the same starts.
fn endure(folder: &Path, library: &str, cache: &Path, blocks: [usize; 2]) -> Fallible<()> {
    let copies = 131_072;
    let list = numbers(&folder.join("start"))?;
    let [n, nz, ne] = [list[0] as usize, list[1] as usize, list[2] as usize];
    let (z, e) = (2 * n..2 * n + nz, 2 * n + nz..2 * n + nz + ne);
    let (time, p) = (e.end, e.end + 1..e.end + 1);
    let programs = DevicePrograms {
        evaluate: read_program(folder, "evaluate")?,
        step: read_program(folder, "step")?,
        layout: Layout { q: 0..n, u: n..2 * n, z, e, time, p },
        start: list[3..].to_vec(),
    };
    let mut ends: Vec<Vec<Vec<f64>>> = Vec::new();
    for (single, most) in [true, false].into_iter().zip(blocks) {
        let real = if single { "f32" } else { "f64" };
        let mut store = Folder(cache.to_path_buf());
        let mut batch = DeviceBatch::new(&programs, copies, single, library, &mut store)?;
        batch.set_blocks(most);
        let mut random = Random::new(7);
        let mut x = batch.read(0..2 * n)?;
        x.iter_mut().for_each(|v| *v = f64::from((*v + 0.01 * random.normal()) as f32));
        batch.write(0, &x)?;
        let began = Instant::now();
        let (mut seen, mut computed) = (Vec::new(), 0.0);
        for k in 1..=5000 {
            batch.step(f64::from(0.002f32))?;
            if [50, 500, 5000].contains(&k) {
                batch.wait()?;
                computed = began.elapsed().as_secs_f64();
                let y = batch.states()?;
                let bad = |c: &usize| (0..2 * n + nz).any(|i| !(y[i * copies + c].abs() < 1e6));
                let lost = (0..copies).filter(bad).count();
                println!(
                    "steps of 2 ms {real}: after {} s {} of {copies} copies finite",
                    k as f64 * 0.002,
                    copies - lost
                );
                seen.push(y[..n * copies].to_vec());
            }
        }
        println!(
            "steps of 2 ms {real}: 5000 steps in {computed:.1} s, {:.1} M steps/s",
            5000.0 * copies as f64 / computed / 1e6
        );
        ends.push(seen);
    }
    for (at, after) in ["0.1", "1", "10"].iter().enumerate() {
        let off = |c: usize| {
            (0..n)
                .map(|i| (ends[0][at][i * copies + c] - ends[1][at][i * copies + c]).abs())
                .fold(0.0, f64::max)
        };
        let [middle, worst] = median((0..copies).map(off).collect());
        println!(
            "f32 beside f64 after {after} s: largest difference of a coordinate, median {middle:.1e}, worst {worst:.1e}"
        );
    }
    Ok(())
}
