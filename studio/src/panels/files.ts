/** Files: what is there, what is shown, and motions that are drawn together. */

import type { App } from "../app";
import { base, ending, h, tool } from "../dom";
import { LINES } from "../view/palette";

const MESH = /\.(vtp|stl|obj)$/i;
const TABLE = ["mot", "sto", "csv"];

export function filesPanel(app: App): HTMLElement {
  const list = h("div", { class: "files" });
  const together = comparison(app);
  const row = (f: string) => {
    const { doc } = app;
    const shown = [doc.model?.file, doc.motion?.file, doc.measured?.file].includes(f);
    const other = doc.others.find((o) => o.motion.file === f);
    const act = (work: () => Promise<void>) => () => void work().catch((e) => app.fail(e));
    const more: HTMLElement[] = [];
    if (doc.motion && ending(f) === "osim" && doc.model?.file !== f)
      more.push(h("button", { class: "small", title: "Show the motion on this model too", "data-compare": f, onclick: act(() => app.compare(doc.motion!.file, f)) }, "compare"));
    if (doc.motion && TABLE.includes(ending(f)) && doc.motion.file !== f && !other) {
      more.push(h("button", { class: "small", title: "Compare with the motion shown", "data-compare": f, onclick: act(() => app.compare(f)) }, "compare"));
      more.push(h("button", { class: "small", title: "Draw these forces with the motion", onclick: act(() => app.openMotion(doc.motion!.file, { loads: f })) }, "loads"));
    } else if (doc.motion && ending(f) === "xml")
      more.push(h("button", { class: "small", title: "Draw these forces with the motion", onclick: act(() => app.openMotion(doc.motion!.file, { loads: f })) }, "loads"));
    return h("div", { class: "file-row" },
      h("button", { class: shown || other ? "leaf on" : "leaf", title: f, "data-file": f, onclick: act(() => app.open(f)) }, h("span", {}, base(f)), more.length === 0 && h("small", {}, ending(f))), ...more);
  };
  const draw = () => {
    list.replaceChildren(...app.doc.files.filter((f) => !MESH.test(f)).map(row));
    if (app.doc.files.length === 0)
      list.append(h("p", { class: "faint" }, "Files that you drop anywhere on this page, and results of tools, are listed here: .osim, .trc, .c3d, .mot, .sto, setup XML, study and pipeline TOML. A model with its folder of meshes can be dropped whole."));
  };
  app.store.on(["files", "model", "motion", "measured", "others"], draw);
  draw();
  return h("div", { class: "column" }, list, together);
}

/** Motions that are drawn together: their colors, one over the other or side by side. */
export function comparison(app: App): HTMLElement {
  const box = h("div", { class: "together", hidden: true });
  const draw = () => {
    const { doc } = app;
    box.hidden = doc.others.length === 0;
    if (box.hidden || !doc.motion) return;
    const chip = (color: string, text: string, title: string) => h("span", { class: "chip", title }, h("i", { style: `background:${color}` }), text);
    const beside = h("input", { type: "range", min: 0, max: 2, step: 0.1, value: doc.beside, "aria-label": "Distance between motions, m", "data-do": "beside",
      oninput: () => app.store.set({ beside: Number(beside.value) }) });
    box.replaceChildren(h("h3", {}, "Overlay"),
      chip("#e9dcc0", base(doc.motion.file), doc.motion.file),
      ...doc.others.map((o, i) => h("div", { class: "row" }, chip(LINES[(i + 1) % LINES.length], o.model === doc.model?.file ? base(o.motion.file) : `${base(o.motion.file)}, ${base(o.model)}`, `${o.motion.file} with ${o.model}`),
        h("span", { class: "space" }), tool("close", `Do not draw ${base(o.motion.file)}`, () => app.hideOther(o.motion.id), { class: "tool tiny" }))),
      h("label", { class: "property" }, h("span", {}, "Side by side"), beside, h("small", {}, doc.beside > 0 ? `${doc.beside} m` : "overlaid")),
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: doc.together, onchange: (e: any) => app.store.set({ together: e.target.checked }) }), "align start times"));
  };
  app.store.on(["others", "motion", "beside", "together"], draw);
  return box;
}
