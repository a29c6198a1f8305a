/** The page: panels around the figure. */

import "./style.css";
import { App, type Note } from "./app";
import { base, digits, download, h, tool } from "./dom";
import { SocketEngine, WorkerEngine, type Engine } from "./engine/engine";
import type { NamedBytes } from "./engine/message";
import { listen, showKeys } from "./keys";
import { curves } from "./panels/curves";
import { inspector, sliders, tree } from "./panels/explore";
import { comparison, filesPanel } from "./panels/files";
import { predictPanel } from "./panels/predict";
import { runPanel } from "./panels/run";
import { stage } from "./panels/stage";
import { timeline } from "./panels/timeline";
import { carried, restore, share } from "./share";
import { Figure } from "./view/figure";

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
  // Both at once: the list is gone when this function has waited for something.
  const list = [...items].map((i) => ({ entry: i.webkitGetAsEntry(), file: i.getAsFile() }));
  for (const { entry, file } of list)
    if (entry) await walk(entry, "");
    // What is dragged from another program is not always an entry.
    else if (file) out.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
  return out;
}

/** The engine of this page: the program that serves it writes a mark into it; static files have none. */
async function engineOfPage(): Promise<Engine> {
  const native = document.querySelector("meta[name=soleus-engine]") !== null;
  const socket = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/engine`;
  return native ? SocketEngine.open(socket) : WorkerEngine.load();
}

/** The bar on top, and what its buttons do. */
function topBar(app: App, isShared: boolean, paint: () => void): { bar: HTMLElement; open: () => void; save: () => void } {
  const { doc, store } = app;
  const chooser = h("input", { type: "file", multiple: true, hidden: true, "data-do": "choose", onchange: async () => {
    const files = await Promise.all([...chooser.files!].map(async (f) => ({ name: f.name, bytes: new Uint8Array(await f.arrayBuffer()) })));
    chooser.value = "";
    await app.add(files).catch((e) => app.fail(e));
  } });
  const title = h("span", { class: "title" });
  const undo = tool("undo", "Undo (Ctrl Z)", () => void app.editor.undo(), { "data-do": "undo" });
  const redo = tool("redo", "Redo (Ctrl Y)", () => void app.editor.redo(), { "data-do": "redo" });
  const save = async () => {
    if (!doc.model) return;
    const a = await app.call("write_model", { model: doc.model.id });
    app.editor.saved();
    download(base(app.editor.changedName()), a.value.text, "application/xml");
  };
  const changes = h("button", { class: "small", "data-do": "changes", hidden: true, onclick: async () => {
    const a = await app.call("difference", { model: doc.model!.id });
    const dialog = h("dialog", {}, h("h3", {}, "Changes"), h("pre", { "data-changes": "" }, app.editor.lines().join("\n"), "\n\n", a.value.lines.join("\n")),
      h("div", { class: "row" }, h("button", { class: "main", onclick: () => void save() }, "Save .osim"), h("button", { onclick: () => dialog.remove() }, "Close")));
    document.body.append(dialog);
    dialog.showModal();
  } });
  const theme = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    paint();
  };
  const history = () => {
    undo.disabled = doc.done === 0;
    redo.disabled = doc.done === doc.edits.length;
    changes.hidden = doc.done === 0;
    changes.textContent = `${doc.done} change${doc.done === 1 ? "" : "s"}`;
  };
  store.on(["edits", "done"], history);
  history();
  store.on(["model"], () => {
    const m = doc.model;
    title.textContent = m ? `${m.name}: ${digits(m.mass)} kg, ${m.coordinates.length} coordinates, ${m.paths.length} muscles and paths` : "";
  });
  const keep = tool("save", "Save the model (Ctrl S)", () => void save());
  const give = tool("share", "Share: one HTML file", () => void share(app), { "data-do": "share" });
  const usable = () => (keep.disabled = give.disabled = doc.model === null);
  store.on(["model"], usable);
  usable();
  const working = isShared ? [] : [tool("open", "Open files (Ctrl O)", () => chooser.click()), undo, redo, keep, give];
  const bar = h("header", {}, h("span", { class: "brand" }, "Soleus ", h("b", {}, "Studio")), title, h("span", { class: "space" }), changes, ...working,
    tool("theme", "Light or dark", theme), tool("help", "Keys (?)", showKeys), chooser);
  return { bar, open: () => chooser.click(), save: () => void save() };
}

/** Panels behind tabs. */
function tabbed(tabs: [string, HTMLElement][]): { panel: HTMLElement; choose: (name: string) => void } {
  const bar = h("div", { class: "tabs", role: "tablist" });
  const choose = (name: string) => {
    for (const b of bar.children) b.setAttribute("aria-selected", String(b.textContent === name));
    for (const [n, e] of tabs) e.hidden = n !== name;
  };
  for (const [name, panel] of tabs) {
    bar.append(h("button", { role: "tab", onclick: () => choose(name) }, name));
    panel.addEventListener("wanted", () => choose(name));
  }
  choose(tabs[0][0]);
  document.addEventListener("studio-tab", (e) => choose((e as CustomEvent<string>).detail));
  return { panel: h("aside", { class: "left" }, bar, ...tabs.map(([, e]) => e)), choose };
}

/** What is said to the user. */
function toasts(app: App): HTMLElement {
  const box = h("div", { class: "toasts", role: "status" });
  app.onNote = (n: Note) => {
    const t = h("div", { class: `toast ${n.kind}` }, h("span", {}, n.text), n.hint ? h("small", {}, n.hint) : null, tool("close", "Close", () => t.remove(), { class: "tool tiny" }));
    box.append(t);
    if (n.kind !== "error") setTimeout(() => t.remove(), 5000);
    while (box.childElementCount > 3) box.firstElementChild!.remove();
  };
  window.addEventListener("engine-gone", () => app.say({ kind: "error", text: "The program has ended. Start `soleus studio` again." }));
  return box;
}

async function start(): Promise<void> {
  const root = document.getElementById("studio")!;
  const shared = await carried();
  let engine: Engine;
  try {
    engine = shared?.engine ?? (await engineOfPage());
  } catch (e) {
    root.replaceChildren(h("p", { class: "failure" }, `Studio cannot start: ${(e as Error).message}`));
    return;
  }
  const canvas = h("canvas", { "aria-label": "The model in three dimensions", tabindex: 0 });
  const figure = new Figure(canvas);
  // Until it is known whether there are files to show.
  figure.held = shared === null;
  const app = new App(engine, figure);
  // Asked for now, so that the engine answers while the panels are made.
  const files = shared ? null : app.files();
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    figure.theme(style.getPropertyValue("--scene").trim(), style.getPropertyValue("--grid").trim());
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

  const top = topBar(app, shared !== null, paint);
  const left = tabbed(shared ? [["Motion", h("div", { class: "column" }, comparison(app), sliders(app))]] : [["Files", filesPanel(app)], ["Explore", tree(app)], ["Run", runPanel(app)], ["Predict", predictPanel(app)]]);
  const main = stage(app, canvas);
  const right = h("aside", { class: "right" }, ...(shared ? [] : [inspector(app), sliders(app)]));
  const low = h("footer", {}, timeline(app), curves(app));
  const words = toasts(app);
  listen(app, { open: top.open, save: top.save, search: () => {
    left.choose("Explore");
    left.panel.querySelector<HTMLInputElement>("[aria-label='Search the model']")?.focus();
  } });
  // The browser asks before changes are lost.
  window.addEventListener("beforeunload", (e) => {
    if (app.editor.isUnsaved) e.preventDefault();
  });
  window.addEventListener("dragover", (e) => e.preventDefault());
  window.addEventListener("drop", async (e) => {
    e.preventDefault();
    if (e.dataTransfer && !shared) await app.add(await dropped(e.dataTransfer.items)).catch((error) => app.fail(error));
  });

  main.append(words);
  root.replaceChildren(top.bar, left.panel, main, right, low);
  root.classList.toggle("shared", shared !== null);
  paint();
  figure.resize(main.clientWidth, main.clientHeight);
  (window as any).studio = app;
  if (shared) {
    await restore(app, shared.data);
  } else {
    app.store.set({ files: await files! });
    figure.held = app.doc.files.length > 0;
    await app.openAll(app.doc.files);
    figure.held = false;
  }
  document.documentElement.dataset.ready = "1";
}

void start();
