/** Curves: columns of tables over time with the cursor of the figure, or over the gait cycle with mean and standard deviation. */

import { LIVE, type App } from "../app";
import { base, digits, ending, h, seldom, stem } from "../dom";
import type { Curves } from "../store";
import { Chart, type Line, type Mark } from "../view/chart";

interface Loaded {
  labels: string[];
  times: Float64Array;
  columns: Float64Array[];
  degrees: boolean;
}

interface Cycle {
  trial: number;
  side: "right" | "left";
  time: [number, number];
  off: number | null;
}

interface Cycles {
  files: string[];
  curves: { name: string; side: "right" | "left"; cycles: number; mean: Float64Array; sd: Float64Array }[];
  normative: { source: string; curves: { name: string; mean: Float64Array; sd: Float64Array }[] };
  cycles: Cycle[];
}

type Chosen = Curves["chosen"][number];

/** Time between two places of the cursor while a motion plays, ms. */
const SELDOM_MS = 50;
const PERCENT = Float64Array.from({ length: 101 }, (_, i) => i);
/** Columns that are shown first. */
const SHOWN_FIRST = 3;
/** Columns that a user wants to see first. */
const FIRST = /knee_angle_r$|hip_flexion_r$|ankle_angle_r$|knee_angle$|ground_force_1?_?vy|soleus_r|knee_angle_r_moment|marker_error/i;

/** A label without the side in it, and the side: `knee_angle_r` is `knee_angle` of the right. */
function sided(label: string): { name: string; side: "right" | "left" | null } {
  const parts = label.replace(/\/(value|activation)$/, "").split("/").pop()!.split("_");
  const at = parts.findIndex((p) => /^(r|l|right|left)$/i.test(p));
  if (at < 0) return { name: parts.join("_"), side: null };
  return { name: parts.filter((_, i) => i !== at).join("_"), side: /^r/i.test(parts[at]) ? "right" : "left" };
}

/** What a column is where it has no unit. */
const RATIO = /activation|excitation/i;

/** Whether a table holds activations: its name or its columns say so. */
const isActive = (file: string, t: Loaded) => RATIO.test(base(file)) || t.labels.some((l) => /\/activation$/.test(l));

/** The unit of a column, as far as its name and its table say. */
function unitOf(label: string, t: Loaded, file: string): string {
  if (isActive(file, t) && !/\/(value|speed)$/.test(label)) return "activation";
  // The path of a force says nothing about the quantity: /forceset/soleus_r/fiber_length.
  label = label.replace(/^\/forceset\/.*[/|]/, "");
  if (/activation|excitation|normalized/i.test(label)) return "";
  if (/fiber_length/i.test(label)) return "m";
  if (/_moment$|_torque_?[xyz]?$/i.test(label)) return "N·m";
  if (/_force$|_v[xyz]$|force/i.test(label)) return "N";
  if (/marker_error|_t[xyz]$|_p[xyz]$/i.test(label)) return "m";
  return t.degrees ? "°" : /\/value$/.test(label) ? "rad" : "";
}

/** Beginnings of the names of the lines over the cycle that a column belongs to. */
function sideName(label: string): string[] {
  const { name, side } = sided(label);
  return side ? [`${name}, ${side}`] : [`${name}, right`, `${name}, left`];
}

export function curves(app: App): HTMLElement {
  const tables = new Map<string, Loaded>();
  const chosen: Chosen[] = [];
  let cycles: Cycles | null = null;
  const which = h("select", { "aria-label": "Table" });
  const over = h("select", { "aria-label": "Curves over", "data-do": "over", title: "Over time, or all gait cycles: mean and standard deviation" },
    h("option", { value: "time" }, "over time"), h("option", { value: "cycle" }, "over the gait cycle"));
  const filter = h("input", { type: "search", placeholder: "Search columns", "aria-label": "Search columns" });
  const list = h("div", { class: "columns", role: "listbox", "aria-multiselectable": "true" });
  const chart = new Chart("Curves", (x) => app.seek(over.value === "cycle" ? timeOf(x) : x), ({ name }) => {
    // A line over the cycle stands for the columns of one side of all trials.
    const isIt = (c: Chosen) => (over.value === "time" ? nameOf(c) === name : sideName(c.label).some((n) => name.startsWith(`${n}:`)));
    chosen.splice(0, chosen.length, ...chosen.filter((c) => !isIt(c)));
    void draw();
  });
  const several = () => new Set(chosen.map((c) => c.file)).size > 1;
  /** Of the path of a component, the end. */
  const short = (label: string) => (label.startsWith("/") ? label.split("/").slice(-2).join("/") : label);
  /** What is added to the times of a motion that is drawn with the first one, s. */
  const shiftOf = (file: string) => {
    const other = app.doc.others.find((o) => o.motion.file === file && file !== app.doc.motion?.file);
    return other ? app.shiftOf(other) : 0;
  };
  const nameOf = (c: Chosen) => {
    const shift = shiftOf(c.file);
    const moved = shift === 0 ? "" : `, t ${shift < 0 ? "−" : "+"} ${digits(Math.abs(shift))} s`;
    return several() ? `${short(c.label)} (${stem(c.file)}${moved})` : short(c.label);
  };

  const load = async (file: string): Promise<Loaded> => {
    const kept = tables.get(file);
    if (kept) return kept;
    const a = await app.engine.call("table", { file });
    const t = { labels: a.value.labels, times: a.f64(a.value.times), columns: a.value.columns.map((c: any) => a.f64(c)), degrees: a.value.in_degrees };
    tables.set(file, t);
    return t;
  };

  /** The recorded markers that a table was computed from: those whose name it begins with. */
  const markersOf = (file: string): string | null => {
    const recorded = app.doc.files.filter((f) => ["trc", "c3d"].includes(ending(f)));
    return recorded.filter((f) => stem(file).startsWith(stem(f))).sort((a, b) => b.length - a.length)[0] ?? app.doc.measured?.file ?? recorded[0] ?? null;
  };

  /** Mean and deviation over the cycles of all trials that are chosen. */
  const loadCycles = async (): Promise<void> => {
    const files = [...new Set(chosen.map((c) => c.file))];
    if (cycles && files.length === cycles.files.length && files.every((f) => cycles!.files.includes(f))) return;
    const trials = files.map((f) => ({ markers: markersOf(f), loads: app.doc.motion?.file === f ? app.doc.motion.loads : null, curves: [f] }));
    if (app.engine.computes && trials.some((t) => t.markers === null)) throw new Error("gait cycles are found from recorded markers: open a .trc or .c3d file");
    const a = await app.engine.call("cycles", { trials });
    app.cycles = a;
    const numbers = (c: any) => ({ ...c, mean: a.f64(c.mean), sd: a.f64(c.sd) });
    cycles = { files, curves: a.value.curves.map(numbers), cycles: a.value.cycles, normative: { source: a.value.normative.source, curves: a.value.normative.curves.map(numbers) } };
  };

  const overTime = (): [Line[], Mark[]] => {
    const lines = chosen.map((c) => {
      const t = tables.get(c.file)!;
      const shift = shiftOf(c.file);
      return { name: nameOf(c), x: shift === 0 ? t.times : t.times.map((x) => x + shift), y: t.columns[t.labels.indexOf(c.label)] };
    });
    const marks = (cycles?.cycles ?? []).filter((c) => c.trial === 0).map((c) => ({ x: c.time[0], text: `${c.side} strike` }));
    return [lines, marks];
  };

  const overCycle = (): [Line[], Mark[]] => {
    const lines: Line[] = [];
    const wanted = new Map<string, Set<string>>();
    for (const c of chosen) {
      const { name, side } = sided(c.label);
      const sides = wanted.get(name) ?? new Set();
      for (const s of side ? [side] : ["right", "left"]) sides.add(s);
      wanted.set(name, sides);
    }
    for (const c of cycles!.curves)
      if (wanted.get(c.name)?.has(c.side)) lines.push({ name: `${c.name}, ${c.side}: ${c.cycles > 1 ? `mean ± SD of ${c.cycles}` : "1 cycle"}`, x: PERCENT, y: c.mean, sd: c.sd });
    for (const n of cycles!.normative.curves) {
      const like = lines.findIndex((l) => l.name.startsWith(`${n.name}, `));
      if (wanted.has(n.name)) lines.push({ name: `${n.name}, norm`, x: PERCENT, y: n.mean, sd: n.sd, isNorm: true, ...(like < 0 ? {} : { like }) });
    }
    return [lines, []];
  };

  /** The cycle that the cursor is in, of the side that is shown. */
  const cycleNow = (): Cycle | null => {
    const side = chosen.map((c) => sided(c.label).side).find((s) => s !== null) ?? "right";
    const own = (cycles?.cycles ?? []).filter((c) => c.side === side && c.trial === 0);
    return own.find((c) => app.doc.time >= c.time[0] && app.doc.time <= c.time[1]) ?? null;
  };
  const timeOf = (percent: number) => {
    const c = cycleNow() ?? cycles?.cycles.find((c) => c.trial === 0);
    return c ? c.time[0] + (percent / 100) * (c.time[1] - c.time[0]) : app.doc.time;
  };
  const point = () => {
    if (over.value === "time") return chart.point(app.doc.time);
    const c = cycleNow();
    chart.point(c ? (100 * (app.doc.time - c.time[0])) / (c.time[1] - c.time[0]) : null);
  };

  const draw = async () => {
    const isCycle = over.value === "cycle";
    try {
      if (isCycle && chosen.length > 0) await loadCycles();
    } catch (e) {
      over.value = "time";
      app.fail(e);
      return draw();
    }
    const [lines, marks] = isCycle && cycles ? overCycle() : overTime();
    const units = new Set(chosen.map((c) => unitOf(c.label, tables.get(c.file)!, c.file)));
    const files = chosen.length > 0 ? [...new Set(chosen.map((c) => base(c.file)))].join(", ") : "Curves";
    const title = isCycle && lines.some((l) => l.isNorm) ? `${files}; dashed: ${cycles!.normative.source}` : files;
    app.store.set({ curves: { chosen: [...chosen], table: which.value, over: isCycle ? "cycle" : "time" } });
    chart.set(lines, isCycle ? "gait cycle (%)" : "time (s)", [...units].filter(Boolean).join(", ") || "value", title, marks);
    point();
    fill();
  };

  const fill = () => {
    const t = tables.get(which.value);
    const wanted = filter.value.toLowerCase();
    const labels = (t?.labels ?? []).filter((l) => l.toLowerCase().includes(wanted)).slice(0, 500);
    list.replaceChildren(...labels.map((label) => {
      const on = chosen.some((c) => c.file === which.value && c.label === label);
      return h("button", { class: on ? "leaf on" : "leaf", role: "option", "aria-selected": String(on), title: label, "data-column": label, onclick: () => {
        const i = chosen.findIndex((c) => c.file === which.value && c.label === label);
        if (i >= 0) chosen.splice(i, 1);
        else chosen.push({ file: which.value, label });
        void draw();
      } }, short(label));
    }));
  };

  /** Columns of muscles, the most active first; reserves and other actuators are none. */
  const mostActive = (t: Loaded): string[] => {
    const muscles = new Set((app.doc.model?.paths ?? []).filter((p) => p.strength !== null).flatMap((p) => [p.name, p.path, `${p.path}/activation`]));
    const peak = (l: string) => t.columns[t.labels.indexOf(l)].reduce((a, x) => Math.max(a, Number.isFinite(x) ? x : 0), 0);
    return t.labels.filter((l) => muscles.has(l)).map((l) => ({ l, peak: peak(l) })).sort((a, b) => b.peak - a.peak).map(({ l }) => l);
  };

  const show = async (file: string, pick = true) => {
    try {
      tables.delete(file);
      cycles = null;
      const t = await load(file);
      if (![...which.options].some((o) => o.value === file)) which.append(h("option", { value: file }, base(file)));
      which.value = file;
      panel.hidden = false;
      if (pick && !chosen.some((c) => c.file === file)) {
        // The same columns of another trial are laid over those that are there.
        const same = chosen.filter((c) => t.labels.includes(c.label)).map((c) => c.label);
        if (same.length === 0) chosen.splice(0);
        const first = (isActive(file, t) ? mostActive(t) : t.labels.filter((l) => FIRST.test(l) && !/speed/.test(l))).slice(0, SHOWN_FIRST);
        for (const label of same.length > 0 ? new Set(same) : first.length > 0 ? first : t.labels.slice(0, 2)) chosen.push({ file, label });
      }
      for (const c of chosen) await load(c.file);
      await draw();
    } catch (e) {
      app.fail(e);
    }
  };
  which.addEventListener("change", () => void show(which.value, false));
  over.addEventListener("change", () => void draw());
  filter.addEventListener("input", fill);
  app.onTable = (f) => void show(f);
  app.onCurves = async (c, files) => {
    // The table of a motion is not shown anew when the motion is.
    last = files[0];
    for (const f of files) {
      await load(f);
      which.append(h("option", { value: f }, base(f)));
    }
    which.value = c.table;
    over.value = c.over;
    // Cycles cannot be found there.
    over.hidden = c.over !== "cycle";
    chosen.splice(0, chosen.length, ...c.chosen);
    panel.hidden = false;
    await draw();
  };
  let last = "";
  /** Motions that are drawn with the first one. */
  let beside: string[] = [];
  app.store.on(["motion", "others"], () => {
    const f = app.doc.motion?.file ?? "";
    // A motion that is still being solved has no file.
    if (f && f !== last && f !== LIVE) void show(f);
    last = f;
    // Curves of a motion that is drawn no longer go with it.
    const now = app.doc.others.map((o) => o.motion.file);
    const gone = beside.filter((g) => g !== f && !now.includes(g));
    beside = now;
    if (gone.length > 0) {
      chosen.splice(0, chosen.length, ...chosen.filter((c) => !gone.includes(c.file)));
      gone.forEach((g) => tables.delete(g));
      void draw();
    }
    for (const o of app.doc.others) if (!tables.has(o.motion.file)) void show(o.motion.file);
  });
  // Motions that begin together or not: their curves follow.
  app.store.on(["together", "others"], () => over.value === "time" && tables.size > 0 && void draw());
  app.store.on(["time"], seldom(point, () => (app.doc.playing ? SELDOM_MS : 0)));
  const panel = h("div", { class: "curves", hidden: true }, h("div", { class: "column picker" }, which, over, filter, list), chart.element);
  return panel;
}
