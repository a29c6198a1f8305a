/** Add: parts that a model can get, with what each needs. */

import type { App } from "../app";
import { h } from "../dom";

interface Field {
  name: string;
  unit: string;
  kind: "number" | "coordinate" | "body" | "text" | "place" | "switch";
  value?: string | number | boolean;
}

const COORDINATE: Field = { name: "coordinate", unit: "", kind: "coordinate" };
const BOTH: Field = { name: "both_sides", unit: "", kind: "switch", value: true };

/** Kinds of parts as `soleus add` has them, and a marker. */
const KINDS: Record<string, { title: string; fields: Field[] }> = {
  spring: { title: "Spring at a joint", fields: [COORDINATE, { name: "stiffness", unit: "N·m/rad", kind: "number", value: 100 }, { name: "rest_deg", unit: "°", kind: "number", value: 0 }, { name: "damping", unit: "N·m·s/rad", kind: "number", value: 0 }, BOTH] },
  torque: { title: "Torque at a joint", fields: [COORDINATE, { name: "max", unit: "N·m", kind: "number", value: 50 }, BOTH] },
  prosthesis: { title: "Prosthesis: a spring instead of muscles", fields: [COORDINATE, { name: "stiffness", unit: "N·m/rad", kind: "number", value: 300 }] },
  ligament: { title: "Ligament between two points", fields: [{ name: "from", unit: "m", kind: "place" }, { name: "to", unit: "m", kind: "place" }, { name: "stiffness", unit: "N/m", kind: "number", value: 10000 }, BOTH] },
  mass: { title: "Mass on a body", fields: [{ name: "body", unit: "", kind: "body" }, { name: "mass", unit: "kg", kind: "number", value: 1 }, BOTH] },
  feet: { title: "Contact under the feet", fields: [] },
  marker: { title: "Marker", fields: [{ name: "name", unit: "", kind: "text", value: "new_marker" }, { name: "body", unit: "", kind: "body" }] },
};

export function addPanel(app: App): HTMLElement {
  const kind = h("select", { "aria-label": "Part to add", "data-do": "part" }, ...Object.entries(KINDS).map(([k, v]) => h("option", { value: k }, v.title)));
  const form = h("div", {});
  let read: (() => Record<string, any>) = () => ({});

  const draw = () => {
    const m = app.doc.model;
    const readers: [string, () => any][] = [];
    const choice = (name: string, list: string[]) => h("select", { "aria-label": name, "data-add": name }, ...list.map((v) => h("option", { value: v }, v)));
    const bodies = m?.bodies.map((b) => b.name) ?? [];
    form.replaceChildren(...KINDS[kind.value].fields.map((f) => {
      let inputs: HTMLElement[];
      if (f.kind === "switch") {
        const box = h("input", { type: "checkbox", checked: f.value === true, "data-add": f.name });
        readers.push([f.name, () => box.checked]);
        inputs = [box];
      } else if (f.kind === "coordinate" || f.kind === "body") {
        const select = choice(f.name, f.kind === "body" ? bodies : (m?.coordinates.filter((c) => c.moves && !c.dependent).map((c) => c.name) ?? []));
        readers.push([f.name, () => select.value]);
        inputs = [select];
      } else if (f.kind === "place") {
        const [body, place] = [choice(`${f.name} body`, bodies), h("input", { type: "text", value: "0 0 0", "aria-label": `${f.name}, location in the body (m)` })];
        readers.push([f.name, () => ({ body: body.value, location: place.value.trim().split(/[\s,]+/).map(Number) })]);
        inputs = [h("span", { class: "column" }, body, place)];
      } else {
        const input = h("input", { type: f.kind === "number" ? "number" : "text", step: "any", value: f.value ?? "", "data-add": f.name, "aria-label": f.name });
        readers.push([f.name, () => (f.kind === "number" ? Number(input.value) : input.value)]);
        inputs = [input];
      }
      return h("label", { class: "property" }, h("span", {}, f.name.replaceAll("_", " ")), ...inputs, h("small", {}, f.unit));
    }));
    read = () => Object.fromEntries(readers.map(([name, value]) => [name, value()]));
  };
  kind.addEventListener("change", draw);
  app.store.on(["model"], draw);
  draw();
  const add = h("button", { class: "main", "data-do": "add", onclick: async () => {
    const fields = read();
    const title = KINDS[kind.value].title.toLowerCase();
    if (kind.value === "marker") await app.editor.add({ marker: fields }, `added marker ${fields.name}`);
    else await app.editor.add({ part: { type: kind.value, ...fields } }, `added ${title}${fields.coordinate ? ` (${fields.coordinate})` : ""}`);
  } }, "Add");
  const box = h("details", { class: "add", hidden: true }, h("summary", {}, "Add a part"), h("label", { class: "property" }, h("span", {}, "Part"), kind), form, h("div", { class: "row" }, add));
  app.store.on(["model"], () => (box.hidden = app.doc.model === null));
  return box;
}
