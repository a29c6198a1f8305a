/** The engine as WebAssembly: bytes in, bytes out. */

let answer: ((bytes: Uint8Array) => Uint8Array) | null = null;
const early: Uint8Array[] = [];
const decoder = new TextDecoder();

async function start(module: WebAssembly.Module): Promise<void> {
  let memory: WebAssembly.Memory;
  const text = (at: number, length: number) => decoder.decode(new Uint8Array(memory.buffer, at, length));
  const page = {
    now: () => performance.now() / 1000,
    tell: (at: number, length: number) => {
      const value = JSON.parse(text(at, length));
      if (value.panic) self.postMessage({ panic: value.panic });
      else self.postMessage(told(value));
    },
  };
  const wasm = (await WebAssembly.instantiate(module, { page })).exports as any;
  memory = wasm.memory;
  const engine = wasm.engine_new();
  answer = (bytes) => {
    const given = wasm.bytes_new(bytes.length);
    new Uint8Array(memory.buffer, wasm.bytes_at(given), bytes.length).set(bytes);
    const found = wasm.engine_answer(engine, given);
    const copy = new Uint8Array(memory.buffer, wasm.bytes_at(found), wasm.bytes_length(found)).slice();
    wasm.bytes_free(found);
    return copy;
  };
}

/** A message without a block. */
function told(value: object): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(value));
  const bytes = new Uint8Array(4 + json.length);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  return bytes;
}

function reply(bytes: Uint8Array): void {
  try {
    const found = answer!(bytes);
    self.postMessage(found, { transfer: [found.buffer] });
  } catch (e) {
    self.postMessage({ panic: String(e) });
  }
}

self.onmessage = async (e: MessageEvent) => {
  if (e.data instanceof Uint8Array) {
    if (answer) reply(e.data);
    else early.push(e.data);
  } else {
    await start(e.data.module);
    early.splice(0).forEach(reply);
  }
};
