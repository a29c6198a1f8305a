/** Explore: everything in the model as a tree with a search, and what is chosen with its properties, values, sliders and curves. */

import type { App } from "../app";
import { base, digits, ending, h, seldom, tool } from "../dom";
import { Refused } from "../engine/message";
import { Chart } from "../view/chart";
import { addPanel } from "./add";

/** Time between two changes of the sliders while a motion plays, ms. */
const SELDOM_MS = 250;

/** Components of the model by the list they are in. */
export function tree(app: App): HTMLElement {
  const search = h("input", { type: "search", placeholder: "Search the model", "aria-label": "Search the model" });
  const list = h("div", { class: "tree", role: "tree" });
  const draw = () => {
    const m = app.doc.model;
    // What was unfolded stays so when the model changes.
    const unfolded = new Set([...list.querySelectorAll("details")].filter((d) => d.open).map((d) => d.dataset.group));
    list.replaceChildren();
    if (!m) return void list.append(h("p", { class: "faint" }, "Open a model to explore it."));
    const wanted = search.value.trim().toLowerCase();
    const groups = new Map<string, [string, string][]>();
    for (const [path, type] of m.components) {
      if (wanted && !`${path} ${type}`.toLowerCase().includes(wanted)) continue;
      const parts = path.split("/").filter(Boolean);
      if (parts.length < 2) continue;
      const group = parts[0].replace(/set$/, " set");
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group)!.push([path, type]);
    }
    for (const [group, items] of groups) {
      const body = h("div", { role: "group" });
      const fill = () => {
        if (body.childElementCount > 0) return;
        for (const [path, type] of items.slice(0, 2000)) {
          const depth = path.split("/").length - 3;
          body.append(h("button", {
            class: path === app.doc.selection ? "leaf on" : "leaf", role: "treeitem", "data-path": path, title: `${path} (${type})`,
            style: `padding-left:${12 + 12 * depth}px`, onclick: () => app.store.set({ selection: path }),
          }, h("span", {}, base(path)), h("small", {}, type)));
        }
      };
      const open = wanted !== "" || items.some(([p]) => p === app.doc.selection) || (searched === "" && unfolded.has(group));
      const details = h("details", { open, "data-group": group, ontoggle: (e: Event) => (e.target as HTMLDetailsElement).open && fill() }, h("summary", {}, `${group} `, h("small", {}, items.length)), body);
      if (open) fill();
      list.append(details);
    }
    searched = wanted;
  };
  let searched = "";
  search.addEventListener("input", draw);
  app.store.on(["model"], draw);
  app.store.on(["selection"], () => {
    for (const b of list.querySelectorAll(".leaf")) b.classList.toggle("on", (b as HTMLElement).dataset.path === app.doc.selection);
  });
  draw();
  return h("div", { class: "column" }, search, list, addPanel(app));
}

/** Sliders of the coordinates, each with a lock. */
export function sliders(app: App): HTMLElement {
  const box = h("div", { class: "sliders" });
  let rows: [HTMLInputElement, HTMLInputElement][] = [];
  const unit = (rotational: boolean) => (rotational ? 180 / Math.PI : 1);
  const draw = () => {
    const m = app.doc.model;
    // Who works with the keyboard stays where he is.
    const kept = box.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset : null;
    box.replaceChildren();
    rows = [];
    if (!m) return;
    for (const c of m.coordinates) {
      const k = unit(c.rotational);
      const isLocked = c.locked || !c.moves || app.doc.held[c.name] === true;
      const held = isLocked || c.dependent || !app.engine.computes;
      const value = app.doc.q[c.name] ?? c.default;
      const [low, high] = [c.range[0] * k, c.range[1] * k];
      const number = h("input", { type: "number", step: c.rotational ? 1 : 0.01, value: digits(value * k, 4), "aria-label": c.name, disabled: held, "data-number": c.name });
      const range = h("input", { type: "range", min: low, max: high, step: (high - low) / 1000 || 0.001, value: value * k, "aria-label": `${c.name} slider`, disabled: held, "data-slider": c.name });
      range.addEventListener("input", () => app.setCoordinate(c.name, Number(range.value) / k));
      number.addEventListener("change", () => app.setCoordinate(c.name, Number(number.value) / k));
      // Where the constraints stopped it, it is shown to be.
      range.addEventListener("change", () => window.setTimeout(show, 50));
      const why = c.locked ? "locked in the model; click to unlock" : !c.moves ? "the model does not move it" : isLocked ? "locked; click to unlock"
        : `${c.dependent ? "moved by a constraint; " : ""}click to lock at its value`;
      const lock = tool(isLocked ? "lock" : "unlock", `${c.name}: ${why}`, () => {
        if (c.locked) void app.editor.edit(c.path, "locked", "false");
        else if (c.moves) app.lock(c.name);
      }, { class: isLocked ? "tool tiny locked" : "tool tiny", "data-lock": c.name, "aria-pressed": String(isLocked) });
      rows.push([range, number]);
      box.append(h("div", { class: "slider" }, h("label", { title: c.path }, c.name), range, number, h("small", {}, c.unit), lock));
    }
    show();
    for (const key of ["lock", "number", "slider"]) if (kept?.[key]) box.querySelector<HTMLElement>(`[data-${key}="${CSS.escape(kept[key]!)}"]`)?.focus();
  };
  const show = () => {
    app.doc.model?.coordinates.forEach((c, i) => {
      const k = unit(c.rotational);
      const value = app.shownQ[i];
      if (value === undefined || !rows[i]) return;
      const [range, number] = rows[i];
      if (document.activeElement !== range || app.doc.unmet) range.value = String(value * k);
      if (document.activeElement !== number) number.value = digits(value * k, 4);
    });
  };
  // While a motion plays, a few times a second: nobody reads faster, and drawing sliders costs more than the figure.
  app.poseListeners.push(seldom(show, () => (app.doc.playing ? SELDOM_MS : 0)));
  app.store.on(["model", "held"], draw);
  draw();
  const reset = h("button", { class: "small", hidden: !app.engine.computes, onclick: () => {
    const q: Record<string, number> = {};
    for (const c of app.doc.model?.coordinates ?? []) q[c.name] = c.default;
    app.store.set({ q, motion: null, playing: false, held: {} });
    void app.pose();
  } }, "Default pose");
  const unmet = h("p", { class: "unmet", role: "status", "data-unmet": "", hidden: true });
  app.store.on(["unmet"], () => {
    unmet.hidden = app.doc.unmet === "";
    unmet.textContent = app.doc.unmet;
    show();
  });
  const panel = h("div", { class: "column" }, h("div", { class: "row" }, h("h3", {}, "Coordinates"), h("span", { class: "space" }), reset), unmet, box);
  const hide = () => (panel.hidden = !app.doc.model);
  app.store.on(["model"], hide);
  hide();
  return panel;
}

/** Whether a component is one of a list, so that there may be one more or one less. */
const inList = (path: string) => /^\/(forceset|markerset|constraintset|contactgeometryset|probeset|controllerset)\/[^/]+$|\/PathPointSet\/|\/wrapobjectset\//i.test(path);

/** Units of properties that mean the same in every component, as model files have them. */
const UNITS: Record<string, string> = {
  mass: "kg", mass_center: "m", inertia: "kg·m²", location: "m", translation: "m", dimensions: "m", radius: "m", resting_length: "m",
  orientation: "rad", xyz_body_rotation: "rad", max_isometric_force: "N", optimal_fiber_length: "m", tendon_slack_length: "m",
  pennation_angle_at_optimal: "rad", activation_time_constant: "s", deactivation_time_constant: "s", max_contraction_velocity: "1/s", gravity: "m/s²",
};

/** What is chosen: its properties, to be changed, and its values at the pose that is shown. */
export function inspector(app: App): HTMLElement {
  const box = h("div", { class: "column inspector", hidden: true });
  let shown = "";
  const draw = async () => {
    const [m, path] = [app.doc.model, app.doc.selection];
    box.hidden = !m;
    if (!m || !path) {
      box.replaceChildren(h("p", { class: "faint" }, m ? "Click a body, a muscle or a marker, in the figure or under Explore." : ""));
      shown = "";
      return;
    }
    let found;
    try {
      found = (await app.engine.call("properties", { model: m.id, path })).value;
    } catch (e) {
      // A component that is gone, for instance by undo, is chosen no longer.
      if (e instanceof Refused && app.doc.selection === path) return app.store.set({ selection: null });
      return app.fail(e);
    }
    if (app.doc.selection !== path) return;
    const fields = found.properties.map((p: any) => {
      const change = (text: string) => text !== p.text && void app.editor.edit(path, p.name, text);
      const input = p.kind === "boolean"
        ? h("input", { type: "checkbox", checked: p.text === "true", "aria-label": p.name, onchange: (e: Event) => change(String((e.target as HTMLInputElement).checked)) })
        : h("input", { type: "text", value: p.text, "aria-label": p.name, "data-property": p.name, onchange: (e: Event) => change((e.target as HTMLInputElement).value.trim()) });
      return h("label", { class: p.given ? "property" : "property default", title: p.given ? p.name : `${p.name}: the file does not say; this is the default` }, h("span", {}, p.name), input, UNITS[p.name] ? h("small", {}, UNITS[p.name]) : null);
    });
    const parts = found.parts.map(([name, at, type]: string[]) => h("button", { class: "leaf", title: at, onclick: () => app.store.set({ selection: at }) }, h("span", {}, name), h("small", {}, type)));
    const up = path.split("/").slice(0, -1).join("/");
    const values = h("table", { class: "values" });
    const muscle = m.paths.find((p) => path === p.path && p.strength !== null);
    // A property that was just changed keeps the focus, and what was unfolded stays so.
    const again = shown === path;
    const kept = again && box.contains(document.activeElement) ? (document.activeElement as HTMLElement).getAttribute("aria-label") : null;
    const unfolded = again ? [...box.querySelectorAll("details")].filter((d) => d.open).map((d) => d.querySelector("summary")!.textContent!.split(" ")[0]) : null;
    box.replaceChildren(
      h("div", { class: "row" }, h("h3", {}, base(path)), h("small", {}, found.class), h("span", { class: "space" }),
        inList(path) && tool("copy", "Duplicate", () => void app.editor.add({ like: path }, `added another ${base(path)}`), { class: "tool tiny", "data-do": "copy" }),
        inList(path) && tool("remove", "Remove (Delete)", () => void app.editor.remove(path), { class: "tool tiny", "data-do": "remove" }),
        up.split("/").length > 2 && h("button", { class: "small", onclick: () => app.store.set({ selection: up }) }, "Up"),
        tool("close", "Clear selection (Esc)", () => app.store.set({ selection: null }), { class: "tool tiny" })),
      values, ...(muscle ? [muscleCurves(app, path)] : []),
      h("details", { open: unfolded ? unfolded.includes("Properties") : !muscle }, h("summary", {}, "Properties"), ...fields),
      parts.length > 0 && h("details", { open: unfolded ? unfolded.includes("Parts") : !muscle && parts.length < 12 }, h("summary", {}, `Parts (${parts.length})`), ...parts) || "");
    shown = path;
    if (kept) [...box.querySelectorAll<HTMLElement>("[aria-label]")].find((e) => e.getAttribute("aria-label") === kept)?.focus();
    await live(values);
  };
  let busy = false;
  const live = async (table = box.querySelector<HTMLTableElement>(".values")) => {
    const [m, path] = [app.doc.model, app.doc.selection];
    if (!m || !path || path !== shown || !table || busy) return;
    busy = true;
    try {
      const a = await app.engine.call("values", { model: m.id, path, q: app.nowQ(), activation: app.nowActivation(path) });
      table.replaceChildren(...a.value.values.map(([name, value, unit]: [string, number, string]) =>
        h("tr", {}, h("td", {}, name), h("td", { class: "number", "data-value": name }, digits(value, 5)), h("td", { class: "faint" }, unit))));
    } catch {
      // A shared page has none.
    } finally {
      busy = false;
    }
  };
  app.store.on(["selection", "model"], () => void draw());
  app.poseListeners.push(() => !app.doc.playing && void live());
  void draw();
  return box;
}

const QUANTITIES: [string, string, string][] = [
  ["moment_arm", "moment arm", "m"],
  ["length", "length", "m"],
  ["tendon_force", "force", "N"],
  ["passive_fiber_force", "passive force", "N"],
  ["normalized_fiber_length", "normalized fiber length", ""],
];

/** Moment arm, length or force of a muscle over a coordinate, at the pose that is shown. */
function muscleCurves(app: App, path: string): HTMLElement {
  const m = app.doc.model!;
  const quantity = h("select", { "aria-label": "Quantity" }, ...QUANTITIES.map(([v, t]) => h("option", { value: v }, t)));
  const coordinate = h("select", { "aria-label": "Over coordinate" }, ...m.coordinates.filter((c) => c.moves && !c.dependent).map((c) => h("option", { value: c.name }, c.name)));
  const others = app.doc.files.filter((f) => ending(f) === "osim" && f !== m.file);
  const other = h("select", { "aria-label": "Compare with", "data-do": "compare-model", hidden: others.length === 0 }, h("option", { value: "" }, "this model alone"), ...others.map((f) => h("option", { value: f }, `with ${base(f)}`)));
  let k = 180 / Math.PI;
  const chart = new Chart(base(path), (x) => app.setCoordinate(coordinate.value, x / k));
  let busy = false;
  let again = false;
  const draw = async () => {
    again = true;
    if (busy || !chart.element.isConnected) return;
    busy = true;
    while (again) {
      again = false;
      const [, title, unit] = QUANTITIES.find(([v]) => v === quantity.value)!;
      const force = quantity.value.endsWith("force");
      try {
        const fields = { model: m.id, quantity: quantity.value, coordinate: coordinate.value, muscles: [path], q: app.nowQ(), activation: force && quantity.value === "tendon_force" ? 1 : null };
        const a = await app.engine.call("curve", fields);
        if (a.value.y.length === 0) continue;
        k = a.value.rotational ? 180 / Math.PI : 1;
        const x = a.f64(a.value.x).map((v) => v * k);
        const lines = [{ name: other.value ? base(m.file) : base(path), x, y: a.f64(a.value.y[0]) }];
        if (other.value) {
          const model = await app.modelOf(other.value);
          // Of the pose, what the other model has too.
          const has = new Set(model.coordinates.map((c) => c.name));
          const q = Object.fromEntries(Object.entries(fields.q).filter(([n]) => has.has(n)));
          const b = has.has(coordinate.value) ? await app.engine.call("curve", { ...fields, q, model: model.id }) : null;
          if (!b) app.say({ kind: "note", text: `${base(other.value)} has no coordinate ${coordinate.value}` });
          else if (b.value.y.length > 0) lines.push({ name: base(other.value), x: b.f64(b.value.x).map((v) => v * k), y: b.f64(b.value.y[0]) });
          else app.say({ kind: "note", text: `${base(other.value)} has no muscle ${base(path)}` });
        }
        chart.element.classList.toggle("single", lines.length === 1);
        chart.set(lines, `${coordinate.value}${a.value.unit && ` (${a.value.unit})`}`, unit ? `${title} (${unit})` : title, `${title} of ${base(path)}`);
        chart.point((app.nowQ()[coordinate.value] ?? 0) * k);
      } catch (e) {
        app.fail(e);
      }
    }
    busy = false;
  };
  quantity.addEventListener("change", () => void draw());
  coordinate.addEventListener("change", () => void draw());
  other.addEventListener("change", () => void draw());
  app.poseListeners.push(() => chart.element.isConnected && !app.doc.playing && void draw());
  // The coordinate that this muscle moves most.
  void app.engine.call("values", { model: m.id, path, q: app.nowQ() }).then((a) => {
    const arms = a.value.values.filter(([n]: [string]) => n.startsWith("moment arm, ")).sort((x: any, y: any) => Math.abs(y[1]) - Math.abs(x[1]));
    if (arms.length > 0) coordinate.value = arms[0][0].slice("moment arm, ".length);
    void draw();
  }).catch(() => {});
  return h("div", { class: "muscle-curve" }, h("div", { class: "row" }, quantity, h("small", {}, "over"), coordinate), other, chart.element);
}
