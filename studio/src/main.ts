/** The page: panels around the figure. */

import "./style.css";
import { App, type Note } from "./app";
import { base, digits, download, ending, h, icon, tool } from "./dom";
import { SocketEngine, WorkerEngine, type Engine } from "./engine/engine";
import type { NamedBytes } from "./engine/message";
import { curves } from "./panels/curves";
import { inspector, sliders, tree } from "./panels/explore";
import { predictPanel, runPanel } from "./panels/run";
import { carried, share } from "./share";
import { ACTIVATION } from "./view/palette";
import { Figure } from "./view/scene";

const LAYERS: [string, string][] = [
  ["bodies", "Bones"], ["muscles", "Muscles"], ["wraps", "Wrap surfaces"], ["contacts", "Contact"], ["markers", "Model markers"],
  ["measured", "Measured markers"], ["forces", "Forces"], ["center", "Mass centre"], ["floor", "Floor"],
];

/** All files of what was dropped, folders too, by their paths. */
async function dropped(items: DataTransferItemList): Promise<NamedBytes[]> {
  const out: NamedBytes[] = [];
  const walk = async (entry: any, path: string): Promise<void> => {
    if (entry.isFile) {
      const file: File = await new Promise((resolve, reject) => entry.file(resolve, reject));
      out.push({ name: path + file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
    } else {
      const reader = entry.createReader();
      for (;;) {
        const list: any[] = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (list.length === 0) break;
        for (const e of list) await walk(e, `${path}${entry.name}/`);
      }
    }
  };
  const entries = [...items].map((i) => i.webkitGetAsEntry()).filter(Boolean);
  for (const e of entries) await walk(e, "");
  return out;
}

async function start(): Promise<void> {
  const root = document.getElementById("studio")!;
  const canvas = h("canvas", { "aria-label": "The model in three dimensions", tabindex: 0 });
  const shared = await carried();
  let engine: Engine;
  if (shared) engine = shared.engine;
  else {
    // The program that serves this page says so; static files do not.
    const native = document.cookie.split("; ").includes("soleus_native=1");
    const socket = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/engine`;
    try {
      engine = native ? await SocketEngine.open(socket) : await WorkerEngine.load();
    } catch (e) {
      root.replaceChildren(h("p", { class: "failure" }, `Studio cannot start: ${(e as Error).message}`));
      return;
    }
  }
  const figure = new Figure(canvas);
  const app = new App(engine, figure);
  const doc = app.doc;

  // The bar on top.
  const chooser = h("input", { type: "file", multiple: true, hidden: true, "data-do": "choose", onchange: async () => {
    const files = await Promise.all([...chooser.files!].map(async (f) => ({ name: f.name, bytes: new Uint8Array(await f.arrayBuffer()) })));
    chooser.value = "";
    await app.add(files).catch((e) => app.fail(e));
  } });
  const title = h("span", { class: "title" });
  const undo = tool("undo", "Undo (Ctrl Z)", () => void app.undo(), { "data-do": "undo" });
  const redo = tool("redo", "Redo (Ctrl Y)", () => void app.redo(), { "data-do": "redo" });
  const save = async () => {
    if (!doc.model) return;
    const a = await app.call("write_model", { model: doc.model.id });
    download(base(app.changedName()), a.value.text, "application/xml");
  };
  const changes = h("button", { class: "small", "data-do": "changes", hidden: true, onclick: async () => {
    const a = await app.call("difference", { model: doc.model!.id });
    const list = doc.edits.slice(0, doc.done).map((e) => `${e.path}  ${e.name}: ${e.before ?? "(default)"} → ${e.after ?? "(default)"}`);
    const dialog = h("dialog", {}, h("h3", {}, "Changes"), h("pre", { "data-changes": "" }, list.join("\n"), "\n\n", a.value.lines.join("\n")),
      h("div", { class: "row" }, h("button", { class: "main", onclick: () => void save() }, "Save .osim"), h("button", { onclick: () => dialog.remove() }, "Close")));
    document.body.append(dialog);
    dialog.showModal();
  } });
  const theme = () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    paint();
  };
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    figure.theme(style.getPropertyValue("--scene").trim(), style.getPropertyValue("--grid").trim());
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  const top = h("header", {}, h("span", { class: "brand" }, "Soleus ", h("b", {}, "Studio")), title, h("span", { class: "space" }), changes,
    ...(shared ? [] : [tool("open", "Open files (Ctrl O)", () => chooser.click()), undo, redo, tool("save", "Save the model (Ctrl S)", () => void save()),
      tool("share", "Share: one HTML file", () => void share(app), { "data-do": "share" })]), tool("theme", "Light or dark", theme), chooser);

  // On the left: files, the model, tools.
  const fileList = h("div", { class: "files" });
  const showFiles = () => {
    fileList.replaceChildren(...doc.files.filter((f) => !/\.(vtp|stl|obj)$/i.test(f)).map((f) => h("div", { class: "file-row" },
      h("button", { class: [doc.model?.file, doc.motion?.file, doc.measured?.file].includes(f) ? "leaf on" : "leaf", title: f, "data-file": f, onclick: () => void app.open(f).catch((e) => app.fail(e)) },
        h("span", {}, base(f)), h("small", {}, ending(f))),
      (ending(f) === "xml" || ending(f) === "sto" || ending(f) === "mot") && doc.motion && h("button", { class: "small", title: "Draw these loads with the motion", onclick: () => void app.openMotion(doc.motion!.file, { loads: f }).catch((e) => app.fail(e)) }, "loads"))));
    if (doc.files.length === 0) fileList.append(h("p", { class: "faint" }, "Drop files anywhere: .osim, .trc, .c3d, .mot, .sto, setup XML. A model with its folder of meshes can be dropped whole."));
  };
  app.store.on(["files", "model", "motion", "measured"], showFiles);
  const tabs: [string, HTMLElement][] = shared ? [["Motion", sliders(app)]] : [
    ["Files", fileList], ["Explore", tree(app)], ["Run", runPanel(app)], ["Predict", predictPanel(app)],
  ];
  const left = h("aside", { class: "left" });
  const bar = h("div", { class: "tabs", role: "tablist" });
  const choose = (name: string) => {
    for (const b of bar.children) b.setAttribute("aria-selected", String(b.textContent === name));
    for (const [n, e] of tabs) e.hidden = n !== name;
  };
  for (const [name] of tabs) bar.append(h("button", { role: "tab", onclick: () => choose(name) }, name));
  left.append(bar, ...tabs.map(([, e]) => e));
  choose(tabs[0][0]);

  // In the middle: the figure.
  const legend = h("div", { class: "legend-activation", hidden: true }, h("span", {}, "activation 0"),
    h("i", { style: `background:linear-gradient(90deg,${ACTIVATION.map((c) => `rgb(${c.join(" ")})`).join(",")})` }), h("span", {}, "1"));
  const views = h("div", { class: "views" }, ...(["side", "front", "back", "top", "three-quarters"] as const).map((v, i) =>
    h("button", { class: "small", title: `View (${i + 1})`, onclick: () => figure.view(v) }, v === "three-quarters" ? "3/4" : v)));
  const switches = h("details", { class: "layers" }, h("summary", {}, "Show"), ...LAYERS.map(([key, text]) => h("label", {},
    h("input", { type: "checkbox", checked: doc.layers[key], "data-layer": key, onchange: (e: any) => app.store.set({ layers: { ...doc.layers, [key]: e.target.checked } }) }), text)));
  const hint = h("div", { class: "hint" }, h("p", {}, "Drop a model here"), h("small", {}, ".osim with its meshes, then .trc, .c3d, .mot or .sto. Nothing leaves this machine."));
  const stage = h("main", {}, canvas, h("div", { class: "overlay" }, views, switches), legend, hint);
  new ResizeObserver(() => figure.resize(stage.clientWidth, stage.clientHeight)).observe(stage);
  let down: [number, number] | null = null;
  canvas.addEventListener("pointerdown", (e) => (down = [e.clientX, e.clientY]));
  canvas.addEventListener("pointerup", (e) => {
    if (!down || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 4) return;
    const b = canvas.getBoundingClientRect();
    const hit = figure.pick(((e.clientX - b.left) / b.width) * 2 - 1, 1 - ((e.clientY - b.top) / b.height) * 2);
    app.store.set({ selection: app.pathOf(hit) });
  });

  // On the right: what is chosen, and sliders.
  const right = h("aside", { class: "right" }, ...(shared ? [] : [inspector(app), sliders(app)]));

  // Below: time and curves.
  const play = tool("play", "Play or pause (space)", () => app.play(), { "data-do": "play" });
  const scrub = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time", "data-do": "scrub" });
  scrub.addEventListener("input", () => app.seek(Number(scrub.value)));
  const clock = h("output", { class: "clock" }, "");
  const speed = h("select", { "aria-label": "Speed", title: "Speed", onchange: () => app.store.set({ speed: Number(speed.value) }) }, ...[0.1, 0.25, 0.5, 1, 2].map((v) => h("option", { value: v }, `${v}×`)));
  speed.value = "1";
  const loop = tool("loop", "Loop", () => app.store.set({ loop: !doc.loop }), { "aria-pressed": "true" });
  const follow = h("label", { class: "check" }, h("input", { type: "checkbox", "data-do": "follow", onchange: (e: any) => app.store.set({ follow: e.target.checked }) }), "follow");
  const timeline = h("div", { class: "timeline" }, tool("first", "To the start (Home)", () => app.seek(-Infinity)), play, scrub, clock, speed, loop, follow);
  const low = h("footer", {}, timeline, curves(app));
  const times = () => {
    const t = app.times;
    low.classList.toggle("still", !t);
    if (t && t.length > 0) [scrub.min, scrub.max] = [String(t[0]), String(t[t.length - 1])];
  };
  app.store.on(["motion", "measured"], times);
  times();
  app.store.on(["time", "motion"], () => {
    if (document.activeElement !== scrub) scrub.value = String(doc.time);
    else scrub.value = String(doc.time);
    clock.textContent = app.times ? `${doc.time.toFixed(3)} s` : "";
  });
  app.store.on(["playing"], () => play.replaceChildren(icon(doc.playing ? "pause" : "play")));
  app.store.on(["loop"], () => loop.setAttribute("aria-pressed", String(doc.loop)));
  app.store.on(["follow"], () => (follow.querySelector("input")!.checked = doc.follow));
  app.store.on(["motion"], () => (legend.hidden = !doc.motion?.hasActivations));
  app.store.on(["model", "measured"], () => {
    hint.hidden = doc.model !== null || doc.measured !== null;
    const m = doc.model;
    title.textContent = m ? `${m.name}: ${digits(m.mass)} kg, ${m.coordinates.length} coordinates, ${m.paths.length} muscles and paths` : "";
  });
  const history = () => {
    undo.disabled = doc.done === 0;
    redo.disabled = doc.done === doc.edits.length;
    changes.hidden = doc.done === 0;
    changes.textContent = `${doc.done} change${doc.done === 1 ? "" : "s"}`;
  };
  app.store.on(["edits", "done"], history);
  history();

  // Words.
  const toasts = h("div", { class: "toasts", role: "status" });
  app.onNote = (n: Note) => {
    const t = h("div", { class: `toast ${n.kind}` }, h("span", {}, n.text), n.hint ? h("small", {}, n.hint) : null, tool("close", "Close", () => t.remove(), { class: "tool tiny" }));
    toasts.append(t);
    if (n.kind !== "error") setTimeout(() => t.remove(), 9000);
    while (toasts.childElementCount > 4) toasts.firstElementChild!.remove();
  };
  window.addEventListener("engine-gone", () => app.say({ kind: "error", text: "The program has ended. Start `soleus studio` again." }));

  window.addEventListener("dragover", (e) => e.preventDefault());
  window.addEventListener("drop", async (e) => {
    e.preventDefault();
    if (e.dataTransfer) await app.add(await dropped(e.dataTransfer.items)).catch((error) => app.fail(error));
  });
  window.addEventListener("keydown", (e) => {
    const typing = e.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && (e.target as HTMLInputElement).type !== "range";
    const ctrl = e.ctrlKey || e.metaKey;
    const act = (f: () => void) => (e.preventDefault(), f());
    if (ctrl && e.key === "z" && !e.shiftKey) return typing ? undefined : act(() => void app.undo());
    if (ctrl && (e.key === "y" || (e.key.toLowerCase() === "z" && e.shiftKey))) return typing ? undefined : act(() => void app.redo());
    if (ctrl && e.key === "s") return act(() => void save());
    if (ctrl && e.key === "o") return act(() => chooser.click());
    if (typing || ctrl || e.altKey) return;
    if (e.key === " " && !(e.target instanceof HTMLButtonElement)) act(() => app.play());
    else if (e.key === "ArrowLeft" && !(e.target instanceof HTMLInputElement)) act(() => app.step(-1));
    else if (e.key === "ArrowRight" && !(e.target instanceof HTMLInputElement)) act(() => app.step(1));
    else if (e.key === "Home") act(() => app.seek(-Infinity));
    else if (e.key === "End") act(() => app.seek(Infinity));
    else if (e.key === "Escape") app.store.set({ selection: null });
    else if ("12345".includes(e.key)) figure.view((["side", "front", "back", "top", "three-quarters"] as const)[Number(e.key) - 1]);
  });

  root.replaceChildren(top, left, stage, right, low, toasts);
  root.classList.toggle("shared", shared !== null);
  paint();
  figure.resize(stage.clientWidth, stage.clientHeight);
  (window as any).studio = app;
  showFiles();
  if (shared) {
    const { data } = shared;
    const q: Record<string, number> = {};
    for (const c of data.model.coordinates) q[c.name] = c.default;
    app.store.set({ model: data.model, q, layers: data.layers });
    const scene = await engine.call("scene");
    const strength = new Map<string, number | null>(data.model.paths.map((p: any) => [p.name, p.strength]));
    figure.show(scene, scene.value.paths.map((p: string) => strength.get(p) ?? null));
    await app.pose();
    figure.view("three-quarters");
    if (data.motion) app.store.set({ motion: { ...data.motion, times: new Float64Array(data.times) }, time: data.times[0] });
  } else {
    await app.list();
    await app.openAll(doc.files);
  }
  document.documentElement.dataset.ready = "1";
}

void start();
