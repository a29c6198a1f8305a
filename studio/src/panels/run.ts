/** Run: a form for each tool, made of its request type; progress, cancel, results; and the same as a command and in Python. */

import type { App } from "../app";
import { base, download, ending, h, s as svg, stem, tool } from "../dom";
import { WorkerEngine, type Engine, type MarkerError } from "../engine/engine";
import { measure } from "./measure";

const get = (o: any, path: string) => path.split(".").reduce((x, k) => x?.[k], o);
function put(o: any, path: string, value: any): void {
  const keys = path.split(".");
  const last = keys.pop()!;
  for (const k of keys) o = o[k] ??= {};
  o[last] = value;
}

/** Marker errors over time so far, mm: a small picture without axes. */
function sketch(box: HTMLElement, errors: [number, MarkerError][]): void {
  if (errors.length < 2) return;
  const [w, h] = [240, 40];
  const list = [...errors].sort((a, b) => a[0] - b[0]);
  const [t0, t1] = [list[0][0], list[list.length - 1][0]];
  const top = Math.max(...list.map(([, e]) => e.max), 1e-6);
  const line = (of: (e: MarkerError) => number) => `M${list.map(([t, e]) => `${((w * (t - t0)) / (t1 - t0)).toFixed(1)} ${(h - (h * of(e)) / top).toFixed(1)}`).join("L")}`;
  box.replaceChildren(svg("svg", { viewBox: `0 -2 ${w} ${h + 4}`, preserveAspectRatio: "none" },
    svg("path", { d: line((e) => e.max), class: "max" }), svg("path", { d: line((e) => e.rms), class: "rms" })));
}

/** Results of more files than this are not all opened. */
const MANY = 12;

/** Fields that say where a request came from: not for users. */
const INTERNAL = ["asked_in", "is_derived"];

/** Groups whose lists are filled in one by one: all of their fields may be left out, or are asked for. Other lists are those of setup files, as JSON. */
const EDITED = ["GaitTrial", "RecordedTrial", "Part", "Turn", "Weight"];

/** Words for fields whose names say too little. */
const LABELS: Record<string, string> = { still: "static trial" };

const TEXT = ["txt", "json", "toml", "xml", "c", "h", "cu", "jl", "py", "rs", "csv", "sh", "log"];
const PICTURE: Record<string, string> = { svg: "image/svg+xml", png: "image/png" };
const FIGURE = ["osim", "trc", "c3d", "mot", "sto", "csv", "parquet"];
const showable = (name: string) => [...FIGURE, ...TEXT, ...Object.keys(PICTURE)].includes(ending(name));

/** Shows a result where it belongs: in the figure and the curves, or as text or as a picture. */
function showFile(app: App, f: { name: string; bytes: Uint8Array }): void {
  const kind = ending(f.name);
  if (FIGURE.includes(kind)) return void app.openAll([f.name]);
  const picture = PICTURE[kind];
  const url = picture ? URL.createObjectURL(new Blob([f.bytes as BlobPart], { type: picture })) : "";
  const content = picture ? h("img", { src: url, alt: base(f.name) }) : h("pre", {}, new TextDecoder().decode(f.bytes));
  const dialog = h("dialog", { class: "wide" }, h("h3", {}, base(f.name)), content,
    h("div", { class: "row" }, h("button", { class: "main", onclick: () => download(f.name, f.bytes as BlobPart) }, "Save"), h("button", { onclick: () => dialog.close() }, "Close")));
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (url) URL.revokeObjectURL(url);
  });
  document.body.append(dialog);
  dialog.showModal();
}

export function runPanel(app: App): HTMLElement {
  const box = h("div", { class: "column run" });
  let forms: any = null;
  let page: Promise<Engine> | null = null;
  let request: any = null;
  let current: any = null;
  const choose = h("select", { "aria-label": "Tool" });
  const form = h("div", { class: "form" });
  const where = h("select", { "aria-label": "Engine" });
  const same = h("pre", { class: "same" });
  const results = h("div", { class: "results" });

  const start = h("button", { class: "main", "data-do": "run", onclick: () => void go() }, "Run");
  const absent = h("p", { class: "faint", hidden: true, "data-absent": "" });
  /** Whether the engine that is chosen has a tool; a page without the program has fewer. */
  const isThere = (t: any): boolean => (app.engine.native && where.value === "page" ? t.in_page : t.here);
  const tellAbsent = () => {
    const there = isThere(current);
    start.disabled = !there;
    absent.hidden = there;
    absent.textContent = app.engine.native ? "This tool needs the program: choose it under Compute." : "This tool needs the program: `soleus studio` opens this page together with it.";
  };

  let loading: Promise<void> | null = null;
  const load = () => (loading ??= fetchForms());
  const fetchForms = async () => {
    forms = (await app.engine.call("tools")).value;
    const groups = new Map<string, any[]>();
    forms.tools = forms.tools.filter((t: any) => forms.types[t.request]);
    for (const t of forms.tools) groups.set(t.group, [...(groups.get(t.group) ?? []), t]);
    for (const [g, list] of groups) choose.append(h("optgroup", { label: g }, ...list.map((t) => h("option", { value: t.name }, isThere(t) ? t.title : `${t.title} (needs the program)`))));
    choose.value = "inverse_kinematics";
    where.replaceChildren(...(app.engine.native ? [h("option", { value: "native" }, "program, all cores")] : []), h("option", { value: "page" }, "in this page"));
    begin();
  };

  /** What the page filled in by itself, and may change again. */
  let filled = new Map<string, any>();

  /** A new form. */
  const begin = () => {
    current = forms.tools.find((t: any) => t.name === choose.value);
    request = structuredClone(current.defaults) ?? {};
    filled = new Map();
    if (current.name === "static_optimization") put(request, "reserves", [1]), put(request, "residuals", [10]);
    if (current.name === "gait" && app.doc.measured) put(request, "trials", [{ markers: app.doc.measured.file, loads: app.doc.motion?.loads ?? null, curves: app.doc.motion ? [app.doc.motion.file] : [] }]);
    if (current.name === "pipeline_of_trials" && app.doc.measured) put(request, "trials", [{ markers: app.doc.measured.file, loads: app.doc.motion?.loads ?? null }]);
    if (current.name === "inverse_dynamics") put(request, "exclude", ["muscles", "actuators"]);
    fill();
  };

  /** Fills the form with what is open; what the user wrote stays. */
  const fill = () => {
    const prefix = "tracking" in request ? "tracking." : "";
    const write = (path: string, value: string | null | undefined) => {
      const now = get(request, path);
      if (!value || now === undefined || (now && now !== filled.get(path))) return;
      put(request, path, value);
      filled.set(path, value);
    };
    const set = (path: string, value: string | null | undefined) => write(prefix + path, value);
    const [markers, loads] = [app.doc.measured?.file, app.doc.motion?.loads];
    set("model", app.doc.model ? app.editor.changedName() : null);
    if (typeof get(request, `${prefix}markers`) === "string") set("markers", app.doc.measured?.file);
    if (typeof get(request, `${prefix}motion`) === "string") set("motion", app.doc.motion?.file);
    set("kinematics", app.doc.motion?.file);
    set("loads", loads);
    if (current.name === "inverse" || current.name === "track") write("changes.loads", loads);
    // A motion is tracked rather than the markers that it came from.
    if (current.name === "track" && app.doc.motion) write("states", app.doc.motion.file);
    else if (current.name === "track") write("markers", markers);
    if (current.name === "scale" && markers)
      for (const group of ["factors", "placing"]) {
        if (!get(request, group)) put(request, group, {});
        if (get(request, `${group}.markers`) === undefined) put(request, `${group}.markers`, null);
        write(`${group}.markers`, markers);
      }
    if (current.name === "view") write("motion", app.doc.motion?.file);
    if (current.name === "plot") write("table", app.doc.motion?.file ?? markers);
    if (current.name === "file_info") write("file", app.doc.model?.file ?? markers);
    if (current.name === "upgrade") set("file", app.doc.model?.file);
    if (current.name === "convert") set("input", app.doc.measured?.file ?? app.doc.motion?.file);
    const data = get(request, `${prefix}markers`) || get(request, `${prefix}motion`) || app.doc.model?.file || "result";
    for (const [field, name] of current.output) write(field, name.replace("*", stem(data)));
    draw();
  };

  /** The engine of the page, where the program answers for the rest. */
  const pageEngine = async (): Promise<Engine> => {
    if (!app.engine.native) return app.engine;
    page ??= WorkerEngine.load();
    const engine = await page;
    const files = await Promise.all(app.doc.files.map(async (name) => {
      const a = await app.engine.call("read", { file: name });
      return { name, bytes: a.bytes(a.value.bytes) };
    }));
    await engine.call("put", {}, files);
    return engine;
  };

  /** Tools that were run once before their time. */
  const warm = new Set<string>();
  let warming: AbortController | null = null;

  /**
   * A browser translates WebAssembly quickly when a function is called first, and into fast code (four times faster here) when it was called often.
   * Inverse kinematics therefore solves frames of the trial, whose results nobody sees, while the user looks at the form.
   */
  const warmUp = async () => {
    if (current?.name !== "inverse_kinematics" || where.value !== "page" || warm.has(current.name)) return;
    const times = app.doc.measured?.times;
    if (!get(request, "model") || !get(request, "markers") || !times || times.length < 2) return;
    warm.add(current.name);
    warming = new AbortController();
    const { signal } = warming;
    box.dataset.warm = "begun";
    const short = { ...structuredClone(request), from: times[0], to: times[Math.min(times.length - 1, 240)] };
    try {
      const engine = await pageEngine();
      if (!signal.aborted) await engine.run("inverse_kinematics", short, () => {}, signal);
    } catch {
      // Whatever is wrong with the request is said when it is run.
    } finally {
      box.dataset.warm = "done";
      warming = null;
    }
  };

  /** What goes to the engine: nothing for a request without fields. */
  const asked = () => (current.defaults === null ? null : request);

  const tell = async () => {
    const a = await app.engine.call("same", { tool: current.name, request: asked() }).catch(() => null);
    if (!a) return;
    const { command, no_flag, python, no_keyword } = a.value;
    const none = (what: string, missing: string[], kind: string) => (missing.length > 0 ? `(no equivalent: ${what} has no ${kind} for ${missing.join(", ")})` : `(no equivalent in ${what})`);
    same.replaceChildren(h("b", {}, "Command\n"), command ?? none("the command", no_flag, "flag"), "\n\n", h("b", {}, "Python\n"), python ?? none("Python", no_keyword, "keyword"));
  };

  const field = (path: string, name: string, type: any, help: string): HTMLElement => {
    const value = get(request, path);
    // What `--help` says of the flag, where the command has one for this field.
    const about = help;
    help = current.helps?.[path] ?? help;
    const change = (v: any) => {
      put(request, path, v);
      void tell();
    };
    const label = h("span", {}, LABELS[name] ?? name.replaceAll("_", " "));
    const common = { "aria-label": name, title: help, "data-field": path };
    const numberOf = (text: string) => (text.trim() === "" ? null : Number(text));
    const [shown, told] = [measure(help, type.kind), measure(about, type.kind)];
    const unit = shown.unit || told.unit;
    const { least, most } = shown.most === null ? told : shown;
    const range = least === null || most === null ? "" : `${least} to ${most}`;
    let input: HTMLElement;
    switch (type.kind) {
      case "boolean":
        if (type.optional) {
          const chosen = (text: string) => (text === "" ? null : text === "yes");
          input = h("select", { ...common, onchange: (e: any) => change(chosen(e.target.value)) }, ...[["", "not set"], ["yes", "yes"], ["no", "no"]].map(([v, t]) => h("option", { value: v }, t)));
          (input as HTMLSelectElement).value = value === true ? "yes" : value === false ? "no" : "";
          break;
        }
        input = h("input", { type: "checkbox", checked: value === true, ...common, onchange: (e: any) => change(e.target.checked) });
        break;
      case "number":
      case "integer":
        input = h("input", { type: "number", step: type.kind === "integer" ? 1 : "any", ...(least === null ? {} : { min: least }), ...(most === null ? {} : { max: most }), value: value ?? "",
          placeholder: range || (type.optional ? "not set" : ""), ...common, onchange: (e: any) => {
            e.target.reportValidity();
            change(numberOf(e.target.value));
          } });
        break;
      case "choice":
        input = h("select", { ...common, onchange: (e: any) => change(e.target.value === "" ? null : e.target.value) }, ...(type.optional ? [h("option", { value: "" }, "not set")] : []),
          ...forms.types[type.type].choices.map(([v, t]: string[]) => h("option", { value: v, title: t }, v)));
        (input as HTMLSelectElement).value = typeof value === "string" ? value : "";
        break;
      case "file": {
        const id = `files-${path}`;
        input = h("span", { class: "file" }, h("input", { type: "text", list: id, value: value ?? "", placeholder: type.optional ? "none" : "a file", ...common, onchange: (e: any) => change(e.target.value.trim() || (type.optional ? null : "")) }),
          h("datalist", { id }, ...app.doc.files.filter((f) => (type.for === "model" ? ending(f) === "osim" : type.for === "table" ? ending(f) !== "osim" : true)).map((f) => h("option", { value: f }))));
        break;
      }
      case "text":
        input = h("input", { type: "text", value: value ?? "", placeholder: type.optional ? "not set" : "", ...common, onchange: (e: any) => change(e.target.value.trim() === "" && type.optional ? null : e.target.value) });
        break;
      case "group": {
        const inner = forms.types[type.type].fields.filter((f: any) => !INTERNAL.includes(f.name)).map((f: any) => [`${path}.${f.name}`, f.name, f.type, f.help] as const);
        const body = h("div", { class: "group" });
        const fill = () => body.replaceChildren(...inner.map((i: any) => field(i[0], i[1], i[2], i[3])));
        const on = value !== null && value !== undefined;
        const details = h("details", { open: on && (!type.optional || current.first.includes(path)), title: help }, h("summary", {}, label), body);
        if (type.optional) {
          // Its own fields have defaults of their own, which are filled in by the engine.
          details.addEventListener("toggle", () => {
            if (details.open && !get(request, path)) change({});
            fill();
          });
        }
        fill();
        return details;
      }
      case "list": {
        if (EDITED.includes(type.of.type)) return listOf(path, name, type, help);
        if (type.of.kind === "list" && type.of.of.kind === "text") {
          // Pairs of names, as the command takes them.
          const pairs = (value ?? []).map((p: string[]) => p.join("=")).join(", ");
          input = h("input", { type: "text", value: pairs, placeholder: "A=B, C=D", ...common, onchange: (e: any) => {
            const list = e.target.value.split(",").map((p: string) => p.trim()).filter((p: string) => p !== "");
            const odd = list.find((p: string) => p.split("=").length !== 2);
            if (odd !== undefined) app.fail(new Error(`${odd}: write a pair of names, such as R.Knee=RLFC`));
            else change(list.map((p: string) => p.split("=").map((n) => n.trim())));
          } });
          break;
        }
        const simple = ["number", "text", "file", "integer"].includes(type.of.kind);
        const text = simple ? (value ?? []).join(", ") : JSON.stringify(value ?? []);
        input = h("input", { type: "text", value: text, placeholder: "none", ...common, onchange: (e: any) => {
          const t = e.target.value.trim();
          try {
            change(!simple ? JSON.parse(t || "[]") : t === "" ? (type.optional ? null : []) : t.split(",").map((x: string) => (type.of.kind === "number" || type.of.kind === "integer" ? Number(x) : x.trim())));
          } catch (error) {
            app.fail(error);
          }
        } });
        break;
      }
      default:
        input = h("input", { type: "text", value: value === undefined || value === null ? "" : JSON.stringify(value), placeholder: "not set", ...common, onchange: (e: any) => {
          try {
            // What is left out has its default.
            change(e.target.value.trim() === "" ? (value === null ? null : undefined) : JSON.parse(e.target.value));
          } catch (error) {
            app.fail(error);
          }
        } });
    }
    const numeric = ["number", "integer", "list"].includes(type.kind);
    return h("label", { class: "property", title: help }, label, input, (numeric && (unit || range) && h("small", { class: "faint", "data-unit": path }, unit || range)) || "");
  };

  /** A list of groups: one box for each, to be added and taken out. */
  const listOf = (path: string, name: string, type: any, help: string): HTMLElement => {
    const items = h("div", { class: "items" });
    const one = name.replaceAll("_", " ").replace(/(ie)?s$/, (_, ie) => (ie ? "y" : ""));
    const list = (): any[] => get(request, path) ?? [];
    // A choice that cannot be left out has its first one.
    const empty = () => Object.fromEntries(forms.types[type.of.type].fields.filter((f: any) => f.type.kind === "choice" && !f.type.optional).map((f: any) => [f.name, forms.types[f.type.type].choices[0][0]]));
    const fill = () => {
      items.replaceChildren(...list().map((_, i) => h("fieldset", { class: "item" },
        h("legend", {}, `${one} ${i + 1} `, tool("remove", `Remove ${one} ${i + 1}`, () => replace(list().filter((_, k) => k !== i)), { class: "tool tiny", "data-remove-item": path })),
        ...forms.types[type.of.type].fields.map((f: any) => field(`${path}.${i}.${f.name}`, f.name, f.type, f.help)))));
    };
    const replace = (next: any[]) => {
      put(request, path, next);
      fill();
      void tell();
    };
    fill();
    return h("div", { class: "list", title: help }, h("div", { class: "row" }, h("span", {}, name.replaceAll("_", " ")), h("span", { class: "space" }),
      h("button", { class: "small", "data-add-item": path, onclick: () => replace([...list(), empty()]) }, `Add ${one}`)), items);
  };

  const draw = () => {
    const all: any[] = forms.types[current.request].fields ?? [];
    const find = (path: string) => {
      const keys = path.split(".");
      let fields = all;
      let found: any = null;
      for (const k of keys) {
        found = fields.find((f: any) => f.name === k);
        fields = found?.type.type ? (forms.types[found.type.type].fields ?? []) : [];
      }
      return found;
    };
    const first = current.first.map((p: string) => field(p, p.split(".").pop()!, find(p).type, find(p).help));
    const rest = all.filter((f) => !current.first.includes(f.name) && !INTERNAL.includes(f.name)).map((f) => field(f.name, f.name, f.type, f.help));
    form.replaceChildren(h("p", { class: "faint" }, current.about.split("```")[0]), ...first, rest.length > 0 ? h("details", {}, h("summary", {}, "All settings"), ...rest) : "");
    tellAbsent();
    void tell();
    void warmUp();
  };

  const go = async () => {
    const stop = new AbortController();
    const bar = h("progress", { max: 1 });
    const line = h("small", { class: "faint" }, "starting");
    const log = h("div", { class: "log" });
    const cancel = h("button", { class: "small", "data-do": "cancel", onclick: () => stop.abort() }, "Cancel");
    const title = h("strong", {}, current.title);
    const card = h("div", { class: "result", "data-state": "running" }, h("div", { class: "row" }, title, h("span", { class: "space" }), cancel), bar, line, log);
    // Marker errors as they come.
    const errors: [number, MarkerError][] = [];
    const errorsLine = h("div", { class: "sketch", "data-errors": "" });
    const worst = h("small", { class: "faint" });
    card.append(errorsLine, worst);
    results.prepend(card);
    card.scrollIntoView({ block: "nearest" });
    try {
      if (app.doc.model && app.doc.done > 0) {
        await app.engine.call("write_model", { model: app.doc.model.id, file: app.editor.changedName() });
        await app.list();
      }
      warming?.abort();
      const engine = where.value === "page" ? await pageEngine() : app.engine;
      const begun = performance.now();
      const ran = await engine.run(current.name, asked(), (t) => {
        if (t.progress) {
          const p = t.progress;
          if (p.total) bar.value = p.done / p.total;
          line.textContent = `${Math.round(p.done * 1000) / 1000}${p.total ? ` of ${p.total}` : ""} ${p.what}${p.detail ? `: ${p.detail}` : ""}`;
        }
        if (t.reached) {
          const e = t.reached.error;
          if (e) {
            errors.push([t.reached.times[0], e]);
            sketch(errorsLine, errors);
            worst.textContent = `marker error ${(1000 * e.rms).toFixed(1)} mm RMS, largest ${(1000 * e.max).toFixed(1)} mm (${e.worst})`;
          }
          void app.showReached(t.reached, `${current.title}: ${line.textContent}`);
        }
        // Files are listed below; they are not where their names say before they are saved.
        if (t.note && !t.note.startsWith("wrote ")) log.append(h("div", {}, t.note));
        if (t.diagnostic) log.append(h("div", { class: t.diagnostic.severity }, t.diagnostic.message, t.diagnostic.hint ? ` (${t.diagnostic.hint})` : ""));
      }, stop.signal);
      const seconds = (performance.now() - begun) / 1000;
      bar.remove();
      line.textContent = `${ran.verdict ? "not everything was solved" : "done"} in ${seconds.toFixed(seconds < 10 ? 2 : 0)} s (${engine.title})`;
      if (ran.verdict) log.append(h("div", { class: "error" }, ran.verdict));
      card.dataset.state = "done";
      card.dataset.seconds = String(ran.seconds);
      log.append(h("div", { class: "files" }, ...ran.files.map((f) => h("span", { class: "entry-row" },
        showable(f.name) ? h("button", { class: "link", title: "Show", "data-show": base(f.name), onclick: () => showFile(app, f) }, base(f.name)) : h("span", {}, base(f.name)),
        h("button", { class: "small", title: `Save ${base(f.name)}`, onclick: () => download(f.name, f.bytes as BlobPart) }, "Save")))));
      (window as any).lastRun = ran;
      await app.add(ran.files, false);
      // The model first, then the motion, then what colors it.
      const shown = ran.files.map((f) => f.name).filter((n) => FIGURE.includes(ending(n)) && !/error|locations|force|controls|missing|summary/i.test(base(n)));
      const first = (kinds: RegExp) => shown.filter((n) => kinds.test(n)).slice(0, 1);
      // Of many trials the first one is shown; the others are among the files.
      await app.openAll(shown.length > MANY ? [...first(/\.osim$/i), ...first(/(ik|motion|states)\.(mot|sto)$/i)] : shown);
    } catch (e: any) {
      bar.remove();
      line.textContent = e.kind === "Cancelled" ? "stopped" : "failed";
      card.dataset.state = e.kind === "Cancelled" ? "stopped" : "failed";
      if (e.kind !== "Cancelled") log.append(h("div", { class: "error" }, e.message));
    } finally {
      app.endReached();
      cancel.remove();
    }
  };

  app.showForm = (tool, field, file) => {
    box.dispatchEvent(new Event("wanted"));
    void load().then(() => {
      choose.value = tool;
      begin();
      put(request, field, file);
      draw();
    });
  };
  choose.addEventListener("change", begin);
  where.addEventListener("change", () => {
    if (current) tellAbsent();
    void warmUp();
  });
  box.append(h("label", { class: "property wide" }, h("span", {}, "Tool"), choose), form,
    h("label", { class: "property wide" }, h("span", {}, "Compute"), where),
    h("div", { class: "row" }, start, h("button", { class: "small", onclick: () => begin() }, "Use open files")), absent, results,
    h("details", {}, h("summary", {}, "Command and Python code"), same));
  app.store.on(["model", "motion", "measured", "done"], () => forms && current && fill());
  void load().catch(() => box.replaceChildren(h("p", { class: "faint" }, "Tools cannot be run in a shared page.")));
  return box;
}
