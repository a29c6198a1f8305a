/** Keys of the page, and a list of them for who asks. */

import type { App } from "./app";
import { h } from "./dom";
import { VIEWS } from "./view/figure";

const HELP: [string, string][] = [
  ["space", "play or pause"], ["← →", "one frame back or forward"], ["Home, End", "to the start, to the end"], ["L, F", "loop; follow the figure"],
  ["1 … 5", "side, front, back, top, three-quarters"], ["Shift and arrows", "rotate the figure"], ["+ −", "zoom in, zoom out"],
  ["B, M, W, K", "bones, muscles, wrap surfaces, markers on and off"], ["Ctrl O, Ctrl S", "open files, save the model"], ["Ctrl Z, Ctrl Y", "undo, redo"],
  ["Delete", "remove the selected component"], ["/", "search the model"], ["Esc", "clear the selection"], ["Tab, ↑ ↓", "move through panels, lists and the tree"], ["← →, + −, 0", "in a chart: cursor, zoom, whole range"], ["?", "this list"],
];

export function showKeys(): void {
  const dialog = h("dialog", {}, h("h3", {}, "Keys"), h("table", { class: "values" }, ...HELP.map(([key, does]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, does)))),
    h("div", { class: "row" }, h("button", { class: "main", onclick: () => dialog.close() }, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

export interface Commands {
  open: () => void;
  save: () => void;
  search: () => void;
}

const LAYERS: Record<string, string> = { b: "bodies", m: "muscles", w: "wraps", k: "markers" };
const TURN_RAD = 0.12;

export function listen(app: App, commands: Commands): void {
  const { store, doc, figure, editor } = app;
  window.addEventListener("keydown", (e) => {
    const target = e.target as HTMLElement;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !/^(range|checkbox)$/.test((target as HTMLInputElement).type);
    const ctrl = e.ctrlKey || e.metaKey;
    const act = (f: () => void) => (e.preventDefault(), f());
    const key = e.key.toLowerCase();
    if (document.querySelector("dialog[open]")) return;
    if (ctrl && key === "z" && !e.shiftKey) return typing ? undefined : act(() => void editor.undo());
    if (ctrl && (key === "y" || (key === "z" && e.shiftKey))) return typing ? undefined : act(() => void editor.redo());
    if (ctrl && key === "s") return act(commands.save);
    if (ctrl && key === "o") return act(commands.open);
    if (typing || ctrl || e.altKey) return;
    if ((e.key === "ArrowUp" || e.key === "ArrowDown") && !e.shiftKey && target.matches(".leaf, summary, [role=tab]")) return act(() => next(target, e.key === "ArrowDown" ? 1 : -1));
    const isSlider = target instanceof HTMLInputElement;
    if (e.shiftKey && e.key.startsWith("Arrow") && !isSlider) {
      const [yaw, pitch] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key as "ArrowUp"];
      return act(() => figure.turn(TURN_RAD * yaw, TURN_RAD * pitch));
    }
    if (e.key === " " && !(target instanceof HTMLButtonElement) && target.tagName !== "SUMMARY") act(() => app.play());
    else if (e.key === "ArrowLeft" && !isSlider) act(() => app.step(-1));
    else if (e.key === "ArrowRight" && !isSlider) act(() => app.step(1));
    else if (e.key === "Home" && !isSlider) act(() => app.seek(-Infinity));
    else if (e.key === "End" && !isSlider) act(() => app.seek(Infinity));
    else if (e.key === "Escape") store.set({ selection: null });
    else if (e.key === "Delete" && doc.selection) act(() => void editor.remove(doc.selection!));
    else if (e.key === "?") act(showKeys);
    else if (e.key === "/") act(commands.search);
    else if (e.key === "+" || e.key === "=") act(() => figure.turn(0, 0, 1.15));
    else if (e.key === "-") act(() => figure.turn(0, 0, 1 / 1.15));
    else if (key === "l") store.set({ loop: !doc.loop });
    else if (key === "f") store.set({ follow: !doc.follow });
    else if (LAYERS[key]) store.set({ layers: { ...doc.layers, [LAYERS[key]]: doc.layers[LAYERS[key]] === false } });
    else if ("12345".includes(e.key)) figure.view(VIEWS[Number(e.key) - 1]);
  });
}

/** Moves the focus to the next entry of a list, a tree or a row of tabs. */
function next(from: HTMLElement, by: number): void {
  const panel = from.closest("aside, .curves") ?? document.body;
  const all = [...panel.querySelectorAll<HTMLElement>(".leaf, summary, [role=tab]")].filter((e) => e.offsetParent !== null);
  all[all.indexOf(from) + by]?.focus();
}
