/** What the page does: opens files, follows the motion, changes the model. Panels show; engines compute. */

import { base, ending } from "./dom";
import { Editor } from "./editing";
import type { Engine, Reached } from "./engine/engine";
import { Refused, type Answer, type NamedBytes } from "./engine/message";
import { Frames, rowAt, Stream } from "./frames";
import { Store, type Curves, type ModelInfo, type MotionInfo, type Other } from "./store";
import { sceneOf } from "./view/data";
import type { Figure, Hit } from "./view/figure";

export interface Note {
  kind: "error" | "warning" | "note";
  text: string;
  hint?: string;
}

/** Stands for the file of a motion that a tool is still at work on. */
export const LIVE = "(being solved)";
/** Endings of files that ask for something to be computed. */
const ASKING = ["xml", "omoco", "toml"];

/** The element that an XML file of OpenSim holds. */
const rootOf = (text: string) => [...text.replace(/<!--[\s\S]*?-->/g, "").matchAll(/<([A-Za-z]\w*)/g)].map((m) => m[1]).find((t) => t !== "OpenSimDocument") ?? "";

/** A motion that goes farther than this, m, is followed. */
const FAR_M = 0.6;

export class App {
  readonly store = new Store();
  notes: Note[] = [];
  onNote: (n: Note) => void = () => {};
  onTable: (file: string) => void = () => {};
  /** Draws curves that were chosen elsewhere. */
  onCurves: (curves: Curves, tables: string[]) => Promise<void> = async () => {};
  /** Shows the form of a tool with a file in one of its fields. */
  showForm: (tool: string, field: string, file: string) => void = () => {};
  /** The gait cycles that were asked for last, for a shared page. */
  cycles: Answer | null = null;
  /** What a tool has reached, in words; empty when it has ended. */
  onLive: (text: string) => void = () => {};
  private reaching = false;
  private reachedId: number | null = null;
  readonly editor: Editor;
  /** Frames of the motion that is shown, and of the others by their numbers. */
  private stream: Stream | null = null;
  private otherStreams = new Map<number, Stream>();
  /** Models that are open, by their files. */
  private models = new Map<string, ModelInfo>();
  /** Where the motion begins: its mass center, m. */
  private origin: ArrayLike<number> = [0, 0, 0];
  private pairs: number[] = [];
  private posed: Frames | null = null;
  private posing: Promise<void> | null = null;
  private again = false;
  /** Values of the coordinates at the pose of the sliders, with all digits. */
  private posedQ: number[] | null = null;
  /** The coordinate whose slider was moved last. */
  private moved: string | null = null;
  private shownRow = "";
  /** Values of the coordinates as they are shown, in the model's order. */
  shownQ: Float32Array = new Float32Array();
  private shownActivity: Float32Array = new Float32Array();
  /** Whether the pose comes from markers, so that distances to them mean something. */
  private isSolved = false;
  /** Called when another pose is shown. */
  readonly poseListeners: (() => void)[] = [];

  constructor(
    readonly engine: Engine,
    readonly figure: Figure,
  ) {
    figure.beforePicture = (seconds) => this.tick(seconds);
    this.store.on(["layers"], () => figure.setLayers(this.doc.layers));
    this.store.on(["selection", "model"], () => figure.select(this.hitOf(this.doc.selection)));
    this.store.on(["others", "beside", "together", "motion"], () => {
      this.shownRow = "";
      const shift = (o: Other): [number, number] => (this.doc.together ? [this.origin[0] - o.origin[0], this.origin[2] - o.origin[2]] : [0, 0]);
      figure.arrange(this.doc.others.map((o) => ({ id: o.motion.id, shift: shift(o) })), this.doc.beside);
    });
    figure.setLayers(this.doc.layers);
    this.editor = new Editor(this);
  }

  get doc() {
    return this.store.doc;
  }

  say(n: Note): void {
    // What was said already about the same files is not said again.
    if (n.kind !== "error" && this.notes.some((o) => o.text === n.text)) return;
    this.notes.push(n);
    this.onNote(n);
  }

  fail(e: unknown): void {
    if (e instanceof Refused && e.diagnostics.length > 0) for (const d of e.diagnostics) this.tellDiagnostic(d);
    else this.say({ kind: "error", text: (e instanceof Error ? e.message : String(e)).replace(/^error: /, "") });
  }

  tellDiagnostic(d: any): void {
    const where = [d.file && base(d.file), d.line ? `line ${d.line}` : "", d.component].filter(Boolean).join(", ");
    this.say({ kind: d.severity === "error" ? "error" : d.severity === "warning" ? "warning" : "note", text: `${d.message}${where ? ` (${where})` : ""}`, hint: hintOf(d.hint) });
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

  /** The model that Studio brings along: that of the predicted walk. */
  async example(): Promise<void> {
    try {
      const walker = (await this.engine.call("walker")).value;
      await this.add([{ name: walker.file, bytes: new TextEncoder().encode(walker.text) }]);
    } catch (e) {
      this.fail(e);
    }
  }

  /** Names of the files that are open. */
  async files(): Promise<string[]> {
    return (await this.engine.call("files")).value.files;
  }

  async list(): Promise<void> {
    this.store.set({ files: await this.files() });
  }

  /** Opens files in the order that makes sense: the model first. */
  async openAll(names: string[]): Promise<void> {
    const rank = (n: string) => ["osim", "trc", "c3d", "mot", "sto", "csv", "parquet", ...ASKING].indexOf(ending(n));
    // Of a folder with many setup files, the user chooses one.
    const asking = names.filter((n) => ASKING.includes(ending(n))).length;
    for (const name of names.filter((n) => rank(n) >= 0 && (asking < 2 || !ASKING.includes(ending(n)))).sort((a, b) => rank(a) - rank(b)))
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
      case "toml": {
        const a = await this.engine.call("read", { file: name });
        const text = new TextDecoder().decode(a.bytes(a.value.bytes));
        if (/^\s*\[\[trials?\]\]/m.test(text)) return this.showForm("pipeline", "file", name);
        if (/^\s*\[\[add\]\]/m.test(text)) return this.showForm("add", "file", name);
        return this.showForm("solve", "study", name);
      }
      case "omoco":
        return this.showForm("setup_file", "file", name);
      case "xml": {
        const a = await this.engine.call("read", { file: name });
        const root = rootOf(new TextDecoder().decode(a.bytes(a.value.bytes).subarray(0, 4000)));
        if (/Tool$|^Moco|^IMU/.test(root)) return this.showForm("setup_file", "file", name);
        if (root === "ExternalLoads" && this.doc.motion) return this.openMotion(this.doc.motion.file, { loads: name });
        return this.say({ kind: "note", text: `${base(name)}${root ? ` (${root})` : ""} is available to the tools` });
      }
      default:
        this.say({ kind: "note", text: `${base(name)} is available to the tools` });
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
    this.models.set(name, model);
    this.stream = null;
    this.shownRow = "";
    [this.posed, this.posedQ, this.moved] = [null, null, null];
    const q: Record<string, number> = {};
    for (const c of model.coordinates) q[c.name] = c.default;
    for (const o of this.doc.others) this.hideOther(o.motion.id);
    this.store.set({ model, motion: null, others: [], selection: null, q, held: {}, unmet: "", edits: [], done: 0, playing: false });
    this.editor.saved();
    await this.drawScene();
    await this.pose();
    this.figure.view("three-quarters");
    this.pairMarkers();
  }

  /** A model of a file, opened without being shown. */
  async modelOf(file: string): Promise<ModelInfo> {
    const shown = this.doc.model;
    if (shown?.file === file) return shown;
    const kept = this.models.get(file);
    if (kept) return kept;
    const model: ModelInfo = (await this.call("open_model", { file })).value;
    this.models.set(file, model);
    return model;
  }

  private async drawScene(): Promise<void> {
    const m = this.doc.model!;
    const scene = sceneOf(await this.call("scene", { model: m.id }));
    this.figure.show(scene, strengthsOf(m, scene.paths));
  }

  /** The model is another one now; the figure follows. While a point is moved (`lightly`), bodies and panels stay as they are. */
  async modelChanged(model: ModelInfo, lightly = false): Promise<void> {
    this.models.set(model.file, model);
    if (!lightly) {
      // What is chosen may be gone.
      const { selection } = this.doc;
      const isThere = selection !== null && model.components.some(([p]) => selection === p || selection.startsWith(`${p}/`));
      this.store.set({ model, selection: isThere ? selection : null });
      await this.drawScene();
    }
    this.pairMarkers();
    if (this.doc.motion && !lightly) await this.openMotion(this.doc.motion.file);
    else if (this.doc.motion) {
      const posed = new Frames(await this.engine.call("pose", { model: model.id, q: this.nowQ() }));
      this.figure.pose(posed, 0, this.measuredNow(), this.pairs, false);
    } else await this.pose();
  }

  /** Which marker of the model each measured one is. */
  private pairMarkers(): void {
    const names = new Map(this.doc.model?.markers.map((m, i) => [m.name, i]));
    this.pairs = (this.doc.measured?.labels ?? []).map((l) => names.get(l) ?? -1);
  }

  /** Measured markers are no longer drawn. */
  closeMarkers(): void {
    this.store.set({ measured: null });
    this.figure.setMeasured(0);
    this.pairMarkers();
    this.shownRow = "";
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
    const motion = await this.motionOf(m, name, more.activations ?? old?.activations ?? null, more.loads ?? old?.loads ?? null);
    this.showMotion(motion, old ? this.doc.time : motion.times[0]);
    // New activations are looked at where they are known.
    const { known } = motion;
    if (more.activations && known && (this.doc.time < known[0] || this.doc.time > known[1])) this.seek(known[0]);
    const { frames, k } = await this.frame(this.row());
    if (!old) {
      this.origin = frames.center.slice(3 * k, 3 * k + 3);
      // The camera goes to where the motion is, and with it where it goes far.
      this.figure.lookAt(frames.center.subarray(3 * k, 3 * k + 3));
      const end = await this.frame(motion.times.length - 1);
      const way = [0, 2].map((i) => end.frames.center[3 * end.k + i] - frames.center[3 * k + i]);
      if (Math.hypot(...way) > FAR_M) this.store.set({ follow: true });
    }
    this.figure.redraw();
  }

  private async motionOf(model: ModelInfo, file: string, activations: string | null, loads: string | null): Promise<MotionInfo> {
    const a = await this.call("open_motion", { model: model.id, file, activations, loads });
    return { id: a.value.id, file, times: a.f64(a.value.times), arrows: a.value.arrows, hasActivations: a.value.has_activations, known: a.value.activations_known ?? null, activations, loads };
  }

  /** Shows a motion that is open. */
  showMotion(motion: MotionInfo, time: number): void {
    this.stream = new Stream(this.engine, motion.id, motion.times, (e) => this.fail(e));
    this.shownRow = "";
    this.store.set({ motion, time });
  }

  /** Draws another motion with the one that is shown, of the same model or of another one. */
  async compare(file: string, modelFile = this.doc.model?.file): Promise<void> {
    if (!modelFile || !this.doc.motion) return;
    const model = await this.modelOf(modelFile);
    await this.drawOther(await this.motionOf(model, file, null, null), model);
  }

  /** Draws a motion that is open with the one that is shown. */
  async drawOther(motion: MotionInfo, model: ModelInfo): Promise<void> {
    const scene = sceneOf(await this.call("scene", { model: model.id }));
    const stream = new Stream(this.engine, motion.id, motion.times, (e) => this.fail(e));
    this.otherStreams.set(motion.id, stream);
    const { frames, k } = await stream.frame(0);
    const origin = frames.center.slice(3 * k, 3 * k + 3);
    this.figure.showOther(motion.id, scene, strengthsOf(model, scene.paths));
    this.models.set(model.file, model);
    this.shownRow = "";
    this.store.set({ others: [...this.doc.others, { motion, model: model.file, origin }] });
  }

  /** Where the motion begins is known from its first frame, for motions that begin together. */
  async begin(motion: MotionInfo, time: number): Promise<void> {
    this.showMotion(motion, time);
    const { frames, k } = await this.frame(0);
    this.origin = frames.center.slice(3 * k, 3 * k + 3);
  }

  hideOther(id: number): void {
    this.figure.hideOther(id);
    this.otherStreams.delete(id);
    this.store.set({ others: this.doc.others.filter((o) => o.motion.id !== id) });
  }

  closeMotion(): void {
    this.stream = null;
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
    return times ? rowAt(times, this.doc.time) : 0;
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

  /** The frame of a row. */
  async frame(row: number): Promise<{ frames: Frames; k: number }> {
    return this.stream!.frame(row);
  }

  /** Frames that are held for the motion that is shown, for tests. */
  get framesHeld(): number {
    return this.stream?.held ?? 0;
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
    if (this.doc.motion && this.stream) {
      const stride = this.doc.playing ? this.stream.stride(this.doc.speed) : 1;
      const key = `${this.doc.motion.id} ${stride} ${Math.floor(row / stride)}`;
      if (key === this.shownRow) return;
      const found = this.stream.now(row, stride, this.doc.playing);
      const others = this.doc.others.map((o) => this.otherAt(o));
      if (!found || others.includes(false)) return;
      this.shownRow = key;
      this.showFrame(found.frames, found.k);
    } else if (`points ${row}` !== this.shownRow) {
      this.shownRow = `points ${row}`;
      if (this.posed) this.showFrame(this.posed, 0);
      else this.figure.setPoints(this.measuredNow(), this.pairs);
    }
  }

  /** What is added to the times of another motion so that it begins with the first one, s. */
  shiftOf(o: Other): number {
    return this.doc.together && this.doc.motion ? this.doc.motion.times[0] - o.motion.times[0] : 0;
  }

  /** Shows another motion at the cursor; false if its frame is not there yet. */
  private otherAt(o: Other): boolean {
    const { motion } = o;
    const stream = this.otherStreams.get(motion.id);
    if (!stream) return true;
    const time = this.doc.time - this.shiftOf(o);
    const found = stream.now(rowAt(motion.times, time), this.doc.playing ? stream.stride(this.doc.speed) : 1, this.doc.playing);
    if (found) this.figure.poseOther(motion.id, found.frames, found.k);
    return found !== null;
  }

  private showFrame(f: Frames, k: number): void {
    const n = this.doc.model?.coordinates.length ?? 0;
    this.shownQ = f.q.subarray(k * n, (k + 1) * n);
    const paths = f.count > 0 ? f.activity.length / f.count : 0;
    this.shownActivity = f.activity.subarray(k * paths, (k + 1) * paths);
    const pairs = this.doc.motion || this.isSolved ? this.pairs : [];
    this.figure.pose(f, k, this.measuredNow(), pairs, this.doc.follow);
    for (const hear of this.poseListeners) hear();
  }

  /** Draws the motion that a tool has reached: a frame as it is solved, or a whole motion that plays while it is improved. */
  async showReached(r: Reached, text: string): Promise<void> {
    const m = this.doc.model;
    if (!m || this.reaching) return;
    this.reaching = true;
    this.onLive(text);
    try {
      if (r.times.length > 1) {
        const a = await this.engine.call("open_motion", { model: m.id, reached: r, ...(this.reachedId === null ? {} : { replace: this.reachedId }) });
        this.reachedId = a.value.id;
        const motion: MotionInfo = {
          id: a.value.id, file: LIVE, times: a.f64(a.value.times), arrows: a.value.arrows, hasActivations: a.value.has_activations, known: null, activations: null, loads: null,
        };
        const [first, last] = [motion.times[0], motion.times[motion.times.length - 1]];
        this.showMotion(motion, Math.min(Math.max(this.doc.time, first), last));
        this.store.set({ playing: true, loop: true });
      } else if (this.doc.motion?.file !== LIVE) {
        const q = Object.fromEntries(r.names.map((n, i) => [n, r.rows[0][i]]));
        const posed = new Frames(await this.engine.call("pose", { model: m.id, q }));
        this.store.set({ time: r.times[0] });
        this.isSolved = true;
        this.showFrame(posed, 0);
      }
    } catch {
      // What is drawn on the way is not worth a word.
    } finally {
      this.reaching = false;
    }
  }

  /** A tool has ended. */
  endReached(): void {
    this.onLive("");
    this.isSolved = false;
    if (this.doc.motion?.file === LIVE) this.closeMotion();
    else this.shownRow = "";
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
        const locked = this.locked();
        const moved = this.moved;
        let a: Answer;
        try {
          a = await this.engine.call("pose", { model: m.id, q: this.doc.q, locked, moved });
        } catch (e) {
          this.fail(e);
          return;
        }
        if (this.doc.model !== m) continue;
        const { met } = a.value;
        this.store.set({ unmet: unmetBecause(met, moved, locked) });
        if (met === "not" && locked.length > 0 && this.posed && moved !== null && this.posedQ) {
          // What is locked stays, and so does all the rest: the slider goes back.
          const i = m.coordinates.findIndex((c) => c.name === moved);
          this.store.set({ q: { ...this.doc.q, [moved]: this.posedQ[i] } });
        } else {
          this.posed = new Frames(a);
          this.posedQ = a.value.q;
          // The next move starts from where this one ended.
          if (met === "moved" && moved !== null && !this.again) this.store.set({ q: { ...this.doc.q, [moved]: a.value.q[m.coordinates.findIndex((c) => c.name === moved)] } });
        }
        if (!this.doc.motion && this.posed) this.showFrame(this.posed, 0);
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
    this.moved = name;
    void this.pose();
  }

  /** Coordinates that stay where they are while the constraints of the model are met. */
  private locked(): string[] {
    return (this.doc.model?.coordinates ?? []).filter((c) => this.doc.held[c.name] && c.moves).map((c) => c.name);
  }

  /** Locks a coordinate at the value that is shown, or unlocks it. */
  lock(name: string, on = !this.doc.held[name]): void {
    const i = this.doc.model?.coordinates.findIndex((c) => c.name === name) ?? -1;
    if (i < 0) return;
    const value = this.doc.motion ? this.shownQ[i] : this.posedQ?.[i];
    this.store.set({ held: { ...this.doc.held, [name]: on }, unmet: "" });
    if (on && value !== undefined && !this.doc.motion) this.store.set({ q: { ...this.doc.q, [name]: value } });
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

  /** A click on the figure. */
  choose(hit: Hit | null): void {
    const path = this.pathOf(hit);
    this.store.set({ selection: path });
    if (hit?.kind === "measured" && !path) this.say({ kind: "note", text: `${this.doc.measured?.labels[hit.index]} was measured; the model has no such marker` });
  }

  pathOf(hit: Hit | null): string | null {
    const m = this.doc.model;
    if (!hit || !m) return null;
    if (hit.kind === "body") return m.bodies[hit.index]?.path ?? null;
    if (hit.kind === "marker") return m.markers[hit.index]?.path ?? null;
    if (hit.kind === "measured") return m.markers[this.pairs[hit.index]]?.path ?? null;
    if (hit.kind === "surface") return this.figure.bodies?.surfaces[hit.index] ?? null;
    if (hit.kind === "arrow") {
      const name = this.doc.motion?.arrows[hit.index];
      return m.bodies.find((b) => b.name === name)?.path ?? null;
    }
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
    let body = m.bodies.findIndex((b) => under(b.path));
    // Of a surface, the body that carries it.
    if (body < 0) body = this.figure.bodies?.carrierOf(path) ?? -1;
    return body >= 0 ? { kind: "body", index: body } : null;
  }
}

/** What helps, in the page's words where the command's would mislead. */
const hintOf = (hint?: string) => hint?.replace("name their folder (--geometry)", "drop the folder on this page");

/** Why the pose is not the one that was asked for. */
function unmetBecause(met: string, moved: string | null, locked: string[]): string {
  const because = locked.length > 0 ? ` while ${locked.length > 3 ? `${locked.length} coordinates are` : `${locked.join(", ")} ${locked.length > 1 ? "are" : "is"}`} locked` : "";
  if (met === "moved") return `${moved} goes no further: the constraints of the model would not be met${because}.`;
  return met === "not" ? `The constraints of the model cannot be met${because || " at this pose"}.` : "";
}

/** Strengths of the paths of a scene, which has them in its own order. */
export function strengthsOf(model: ModelInfo, paths: string[]): (number | null)[] {
  const strength = new Map(model.paths.map((p) => [p.name, p.strength]));
  return paths.map((p) => strength.get(p) ?? null);
}
