/** Curves: columns of tables over time, with the cursor of the figure. */

import type { App } from "../app";
import { base, h } from "../dom";
import { Chart, type Line } from "../view/chart";

interface Loaded {
  labels: string[];
  times: Float64Array;
  columns: Float64Array[];
  degrees: boolean;
}

export function curves(app: App): HTMLElement {
  const tables = new Map<string, Loaded>();
  const chosen: { file: string; label: string }[] = [];
  const which = h("select", { "aria-label": "Table" });
  const filter = h("input", { type: "search", placeholder: "Search columns", "aria-label": "Search columns" });
  const list = h("div", { class: "columns", role: "listbox", "aria-multiselectable": "true" });
  const chart = new Chart("Curves", (t) => app.seek(t), (name) => {
    const i = chosen.findIndex((c) => nameOf(c) === name);
    if (i >= 0) chosen.splice(i, 1);
    draw();
  });
  const several = () => new Set(chosen.map((c) => c.file)).size > 1;
  const nameOf = (c: { file: string; label: string }) => (several() ? `${base(c.label)} (${base(c.file)})` : c.label.startsWith("/") ? c.label.split("/").slice(-2).join("/") : c.label);

  const load = async (file: string): Promise<Loaded> => {
    const kept = tables.get(file);
    if (kept) return kept;
    const a = await app.engine.call("table", { file });
    const t = { labels: a.value.labels, times: a.f64(a.value.times), columns: a.value.columns.map((c: any) => a.f64(c)), degrees: a.value.in_degrees };
    tables.set(file, t);
    return t;
  };

  const draw = () => {
    const lines: Line[] = chosen.map((c) => {
      const t = tables.get(c.file)!;
      return { name: nameOf(c), x: t.times, y: t.columns[t.labels.indexOf(c.label)] };
    });
    const degrees = chosen.length > 0 && chosen.every((c) => tables.get(c.file)!.degrees);
    chart.set(lines, "time (s)", degrees ? "° or m" : "value", chosen.length > 0 ? base(chosen[0].file) : "Curves");
    chart.point(app.doc.time);
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
        draw();
      } }, label);
    }));
  };

  const show = async (file: string, pick = true) => {
    try {
      tables.delete(file);
      const t = await load(file);
      if (![...which.options].some((o) => o.value === file)) which.append(h("option", { value: file }, base(file)));
      which.value = file;
      panel.hidden = false;
      if (pick && !chosen.some((c) => c.file === file)) {
        if (!chosen.some((c) => t.labels.includes(c.label))) chosen.splice(0);
        const first = t.labels.filter((l) => /knee_angle_r|hip_flexion_r|ankle_angle_r|knee_angle$|ground_force_1?_?vy|soleus_r/i.test(l) && !/speed/.test(l)).slice(0, 3);
        for (const label of first.length > 0 ? first : t.labels.slice(0, 2)) chosen.push({ file, label });
      }
      for (const c of chosen) await load(c.file);
      draw();
    } catch (e) {
      app.fail(e);
    }
  };
  which.addEventListener("change", () => void show(which.value, false));
  filter.addEventListener("input", fill);
  app.onTable = (f) => void show(f);
  let last = "";
  app.store.on(["motion"], () => {
    const f = app.doc.motion?.file ?? "";
    if (f && f !== last) void show(f);
    last = f;
  });
  app.store.on(["time"], () => chart.point(app.doc.time));
  const panel = h("div", { class: "curves", hidden: true }, h("div", { class: "column picker" }, which, filter, list), chart.element);
  return panel;
}
