/** Share: one file with figure and curves that opens offline. The page carries this program and the answers that it will ask for. */

import { LIVE, strengthsOf, type App } from "./app";
import { download, stem } from "./dom";
import { keyOf, SharedEngine } from "./engine/engine";
import { Answer } from "./engine/message";
import { CHUNK, rowAt } from "./frames";
import type { Measured, MotionInfo } from "./store";
import { sceneOf } from "./view/data";

/** Frames of a shared page for each second. */
const RATE = 50;

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

async function zipped(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A script within a page: nothing in it may look like its end, or like a comment of the page. */
const safe = (script: string) => script.replaceAll("</", "<\\/").replaceAll("<!--", "<\\!--");

/** JSON within a page: names from files may hold anything. */
const escaped = (json: string) => json.replaceAll("<", "\\u003c");

/** Rows of a motion that a shared page has. */
function rowsOf(t: Float64Array): number[] {
  const wanted = Math.max(2, Math.ceil((t[t.length - 1] - t[0]) * RATE));
  const rows: number[] = [];
  for (let k = 0; k < wanted; k++) rows.push(Math.round((k * (t.length - 1)) / (wanted - 1)));
  return [...new Set(rows)];
}

/** Measured markers at some times, as the engine gives all of them. */
function markersAt(m: Measured, times: ArrayLike<number>): Answer {
  const rows = Array.from(times, (t) => rowAt(m.times, t)).filter((r, k, all) => k === 0 || r !== all[k - 1]);
  const width = 3 * m.labels.length;
  const block = new ArrayBuffer(rows.length * (8 + 4 * width));
  new Float64Array(block, 0, rows.length).set(rows.map((r) => m.times[r]));
  const points = new Float32Array(block, 8 * rows.length);
  rows.forEach((r, k) => points.set(m.points.subarray(width * r, width * (r + 1)), width * k));
  return new Answer({ labels: m.labels, times: { f64: [0, rows.length] }, points: { f32: [8 * rows.length, points.length] } }, block);
}

/** Makes the page. */
export async function sharedPage(app: App): Promise<string> {
  const { model, motion, measured, curves, others } = app.doc;
  if (!model) throw new Error("open a model first");
  const kept: Record<string, { value: any; block: string }> = {};
  const keepAs = async (key: string, a: Answer) => (kept[key] = { value: a.value, block: base64(await zipped(new Uint8Array(a.block))) });
  const keep = async (method: string, fields: object) => keepAs(keyOf(method, fields), await app.engine.call(method, fields));
  kept["files"] = { value: { files: [] }, block: "" };
  await keep("scene", { model: model.id });
  await keep("pose", { model: model.id, q: app.nowQ() });
  /** A motion without its times, and those that the page has. */
  const carry = async (m: MotionInfo) => {
    const rows = rowsOf(m.times);
    for (let first = 0; first < rows.length; first += CHUNK) {
      const a = await app.engine.call("frames", { motion: m.id, rows: rows.slice(first, first + CHUNK) });
      await keepAs(keyOf("frames", { motion: m.id, rows: [first] }), a);
    }
    return { info: { ...m, times: null }, times: rows.map((r) => m.times[r]) };
  };
  const first = motion && (await carry(motion));
  const more = [];
  for (const o of others) {
    const other = await app.modelOf(o.model);
    await keep("scene", { model: other.id });
    more.push({ ...(await carry(o.motion)), model: { ...other, components: [] } });
  }
  if (measured) await keepAs("markers", markersAt(measured, first ? first.times : rowsOf(measured.times).map((r) => measured.times[r])));
  // What is drawn, and the tables of the motions.
  const tables = [...new Set([motion?.file, ...others.map((o) => o.motion.file), ...(curves?.chosen ?? []).map((c) => c.file), curves?.table])].filter((f): f is string => Boolean(f) && f !== LIVE);
  for (const file of tables) await keep("table", { file });
  if (curves?.over === "cycle" && app.cycles) await keepAs("cycles", app.cycles);
  const { layers, follow, time, beside, together, speed } = app.doc;
  const data = {
    model: { ...model, components: [] }, motion: first, others: more, measured: measured?.file ?? null, curves, tables, eye: app.figure.eye,
    view: { layers, follow, beside, together, speed }, time, kept,
  };
  const script = await (await fetch(document.querySelector<HTMLScriptElement>("script[src]")!.src)).text();
  const style = await (await fetch(document.querySelector<HTMLLinkElement>("link[rel=stylesheet]")!.href)).text();
  const title = stem(motion?.file ?? model.file).replace(/[<>&]/g, "");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<title>${title}</title><link rel="icon" href="data:,"><style>${style}</style></head>
<body><div id="studio"></div>
<script type="application/json" id="soleus-shared">${escaped(JSON.stringify(data))}</script>
<script type="module">${safe(script)}</script></body></html>
`;
}

export async function share(app: App): Promise<void> {
  try {
    const page = await sharedPage(app);
    download(`${stem(app.doc.motion?.file ?? app.doc.model!.file)}.html`, page, "text/html");
  } catch (e) {
    app.fail(e);
  }
}

/** What a shared page carries, if this is one. */
export async function carried(): Promise<{ engine: SharedEngine; data: any } | null> {
  const element = document.getElementById("soleus-shared");
  if (!element) return null;
  const data = JSON.parse(element.textContent!);
  const kept = new Map<string, Answer>();
  for (const [key, a] of Object.entries<any>(data.kept)) {
    const packed = Uint8Array.from(atob(a.block), (c) => c.charCodeAt(0));
    kept.set(key, new Answer(a.value, packed.length > 0 ? ((await unzipped(packed)).buffer as ArrayBuffer) : new ArrayBuffer(0)));
  }
  return { engine: new SharedEngine(kept), data };
}

/** Shows what a shared page carries. */
export async function restore(app: App, data: any): Promise<void> {
  const { engine, figure, store } = app;
  const q: Record<string, number> = {};
  for (const c of data.model.coordinates) q[c.name] = c.default;
  store.set({ model: data.model, q, ...data.view });
  const scene = sceneOf(await engine.call("scene", { model: data.model.id }));
  figure.show(scene, strengthsOf(data.model, scene.paths));
  await app.pose();
  if (data.measured) await app.openMarkers(data.measured);
  if (data.curves) await app.onCurves(data.curves, data.tables);
  const opened = (m: any): MotionInfo => ({ ...m.info, times: new Float64Array(m.times) });
  if (data.motion) {
    await app.begin(opened(data.motion), data.time);
    for (const o of data.others) await app.drawOther(opened(o), o.model);
  }
  figure.eye = data.eye;
}
