/** The figure with its views, switches and legend. */

import type { App } from "../app";
import { h } from "../dom";
import { ACTIVATION, FORCE, MEASURED, MODELLED } from "../view/palette";
import { VIEWS } from "../view/figure";

const LAYERS: [string, string][] = [
  ["bodies", "Bones"], ["muscles", "Muscles"], ["wraps", "Wrap surfaces"], ["contacts", "Contact"], ["markers", "Model markers"],
  ["measured", "Measured markers"], ["forces", "Forces"], ["center", "Mass centre"], ["floor", "Floor"],
];

/** Colors of marks, as they are in the figure. */
const COLORS: Record<string, string> = {
  markers: `#${MODELLED.toString(16).padStart(6, "0")}`, measured: `#${MEASURED.toString(16).padStart(6, "0")}`, forces: `rgb(${FORCE.join(" ")})`,
};

export function stage(app: App, canvas: HTMLCanvasElement): HTMLElement {
  const { store, doc, figure } = app;
  const legend = h("div", { class: "legend-activation", hidden: true }, h("span", {}, "activation 0"),
    h("i", { style: `background:linear-gradient(90deg,${ACTIVATION.map((c) => `rgb(${c.join(" ")})`).join(",")})` }), h("span", {}, "1"));
  const views = h("div", { class: "views" }, ...VIEWS.map((v, i) =>
    h("button", { class: "small", title: `View from this side (${i + 1})`, onclick: () => figure.view(v) }, v === "three-quarters" ? "3/4" : v)));
  const box = (key: string, text: string) => h("label", {},
    h("input", { type: "checkbox", checked: doc.layers[key], "data-layer": key, onchange: (e: any) => store.set({ layers: { ...doc.layers, [key]: e.target.checked } }) }), text,
    COLORS[key] ? h("i", { class: "swatch", style: `background:${COLORS[key]}` }) : null);
  const switches = h("details", { class: "layers" }, h("summary", {}, "Show"), ...LAYERS.map(([key, text]) => box(key, text)));
  const choose = (tab: string) => document.dispatchEvent(new CustomEvent("studio-tab", { detail: tab }));
  const hint = h("div", { class: "hint" }, h("div", { class: "welcome" }, h("p", {}, "Drop files here"),
    h("small", {}, "A model (.osim) with its folder of meshes, then a recording (.trc, .c3d) or a motion (.mot, .sto)."),
    h("div", { class: "row" }, h("button", { class: "main", "data-do": "welcome-open", onclick: () => document.querySelector<HTMLInputElement>("[data-do=choose]")?.click() }, "Choose files…"),
      h("button", { "data-do": "example", onclick: () => void app.example() }, "Open an example"),
      h("button", { onclick: () => choose("Predict") }, "Predict a walk")),
    h("ol", {}, h("li", {}, h("b", {}, "Explore"), ": click a bone or a muscle, move a slider, look at its moment arm"),
      h("li", {}, h("b", {}, "Run"), ": joint angles from markers, then moments, muscle forces, simulations"),
      h("li", {}, h("b", {}, "Share"), ": the figure and its curves as one file that opens anywhere")),
    h("small", {}, "Nothing leaves this machine. Press ? for keys.")));
  const grip = h("div", { class: "grip", hidden: true }, "Drag a gold point of the path, or the blue middle of a wrap object");
  const live = h("div", { class: "live", hidden: true, "data-live": "", role: "status" });
  const main = h("main", {}, canvas, h("div", { class: "overlay" }, views, switches), legend, grip, live, hint);
  app.onLive = (text) => {
    live.hidden = text === "";
    live.textContent = text;
  };
  store.on(["motion"], () => (legend.hidden = !doc.motion?.hasActivations));
  store.on(["layers"], () => {
    for (const b of switches.querySelectorAll<HTMLInputElement>("[data-layer]")) b.checked = doc.layers[b.dataset.layer!] !== false;
  });
  store.on(["model", "measured"], () => (hint.hidden = doc.model !== null || doc.measured !== null));
  hint.hidden = !app.engine.computes;
  figure.handles.onSet = (count) => (grip.hidden = count === 0);
  new ResizeObserver(() => figure.resize(main.clientWidth, main.clientHeight)).observe(main);
  let down: [number, number] | null = null;
  canvas.addEventListener("pointerdown", (e) => (down = [e.clientX, e.clientY]));
  canvas.addEventListener("pointerup", (e) => {
    if (!down || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 4) return;
    const b = canvas.getBoundingClientRect();
    const hit = figure.pick(((e.clientX - b.left) / b.width) * 2 - 1, 1 - ((e.clientY - b.top) / b.height) * 2);
    app.choose(hit);
  });
  return main;
}
