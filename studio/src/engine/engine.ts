/** What answers a page: WebAssembly in a worker, the program behind a socket, or what a shared page carries. One interface. */

import { Answer, packed, read, Refused, write, type NamedBytes } from "./message";

/** What a tool says on its way. */
export interface Told {
  progress?: { what: string; done: number; total: number | null; left_s: number | null; detail: string };
  note?: string;
  diagnostic?: any;
  reached?: Reached;
}

/** Errors of the markers at a frame, m. */
export interface MarkerError {
  rms: number;
  max: number;
  worst: string;
}

/** The motion that a tool has reached: one frame, or a whole motion that is being improved. */
export interface Reached {
  names: string[];
  times: number[];
  rows: number[][];
  error: MarkerError | null;
}

export interface Ran {
  files: NamedBytes[];
  verdict: string | null;
  seconds: number;
}

export interface Engine {
  /** In words, for the user. */
  readonly title: string;
  /** Whether files lie where the program was started. */
  readonly native: boolean;
  /** Whether it computes, or only shows what it has. */
  readonly computes: boolean;
  call(method: string, fields?: object, files?: NamedBytes[]): Promise<Answer>;
  /** Runs a tool on files that the engine has; `signal` stops it. */
  run(tool: string, request: object | null, tell: (t: Told) => void, signal: AbortSignal): Promise<Ran>;
}

interface Waiting {
  resolve: (a: Answer) => void;
  reject: (e: Error) => void;
  tell?: (t: Told) => void;
}

/** Messages with numbers, and who waits for their answers. */
class Desk {
  private next = 1;
  private waiting = new Map<number, Waiting>();

  constructor(private send: (bytes: Uint8Array) => void) {}

  ask(method: string, fields: object, files: NamedBytes[], tell?: (t: Told) => void): { id: number; answer: Promise<Answer> } {
    const id = this.next++;
    const { list, block } = packed(files);
    const all = files.length > 0 ? { ...fields, files: list } : fields;
    const answer = new Promise<Answer>((resolve, reject) => this.waiting.set(id, { resolve, reject, tell }));
    this.send(write({ id, method, fields: all }, block));
    return { id, answer };
  }

  /** Whatever the engine sends. */
  hear(bytes: Uint8Array): void {
    const { value, block } = read(bytes);
    const one = this.waiting.get(value.id);
    if (value.answer !== undefined || value.refused !== undefined) {
      this.waiting.delete(value.id);
      if (value.refused) one?.reject(refusal(value.refused));
      else one?.resolve(new Answer(value.answer, block));
    } else one?.tell?.(value);
  }

  /** The engine is gone. */
  fail(e: Error): void {
    for (const w of this.waiting.values()) w.reject(e);
    this.waiting.clear();
  }
}

function refusal(r: any): Refused {
  return new Refused(r.error ?? "refused", r.kind ?? "Input", r.diagnostics ?? []);
}

function ran(a: Answer): Ran {
  const files = a.value.files.map((f: any) => ({ name: f.name, bytes: a.bytes(f.bytes).slice() }));
  return { files, verdict: a.value.verdict, seconds: a.value.seconds };
}

/** Files that tools have no use for. */
const DRAWN_ONLY = /\.(vtp|stl|obj)$/i;

/** WebAssembly in a worker of the page. A tool runs in a worker of its own, which is ended to stop it. */
export class WorkerEngine implements Engine {
  readonly title = "this page (WebAssembly)";
  readonly computes = true;
  readonly native = false;
  private desk: Desk;
  private files = new Map<string, Uint8Array>();

  private constructor(private module: WebAssembly.Module) {
    this.desk = this.start().desk;
  }

  static async load(): Promise<WorkerEngine> {
    const found = await fetch(new URL("engine.wasm", document.baseURI));
    if (!found.ok) throw new Error(`engine.wasm: ${found.status}`);
    // Some servers of static files do not know the type that streaming asks for.
    const module = await WebAssembly.compile(await found.arrayBuffer());
    return new WorkerEngine(module);
  }

  private start(): { desk: Desk; worker: Worker } {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    const desk = new Desk((bytes) => worker.postMessage(bytes, [bytes.buffer as ArrayBuffer]));
    worker.onmessage = (e) => {
      if (e.data instanceof Uint8Array) desk.hear(e.data);
      else if (e.data.panic) desk.fail(new Refused(`the engine stopped: ${e.data.panic}`, "Fault", []));
    };
    worker.onerror = (e) => desk.fail(new Refused(`the engine stopped: ${e.message}`, "Fault", []));
    worker.postMessage({ module: this.module });
    return { desk, worker };
  }

  async call(method: string, fields: object = {}, files: NamedBytes[] = []): Promise<Answer> {
    if (method === "put") for (const f of files) this.files.set(f.name, f.bytes);
    const answer = await this.desk.ask(method, fields, files).answer;
    if (method === "walker" || (method === "write_model" && (fields as any).file))
      this.files.set(answer.value.file ?? (fields as any).file, new TextEncoder().encode(answer.value.text));
    return answer;
  }

  async run(tool: string, request: object | null, tell: (t: Told) => void, signal: AbortSignal): Promise<Ran> {
    const { desk, worker } = this.start();
    try {
      const files = [...this.files].filter(([n]) => !DRAWN_ONLY.test(n)).map(([name, bytes]) => ({ name, bytes }));
      // It may have been stopped before its files are there.
      const stopped = new Promise<never>((_, reject) => {
        const stop = () => reject(new Refused("stopped", "Cancelled", []));
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      });
      stopped.catch(() => {});
      await Promise.race([desk.ask("put", {}, files).answer, stopped]);
      return ran(await Promise.race([desk.ask("run", { tool, request }, [], tell).answer, stopped]));
    } finally {
      worker.terminate();
    }
  }
}

/** The program that opened this page, behind a socket. */
export class SocketEngine implements Engine {
  readonly title = "the soleus program, all cores";
  readonly computes = true;
  readonly native = true;

  private constructor(
    private socket: WebSocket,
    private desk: Desk,
  ) {}

  static open(url: string): Promise<SocketEngine> {
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    return new Promise((resolve, reject) => {
      const desk = new Desk((bytes) => socket.send(bytes as Uint8Array<ArrayBuffer>));
      socket.onopen = () => resolve(new SocketEngine(socket, desk));
      socket.onmessage = (e) => desk.hear(new Uint8Array(e.data));
      socket.onerror = () => reject(new Error("the program does not answer"));
      socket.onclose = () => {
        desk.fail(new Refused("the program has ended; start `soleus studio` again", "Fault", []));
        window.dispatchEvent(new Event("engine-gone"));
      };
    });
  }

  call(method: string, fields: object = {}, files: NamedBytes[] = []): Promise<Answer> {
    return this.desk.ask(method, fields, files).answer;
  }

  async run(tool: string, request: object | null, tell: (t: Told) => void, signal: AbortSignal): Promise<Ran> {
    const { id, answer } = this.desk.ask("run", { tool, request }, [], tell);
    const stop = () => this.socket.send(write({ id: 0, method: "cancel", fields: { run: id } }) as Uint8Array<ArrayBuffer>);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    return ran(await answer);
  }
}

/** The name of an answer that is kept. */
export function keyOf(method: string, fields: any): string {
  if (method === "frames") return `frames ${fields.motion} ${fields.rows[0]}`;
  if (method === "table") return `table ${fields.file}`;
  return method === "scene" ? `scene ${fields.model}` : method;
}

/** What a shared page carries: answers that were kept when it was made. */
export class SharedEngine implements Engine {
  readonly title = "a shared page";
  readonly computes = false;
  readonly native = false;

  constructor(private kept: Map<string, Answer>) {}

  async call(method: string, fields: any = {}): Promise<Answer> {
    const found = this.kept.get(keyOf(method, fields));
    if (!found) throw new Refused("a shared page cannot compute", "Input", []);
    return found;
  }

  run(): Promise<Ran> {
    return Promise.reject(new Refused("a shared page cannot compute", "Input", []));
  }
}
