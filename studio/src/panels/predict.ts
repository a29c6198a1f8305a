/** Predict: the walk of least effort at a speed, drawn while it is found. With the program, on a slope and with a spring at the ankles too. */

import type { App } from "../app";
import { h } from "../dom";
import type { Told } from "../engine/engine";

/** A slider with its number and unit. */
function slider(name: string, low: number, high: number, step: number, value: number, unit: string, digits: number): { row: HTMLElement; value: () => number } {
  const out = h("output", {}, `${value.toFixed(digits)} ${unit}`);
  const input = h("input", { type: "range", min: low, max: high, step, value, "aria-label": name, "data-predict-slider": name,
    oninput: () => (out.textContent = `${Number(input.value).toFixed(digits)} ${unit}`) });
  return { row: h("label", { class: "property" }, h("span", {}, name), input, out), value: () => Number(input.value) };
}

export function predictPanel(app: App): HTMLElement {
  const speed = slider("Speed", 0.5, 2, 0.05, 1.3, "m/s", 2);
  const slope = slider("Slope", -6, 10, 0.5, 0, "°", 1);
  const spring = slider("Ankle spring", 0, 400, 10, 0, "N·m/rad", 0);
  const line = h("p", { class: "faint", "data-predict": "" }, "From straight lines to a walk: nothing is measured or tracked.");
  const plain = () => slope.value() === 0 && spring.value() === 0;

  /** The request: the planar walker alone, or any gait with slope and device. */
  const request = (): [string, object] => {
    if (plain()) return ["predict_walk", { speed: speed.value(), page: null, picture: null }];
    const parts = spring.value() > 0 ? [{ type: "spring", coordinate: "ankle_r", stiffness: spring.value() }] : [];
    return ["predict", { model: "builtin:gait2d", speed: speed.value(), slope_deg: slope.value(), parts, output: "prediction" }];
  };

  let stop: AbortController | null = null;
  const go = h("button", { class: "main", "data-do": "predict", onclick: async () => {
    if (stop) return stop.abort();
    stop = new AbortController();
    go.textContent = "Stop";
    try {
      const walker = (await app.engine.call("walker")).value;
      await app.add([{ name: walker.file, bytes: new TextEncoder().encode(walker.text) }], false);
      await app.openModel(walker.file);
      app.store.set({ follow: true });
      app.figure.view("side");
      const ran = await app.engine.run(...request(), (t: Told) => {
        if (t.progress) line.textContent = `${t.progress.done} iterations: ${t.progress.detail}`;
        if (t.reached && t.reached.times.length > 1) void app.showReached(t.reached, line.textContent ?? "");
      }, stop.signal);
      app.endReached();
      line.textContent = `found in ${ran.seconds.toFixed(1)} s`;
      const files = ran.files.filter((f) => !/\.(html|svg|png)$/.test(f.name));
      await app.add(files, true);
      app.store.set({ follow: true });
      app.figure.view("side");
      app.play(true);
    } catch (e: any) {
      app.endReached();
      line.textContent = e.message;
    } finally {
      stop = null;
      go.textContent = "Predict";
    }
  } }, "Predict");
  const more = app.engine.native ? [slope.row, spring.row] : [h("p", { class: "faint" }, "Slope and device: `soleus studio` opens this page with the whole program behind it.")];
  return h("div", { class: "column" }, h("h3", {}, "A walk of least effort"), speed.row, ...more, h("div", { class: "row" }, go), line);
}
