/** The figure of a report: the same one as in Studio, with the buttons that the page has for it. */

import type { FrameData, SceneData } from "./view/data";
import { Figure, type View } from "./view/figure";

/** An animation as a report carries it; see crates/soleus-viewer/src/scene/encode.rs. */
interface Encoded {
  t: number[];
  low: number[];
  step: number[];
  bodies: string[];
  pose: string;
  paths: string[];
  path: string;
  arrows: string[];
  arrow: string;
  bones: number[][];
  markers: [number, number, number, number, string][];
  shapes: { b: number; l: string; c: [number, number, number]; o: number; e?: number[]; v?: string; f?: string; low?: number[]; step?: number[] }[];
}

/** The activity of what has none. */
const NO_ACTIVITY = 65535;
/** Reports do not say how strong muscles are; this is one of the leg, N. */
const STRENGTH_N = 800;

/** Numbers of sixteen bits, low byte first, from base64. */
function words(text: string): Uint16Array {
  const bytes = atob(text);
  const out = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
  return out;
}

function sceneOf(e: Encoded): SceneData {
  const shapes = e.shapes.map((s) => {
    const common = { body: s.b, layer: s.l, hull: s.l === "body" && s.o < 1, color: s.c, opacity: s.o };
    if (s.e) return { ...common, ellipsoid: { center: s.e.slice(0, 3), quaternion: s.e.slice(3, 7), radii: s.e.slice(7, 10) } };
    const v = words(s.v!);
    const vertices = Float32Array.from(v, (x, i) => s.low![i % 3] + s.step![i % 3] * x);
    return { ...common, vertices, faces: Uint32Array.from(words(s.f!)) };
  });
  const triple = (a: number[], at: number) => a.slice(at, at + 3) as [number, number, number];
  return {
    bodies: e.bodies, shapes, paths: e.paths, metersPerNewton: 1,
    bones: e.bones.map((b) => ({ body: b[0], from: triple(b, 1), to: triple(b, 4) })),
    markers: e.markers.map((m) => ({ body: m[0], station: triple(m as any, 1), name: m[4] })),
  };
}

function framesOf(e: Encoded): FrameData {
  const [count, n] = [e.t.length, e.bodies.length];
  const place = (list: Uint16Array, i: number, k: number) => e.low[k] + e.step[k] * list[i + k];
  const pose = words(e.pose);
  const poses = new Float32Array(pose.length);
  const center = new Float32Array(3 * count);
  for (let i = 0; i < pose.length; i += 7) {
    for (let k = 0; k < 3; k++) poses[i + k] = place(pose, i, k);
    for (let k = 3; k < 7; k++) poses[i + k] = ((pose[i + k] << 16) >> 16) / 32767;
    // Reports carry no mass center: the camera follows the middle of the bodies.
    const [frame, body] = [Math.floor(i / 7 / n), (i / 7) % n];
    if (body > 0) for (let k = 0; k < 3; k++) center[3 * frame + k] += poses[i + k] / (n - 1);
  }
  const path = words(e.path);
  const [begin, points, activity]: [number[], number[], number[]] = [[0], [], []];
  for (let i = 0; i < path.length; ) {
    const number = path[i];
    activity.push(path[i + 1] === NO_ACTIVITY ? NaN : path[i + 1] / 1000);
    i += 2;
    for (let k = 0; k < number; k++, i += 3) points.push(place(path, i, 0), place(path, i, 1), place(path, i, 2));
    begin.push(points.length / 3);
  }
  const ends = words(e.arrow);
  const arrows = new Float32Array(ends.length);
  for (let i = 0; i < ends.length; i += 6)
    for (let k = 0; k < 3; k++) {
      arrows[i + k] = place(ends, i, k);
      arrows[i + 3 + k] = place(ends, i + 3, k) - arrows[i + k];
    }
  return { count, poses, begin: new Uint32Array(begin), points: new Float32Array(points), activity: new Float32Array(activity), arrows, center };
}

/** The figure of one animation, and what its buttons and keys do. */
class Player {
  private figure: Figure;
  private frames: FrameData;
  private times: number[];
  private scene: SceneData;
  private frame = 0;
  private time: number;
  private playing = false;
  private canvas: HTMLCanvasElement;
  private slider: HTMLInputElement;
  private button: HTMLButtonElement;
  private speed: HTMLSelectElement;
  private label = document.createElement("span");

  constructor(private root: HTMLElement, private tell: (time: number) => void) {
    const e: Encoded = JSON.parse(document.getElementById(root.dataset.scene!)!.textContent!);
    const find = <T extends Element>(what: string) => root.querySelector<T>(what)!;
    this.canvas = find("canvas");
    this.slider = find("[data-do=frame]");
    this.button = find("[data-do=play]");
    this.speed = find("[data-do=speed]");
    this.canvas.hidden = false;
    find<HTMLElement>(".still").hidden = true;
    for (const c of root.querySelectorAll<HTMLElement>(".controls")) c.hidden = false;
    this.scene = sceneOf(e);
    this.frames = framesOf(e);
    this.times = e.t;
    this.time = e.t[0];
    this.figure = new Figure(this.canvas);
    this.figure.show(this.scene, this.scene.paths.map(() => STRENGTH_N));
    this.label.className = "name";
    this.label.hidden = true;
    root.append(this.label);
    this.there(e);
    this.layers();
    this.paint();
    this.listen();
    const far = [0, 2].map((k) => this.frames.center[3 * (e.t.length - 1) + k] - this.frames.center[k]);
    const follows = Math.hypot(...far) > 0.6;
    find<HTMLInputElement>("[data-layer=follow]").checked = follows;
    this.figure.resize(this.canvas.clientWidth, this.canvas.clientHeight);
    // Where the camera stands still, it sees the whole motion.
    const seen = follows ? [] : [1, 2, 3, 4, 5, 6].map((i) => Math.round((i * (e.t.length - 1)) / 6));
    for (const frame of seen) {
      this.show(frame);
      this.figure.around.push(...this.figure.places());
    }
    this.show(0);
    this.figure.view("three-quarters");
    this.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  /** Switches of what is not there are not shown. */
  private there(e: Encoded): void {
    const shapes = new Set(e.shapes.map((s) => s.l));
    const has: Record<string, boolean> = {
      bodies: shapes.has("body") || e.bones.length > 0, muscles: e.paths.length > 0, markers: e.markers.length > 0, wraps: shapes.has("wrap"),
      contacts: shapes.has("contact"), forces: e.arrows.length > 0, follow: e.t.length > 1,
    };
    for (const box of this.root.querySelectorAll<HTMLElement>("[data-layer]")) box.parentElement!.hidden = !has[box.dataset.layer!];
    if (e.t.length < 2) for (const c of [this.slider, this.button, this.root.querySelector("output")!, this.speed.parentElement!]) (c as HTMLElement).hidden = true;
    this.slider.max = String(e.t.length - 1);
  }

  private isOn(layer: string): boolean {
    return this.root.querySelector<HTMLInputElement>(`[data-layer=${layer}]`)!.checked;
  }

  private layers(): void {
    const names = ["bodies", "muscles", "markers", "wraps", "contacts", "forces"];
    this.figure.setLayers({ ...Object.fromEntries(names.map((n) => [n, this.isOn(n)])), center: false, floor: true });
  }

  private paint(): void {
    const style = getComputedStyle(document.documentElement);
    this.figure.theme(style.getPropertyValue("--panel").trim(), style.getPropertyValue("--line").trim());
  }

  private show(frame: number): void {
    this.frame = Math.max(0, Math.min(this.times.length - 1, frame));
    this.slider.value = String(this.frame);
    this.root.querySelector("output")!.textContent = `${this.times[this.frame].toFixed(3)} s`;
    this.figure.pose(this.frames, this.frame, null, [], this.isOn("follow"));
    this.tell(this.times[this.frame]);
  }

  private seekTo(time: number): void {
    let f = 0;
    while (f < this.times.length - 1 && this.times[f + 1] <= time + 1e-9) f++;
    this.time = time;
    if (f !== this.frame) this.show(f);
  }

  /** Goes to a time and stays there. */
  seek(time: number): void {
    this.play(false);
    this.seekTo(time);
  }

  private play(on: boolean): void {
    this.playing = on && this.times.length > 1;
    this.button.textContent = this.playing ? "Pause" : "Play";
  }

  private step(by: number): void {
    this.play(false);
    this.show(this.frame + by);
    this.time = this.times[this.frame];
  }

  private listen(): void {
    const last = this.times[this.times.length - 1];
    this.figure.beforePicture = (seconds) => {
      if (!this.playing) return;
      const time = this.time + seconds * Number(this.speed.value);
      this.seekTo(time > last || time < this.times[0] ? this.times[0] : time);
    };
    this.slider.addEventListener("input", () => {
      this.play(false);
      this.show(Number(this.slider.value));
      this.time = this.times[this.frame];
    });
    this.button.addEventListener("click", () => this.play(!this.playing));
    this.root.addEventListener("change", () => this.layers());
    for (const b of this.root.querySelectorAll<HTMLElement>("[data-view]")) b.addEventListener("click", () => this.figure.view(b.dataset.view as View));
    new ResizeObserver(() => this.figure.resize(this.canvas.clientWidth, this.canvas.clientHeight)).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    this.canvas.addEventListener("keydown", (e) => {
      const turn = (yaw: number, pitch: number, nearer = 1) => () => this.figure.turn(yaw, pitch, nearer);
      const keys: Record<string, () => void> = {
        ArrowLeft: turn(-0.1, 0), ArrowRight: turn(0.1, 0), ArrowUp: turn(0, 0.1), ArrowDown: turn(0, -0.1), "+": turn(0, 0, 1.15), "=": turn(0, 0, 1.15),
        "-": turn(0, 0, 1 / 1.15), " ": () => this.play(!this.playing), ",": () => this.step(-1), ".": () => this.step(1),
      };
      if (!keys[e.key]) return;
      e.preventDefault();
      keys[e.key]();
    });
    this.canvas.addEventListener("pointermove", (e) => this.name(e));
    this.canvas.addEventListener("pointerleave", () => (this.label.hidden = true));
  }

  /** The name of what the pointer is on. */
  private name(e: PointerEvent): void {
    const b = this.canvas.getBoundingClientRect();
    const [x, y] = [e.clientX - b.left, e.clientY - b.top];
    const hit = e.buttons === 0 ? this.figure.pick((x / b.width) * 2 - 1, 1 - (y / b.height) * 2) : null;
    this.label.hidden = hit === null;
    if (!hit) return;
    const names: { [kind: string]: string[] } = { body: this.scene.bodies, muscle: this.scene.paths, marker: this.scene.markers.map((m) => m.name) };
    const activity = hit.kind === "muscle" ? this.frames.activity[this.frame * this.scene.paths.length + hit.index] : NaN;
    this.label.textContent = `${names[hit.kind]?.[hit.index] ?? (hit.kind === "arrow" ? "force" : hit.kind)}${Number.isFinite(activity) ? ` ${activity.toFixed(2)}` : ""}`;
    this.label.style.transform = `translate(${Math.min(x + 12, b.width - 120)}px, ${Math.max(y - 26, 0)}px)`;
  }
}

/** What plots of the page and figures tell each other. */
interface Page {
  cursors: (time: number) => void;
  figures: { seek: (time: number) => void }[];
}

const page = (window as unknown as { soleusPage: Page }).soleusPage;
for (const root of document.querySelectorAll<HTMLElement>("figure.animation")) {
  // Browsers hold a dozen of such figures at once; each begins when it is seen.
  const seen = new IntersectionObserver((list) => {
    if (!list.some((l) => l.isIntersecting)) return;
    seen.disconnect();
    try {
      page.figures.push(new Player(root, page.cursors));
    } catch (e) {
      // Without WebGL the still picture stays.
      console.warn(e);
      root.querySelector<HTMLElement>(".still")!.hidden = false;
      root.querySelector("canvas")!.hidden = true;
    }
  });
  seen.observe(root);
}
