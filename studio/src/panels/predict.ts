/** Predict: the walk of least effort at a speed, on a slope and with a spring at the ankles, drawn while it is found. */

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
  const line = h("p", { class: "faint", "data-predict": "" }, "No measured data are used. The first walk is found from a straight-line guess, the next from the last one found.");
  /** The walk that was found last, from which the next one starts. */
  let last: string | null = null;
  const request = () => ({ speed: speed.value(), slope_deg: slope.value(), ankle_spring: spring.value(), start: last, page: null, picture: null });

  let stop: AbortController | null = null;
  const go = h("button", { class: "main", "data-do": "predict", onclick: async () => {
    if (stop) return stop.abort();
    stop = new AbortController();
    go.textContent = "Stop";
    try {
      const walker = (await app.engine.call("walker")).value;
      await app.add([{ name: walker.file, bytes: new TextEncoder().encode(walker.text) }], false);
      await app.openModel(walker.file);
      // They are of another person.
      app.closeMarkers();
      app.store.set({ follow: true });
      app.figure.view("side");
      const ran = await app.engine.run("predict_walk", request(), (t: Told) => {
        if (t.progress) line.textContent = `${t.progress.done} iterations: ${t.progress.detail}`;
        if (t.reached && t.reached.times.length > 1) void app.showReached(t.reached, line.textContent ?? "");
      }, stop.signal);
      app.endReached();
      const files = ran.files.filter((f) => !/\.(html|svg|png)$/.test(f.name));
      await app.add(files, true);
      last = files.find((f) => f.name.endsWith("walk_start.json"))?.name ?? null;
      app.store.set({ follow: true });
      app.figure.view("side");
      app.play(true);
      // Said when it is shown: who waits for these words may look at the motion.
      line.textContent = `found in ${ran.seconds.toFixed(1)} s`;
    } catch (e: any) {
      app.endReached();
      line.textContent = e.message;
    } finally {
      stop = null;
      go.textContent = "Predict";
    }
  } }, "Predict");
  return h("div", { class: "column" }, h("h3", {}, "Minimum-effort walk"), speed.row, slope.row, spring.row, h("div", { class: "row" }, go), line);
}
