/** What the page does: opens files, follows the motion, changes the model. Panels show; engines compute. */

import { base, ending, stem } from "./dom";
import type { Engine } from "./engine/engine";
import { Refused, type Answer, type NamedBytes } from "./engine/message";
import { Frames, Store, type Edit, type ModelInfo, type MotionInfo } from "./store";
import type { Figure, Hit } from "./view/scene";

/** Frames that are asked for at once. */
const CHUNK = 64;
/** Chunks that are kept: of a motion with 100 000 frames, the ones near the cursor. */
const KEPT = 48;

export interface Note {
  kind: "error" | "warning" | "note";
  text: string;
  hint?: string;
}

export class App {
  readonly store = new Store();
  notes: Note[] = [];
  onNote: (n: Note) => void = () => {};
  onTable: (file: string) => void = () => {};
  private chunks = new Map<string, Frames | Promise<Frames>>();
  private pairs: number[] = [];
  private posed: Frames | null = null;
  private posing: Promise<void> | null = null;
  private again = false;
  private shownRow = "";
  /** Values of the coordinates as they are shown, in the model's order. */
  shownQ: Float32Array = new Float32Array();
  private shownActivity: Float32Array = new Float32Array();
  /** Called when another pose is shown. */
  readonly poseListeners: (() => void)[] = [];

  constructor(
    readonly engine: Engine,
    readonly figure: Figure,
  ) {
    figure.beforePicture = (seconds) => this.tick(seconds);
    this.store.on(["layers"], () => figure.setLayers(this.doc.layers));
    this.store.on(["selection", "model"], () => figure.select(this.hitOf(this.doc.selection)));
    figure.setLayers(this.doc.layers);
  }

  get doc() {
    return this.store.doc;
  }

  say(n: Note): void {
    this.notes.push(n);
    this.onNote(n);
  }

  fail(e: unknown): void {
    if (e instanceof Refused && e.diagnostics.length > 0) for (const d of e.diagnostics) this.tellDiagnostic(d);
    else this.say({ kind: "error", text: (e instanceof Error ? e.message : String(e)).replace(/^error: /, "") });
  }

  tellDiagnostic(d: any): void {
    const where = [d.file && base(d.file), d.line ? `line ${d.line}` : "", d.component].filter(Boolean).join(", ");
    this.say({ kind: d.severity === "error" ? "error" : d.severity === "warning" ? "warning" : "note", text: `${d.message}${where ? ` (${where})` : ""}`, hint: d.hint });
  }

  private heard(a: Answer): Answer {
    for (const d of a.value.diagnostics ?? []) this.tellDiagnostic(d);
    for (const n of a.value.notes ?? []) this.say({ kind: "note", text: n });
    return a;
  }

  async call(method: string, fields: object = {}, files: NamedBytes[] = []): Promise<Answer> {
    return this.heard(await this.engine.call(method, fields, files));
  }

  /** Adds files, and opens what can be shown. */
  async add(files: NamedBytes[], open = true): Promise<void> {
    if (files.length > 0) await this.engine.call("put", {}, files);
    await this.list();
    if (open) await this.openAll(files.map((f) => f.name));
  }

  async list(): Promise<void> {
    this.store.set({ files: (await this.engine.call("files")).value.files });
  }

  /** Opens files in the order that makes sense: the model first. */
  async openAll(names: string[]): Promise<void> {
    const rank = (n: string) => ["osim", "trc", "c3d", "mot", "sto", "csv"].indexOf(ending(n));
    for (const name of names.filter((n) => rank(n) >= 0).sort((a, b) => rank(a) - rank(b)))
      try {
        await this.open(name);
      } catch (e) {
        this.fail(e);
      }
  }

  /** Shows a file as what it is. */
  async open(name: string): Promise<void> {
    switch (ending(name)) {
      case "osim":
        return this.openModel(name);
      case "trc":
      case "c3d":
        return this.openMarkers(name);
      case "mot":
      case "sto":
      case "csv":
      case "parquet": {
        const kind = await this.kindOf(name);
        if (kind === "motion") return this.openMotion(name);
        if (kind === "activations" && this.doc.motion) await this.openMotion(this.doc.motion.file, { activations: name });
        else if (kind === "loads" && this.doc.motion) await this.openMotion(this.doc.motion.file, { loads: name });
        this.onTable(name);
        return;
      }
      default:
        this.say({ kind: "note", text: `${base(name)} is there for tools to use` });
    }
  }

  /** What a table is for the model that is open. */
  async kindOf(name: string): Promise<"motion" | "activations" | "loads" | "table"> {
    const m = this.doc.model;
    if (!m) return "table";
    const labels: string[] = (await this.engine.call("table", { file: name })).value.labels;
    const names = new Set(labels);
    const share = m.coordinates.filter((c) => names.has(c.name) || names.has(`${c.path}/value`)).length;
    if (share >= Math.max(1, m.coordinates.length / 3)) return "motion";
    const muscles = m.paths.filter((p) => p.strength !== null);
    if (muscles.some((p) => names.has(`${p.path}/activation`)) || (/activation/i.test(name) && muscles.some((p) => names.has(p.name)))) return "activations";
    if (labels.some((l) => /v[xyz]$/.test(l)) && labels.some((l) => /p[xyz]$/.test(l))) return "loads";
    return "table";
  }

  async openModel(name: string): Promise<void> {
    const a = await this.call("open_model", { file: name });
    const model: ModelInfo = a.value;
    this.chunks.clear();
    this.shownRow = "";
    const q: Record<string, number> = {};
    for (const c of model.coordinates) q[c.name] = c.default;
    this.store.set({ model, motion: null, selection: null, q, held: {}, edits: [], done: 0, playing: false });
    await this.drawScene();
    await this.pose();
    this.figure.view("three-quarters");
    this.pairMarkers();
  }

  private async drawScene(): Promise<void> {
    const m = this.doc.model!;
    const scene = await this.call("scene", { model: m.id });
    const strength = new Map(m.paths.map((p) => [p.name, p.strength]));
    this.figure.show(scene, scene.value.paths.map((p: string) => strength.get(p) ?? null));
  }

  /** Which marker of the model each measured one is. */
  private pairMarkers(): void {
    const names = new Map(this.doc.model?.markers.map((m, i) => [m.name, i]));
    this.pairs = (this.doc.measured?.labels ?? []).map((l) => names.get(l) ?? -1);
  }

  async openMarkers(name: string): Promise<void> {
    const a = await this.call("markers", { file: name });
    const measured = { file: name, labels: a.value.labels, times: a.f64(a.value.times), points: a.f32(a.value.points) };
    this.store.set({ measured });
    this.figure.setMeasured(measured.labels.length);
    this.pairMarkers();
    this.shownRow = "";
    if (!this.doc.model) this.figure.view("three-quarters");
  }

  async openMotion(name: string, more: { activations?: string; loads?: string } = {}): Promise<void> {
    const m = this.doc.model;
    if (!m) {
      this.onTable(name);
      return;
    }
    const old = this.doc.motion?.file === name ? this.doc.motion : null;
    const activations = more.activations ?? old?.activations ?? null;
    const loads = more.loads ?? old?.loads ?? null;
    const a = await this.call("open_motion", { model: m.id, file: name, activations, loads });
    const motion: MotionInfo = {
      id: a.value.id, file: name, times: a.f64(a.value.times), arrows: a.value.arrows, hasActivations: a.value.has_activations, activations, loads,
    };
    this.chunks.clear();
    this.shownRow = "";
    this.store.set({ motion, time: old ? this.doc.time : motion.times[0] });
    await this.frame(this.row());
    this.figure.redraw();
  }

  closeMotion(): void {
    this.store.set({ motion: null, playing: false });
    this.shownRow = "";
    void this.pose();
  }

  /** Times that the cursor runs over. */
  get times(): Float64Array | null {
    return this.doc.motion?.times ?? this.doc.measured?.times ?? null;
  }

  /** The row nearest to the cursor. */
  row(times = this.times): number {
    if (!times || times.length === 0) return 0;
    let [low, high] = [0, times.length - 1];
    while (high - low > 1) {
      const m = (low + high) >> 1;
      if (times[m] <= this.doc.time) low = m;
      else high = m;
    }
    return this.doc.time - times[low] <= times[high] - this.doc.time ? low : high;
  }

  seek(time: number): void {
    const t = this.times;
    if (t && t.length > 0) this.store.set({ time: Math.min(Math.max(time, t[0]), t[t.length - 1]) });
  }

  step(by: number): void {
    const t = this.times;
    if (t) this.seek(t[Math.min(Math.max(this.row() + by, 0), t.length - 1)]);
  }

  play(on = !this.doc.playing): void {
    const t = this.times;
    if (!t || t.length < 2) return;
    if (on && this.doc.time >= t[t.length - 1]) this.store.set({ time: t[0] });
    this.store.set({ playing: on });
  }

  /** Rows that are skipped between two that are shown: no screen shows more than 60 a second. */
  private stride(): number {
    const t = this.times!;
    const rate = (t.length - 1) / Math.max(t[t.length - 1] - t[0], 1e-9);
    return Math.max(1, Math.floor((rate * this.doc.speed) / 60));
  }

  private rowsOf(chunk: number, stride: number): number[] {
    const count = this.times!.length;
    const rows: number[] = [];
    for (let i = 0; i < CHUNK && (chunk * CHUNK + i) * stride < count; i++) rows.push((chunk * CHUNK + i) * stride);
    return rows;
  }

  private chunk(number: number, stride: number): Frames | Promise<Frames> {
    const key = `${stride} ${number}`;
    const kept = this.chunks.get(key);
    if (kept) {
      // The one used last is forgotten last.
      this.chunks.delete(key);
      this.chunks.set(key, kept);
      return kept;
    }
    const asked = this.engine.call("frames", { motion: this.doc.motion!.id, rows: this.rowsOf(number, stride) }).then((a) => {
      const frames = new Frames(a);
      this.chunks.set(key, frames);
      return frames;
    });
    asked.catch((e) => this.fail(e));
    this.chunks.set(key, asked);
    while (this.chunks.size > KEPT) this.chunks.delete(this.chunks.keys().next().value!);
    return asked;
  }

  /** The frame of a row, as near as what is shown needs it. */
  async frame(row: number): Promise<{ frames: Frames; k: number }> {
    const stride = this.doc.playing ? this.stride() : 1;
    const at = Math.floor(row / stride);
    const frames = await this.chunk(Math.floor(at / CHUNK), stride);
    return { frames, k: Math.min(at % CHUNK, frames.count - 1) };
  }

  /** Before each picture: moves the cursor, and shows the frame that is there. */
  private tick(seconds: number): void {
    const t = this.times;
    if (this.doc.playing && t && t.length > 1) {
      let time = this.doc.time + seconds * this.doc.speed;
      const [first, last] = [t[0], t[t.length - 1]];
      if (time > last) {
        time = this.doc.loop ? first + ((time - first) % (last - first)) : last;
        if (!this.doc.loop) this.store.set({ playing: false });
      }
      this.store.set({ time });
    }
    if (!t) return;
    const row = this.row();
    if (this.doc.motion) {
      const stride = this.doc.playing ? this.stride() : 1;
      const at = Math.floor(row / stride);
      const number = Math.floor(at / CHUNK);
      const key = `${this.doc.motion.id} ${stride} ${at}`;
      if (key === this.shownRow) return;
      const found = this.chunk(number, stride);
      if (this.doc.playing && (number + 1) * CHUNK * stride < t.length) void this.chunk(number + 1, stride);
      if (found instanceof Frames) {
        this.shownRow = key;
        this.showFrame(found, Math.min(at % CHUNK, found.count - 1));
      }
    } else if (`points ${row}` !== this.shownRow) {
      this.shownRow = `points ${row}`;
      if (this.posed) this.showFrame(this.posed, 0);
      else this.figure.setPoints(this.measuredNow(), this.pairs);
    }
  }

  private showFrame(f: Frames, k: number): void {
    const n = this.doc.model?.coordinates.length ?? 0;
    this.shownQ = f.q.subarray(k * n, (k + 1) * n);
    const paths = f.count > 0 ? f.activity.length / f.count : 0;
    this.shownActivity = f.activity.subarray(k * paths, (k + 1) * paths);
    this.figure.pose(f, k, this.measuredNow(), this.pairs, this.doc.follow);
    for (const hear of this.poseListeners) hear();
  }

  /** Measured markers at the cursor. */
  measuredNow(): Float32Array | null {
    const m = this.doc.measured;
    if (!m) return null;
    const row = this.row(m.times);
    return m.points.subarray(3 * m.labels.length * row, 3 * m.labels.length * (row + 1));
  }

  /** Shows the model at the values of the sliders; while one is computed, the last one wins. */
  async pose(): Promise<void> {
    this.again = true;
    if (this.posing) return this.posing;
    const work = async () => {
      while (this.again) {
        this.again = false;
        const m = this.doc.model;
        if (!m) return;
        try {
          this.posed = new Frames(await this.engine.call("pose", { model: m.id, q: this.doc.q }));
        } catch (e) {
          this.fail(e);
          return;
        }
        if (!this.doc.motion) this.showFrame(this.posed, 0);
      }
    };
    this.posing = work().finally(() => (this.posing = null));
    return this.posing;
  }

  /** Moves a slider; a motion that is shown is left. */
  setCoordinate(name: string, value: number): void {
    if (this.doc.motion) {
      const q: Record<string, number> = {};
      this.doc.model!.coordinates.forEach((c, i) => (q[c.name] = this.shownQ[i] ?? c.default));
      this.store.set({ motion: null, playing: false, q });
    }
    this.store.set({ q: { ...this.doc.q, [name]: value } });
    void this.pose();
  }

  /** Values of the coordinates at what is shown. */
  nowQ(): Record<string, number> {
    if (!this.doc.motion) return this.doc.q;
    const q: Record<string, number> = {};
    this.doc.model!.coordinates.forEach((c, i) => (q[c.name] = this.shownQ[i] ?? c.default));
    return q;
  }

  /** Activation of a muscle at what is shown; null if no motion tells. */
  nowActivation(path: string): number | null {
    const i = this.doc.model?.paths.findIndex((p) => p.path === path) ?? -1;
    const a = i >= 0 && this.doc.motion?.hasActivations ? this.shownActivity[i] : NaN;
    return Number.isFinite(a) ? a : null;
  }

  pathOf(hit: Hit | null): string | null {
    const m = this.doc.model;
    if (!hit || !m) return null;
    if (hit.kind === "body") return m.bodies[hit.index]?.path ?? null;
    if (hit.kind === "marker") return m.markers[hit.index]?.path ?? null;
    return m.paths[hit.index]?.path ?? null;
  }

  hitOf(path: string | null): Hit | null {
    const m = this.doc.model;
    if (!path || !m) return null;
    const under = (p: string) => path === p || path.startsWith(`${p}/`);
    const muscle = m.paths.findIndex((p) => under(p.path));
    if (muscle >= 0) return { kind: "muscle", index: muscle };
    const marker = m.markers.findIndex((p) => under(p.path));
    if (marker >= 0) return { kind: "marker", index: marker };
    const body = m.bodies.findIndex((b) => under(b.path));
    return body >= 0 ? { kind: "body", index: body } : null;
  }

  /** Changes a property; what was there before goes into the history. */
  async edit(path: string, name: string, text: string | null): Promise<void> {
    const before = await this.apply(path, name, text);
    if (before === undefined) return;
    const edits = [...this.doc.edits.slice(0, this.doc.done), { path, name, before, after: text }];
    this.store.set({ edits, done: edits.length });
  }

  private async apply(path: string, name: string, text: string | null): Promise<string | null | undefined> {
    const m = this.doc.model;
    if (!m) return undefined;
    try {
      const a = await this.call("set", { model: m.id, path, name, text });
      this.store.set({ model: { ...a.value.model, id: m.id } });
      await this.drawScene();
      if (this.doc.motion) await this.openMotion(this.doc.motion.file);
      else await this.pose();
      return a.value.before;
    } catch (e) {
      this.fail(e);
      return undefined;
    }
  }

  async undo(): Promise<void> {
    const e: Edit | undefined = this.doc.edits[this.doc.done - 1];
    if (e && (await this.apply(e.path, e.name, e.before)) !== undefined) this.store.set({ done: this.doc.done - 1 });
  }

  async redo(): Promise<void> {
    const e: Edit | undefined = this.doc.edits[this.doc.done];
    if (e && (await this.apply(e.path, e.name, e.after)) !== undefined) this.store.set({ done: this.doc.done + 1 });
  }

  /** The name that the changed model gets. */
  changedName(): string {
    const f = this.doc.model?.file ?? "model.osim";
    return this.doc.done > 0 ? `${f.slice(0, f.length - base(f).length)}${stem(f)}_changed.osim` : f;
  }
}
