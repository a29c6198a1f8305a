/** Share: one file with figure and curves that opens offline. The page carries this program and the answers that it will ask for. */

import type { App } from "./app";
import { download, stem } from "./dom";
import { SharedEngine } from "./engine/engine";
import { Answer } from "./engine/message";

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

const safe = (script: string) => script.replaceAll("</", "<\\/");

/** Makes the page. */
export async function sharedPage(app: App): Promise<string> {
  const { model, motion } = app.doc;
  if (!model) throw new Error("open a model first");
  const kept: Record<string, { value: any; block: string }> = {};
  const keep = async (key: string, a: Answer) => (kept[key] = { value: a.value, block: base64(await zipped(new Uint8Array(a.block))) });
  kept["files"] = { value: { files: [] }, block: "" };
  await keep("scene", await app.engine.call("scene", { model: model.id }));
  await keep("pose", await app.engine.call("pose", { model: model.id, q: app.nowQ() }));
  let times: number[] = [];
  if (motion) {
    const t = motion.times;
    const wanted = Math.max(2, Math.ceil((t[t.length - 1] - t[0]) * RATE));
    const rows: number[] = [];
    for (let k = 0; k < wanted; k++) rows.push(Math.round((k * (t.length - 1)) / (wanted - 1)));
    const unique = [...new Set(rows)];
    times = unique.map((r) => t[r]);
    for (let first = 0; first < unique.length; first += 64)
      await keep(`frames ${first}`, await app.engine.call("frames", { motion: motion.id, rows: unique.slice(first, first + 64) }));
    await keep("table", await app.engine.call("table", { file: motion.file }));
  }
  const data = { model: { ...model, components: [] }, motion: motion && { ...motion, times: null }, times, kept, layers: app.doc.layers, follow: app.doc.follow };
  const script = await (await fetch(document.querySelector<HTMLScriptElement>("script[src]")!.src)).text();
  const style = await (await fetch(document.querySelector<HTMLLinkElement>("link[rel=stylesheet]")!.href)).text();
  const title = stem(motion?.file ?? model.file).replace(/[<>&]/g, "");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<title>${title}</title><link rel="icon" href="data:,"><style>${style}</style></head>
<body><div id="studio"></div>
<script type="application/json" id="soleus-shared">${safe(JSON.stringify(data))}</script>
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

