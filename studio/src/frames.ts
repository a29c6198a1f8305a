/** Frames of motions, which the engine makes as they are asked for: of 100 000 frames, those near the cursor are held. */

import type { Engine } from "./engine/engine";
import type { Answer } from "./engine/message";

/** Frames that are asked for at once. */
export const CHUNK = 64;
/** Chunks that are kept for each motion. */
const KEPT = 32;
/** Pictures in a second that a screen shows at most. */
const SCREEN_HZ = 60;

/** Frames of a motion, or the one frame of a pose. */
export class Frames {
  readonly poses: Float32Array;
  readonly begin: Uint32Array;
  readonly points: Float32Array;
  readonly activity: Float32Array;
  readonly arrows: Float32Array;
  readonly center: Float32Array;
  readonly q: Float32Array;
  readonly count: number;

  constructor(a: Answer) {
    const v = a.value;
    this.count = v.count;
    this.poses = a.f32(v.poses);
    this.begin = a.u32(v.begin);
    this.points = a.f32(v.points);
    this.activity = a.f32(v.activity);
    this.arrows = a.f32(v.arrows);
    this.center = a.f32(v.mass_center);
    this.q = Array.isArray(v.q) ? new Float32Array(v.q) : a.f32(v.q);
  }
}

/** The row nearest to a time. */
export function rowAt(times: Float64Array, time: number): number {
  if (times.length === 0) return 0;
  let [low, high] = [0, times.length - 1];
  while (high - low > 1) {
    const m = (low + high) >> 1;
    if (times[m] <= time) low = m;
    else high = m;
  }
  return time - times[low] <= times[high] - time ? low : high;
}

/** One motion, chunk by chunk. */
export class Stream {
  private chunks = new Map<string, Frames | Promise<Frames>>();

  constructor(
    private engine: Engine,
    readonly id: number,
    readonly times: Float64Array,
    private fail: (e: unknown) => void,
  ) {}

  /** Rows from one that is shown to the next: no screen shows more than 60 a second. */
  stride(speed: number): number {
    const t = this.times;
    const rate = (t.length - 1) / Math.max(t[t.length - 1] - t[0], 1e-9);
    return Math.max(1, Math.floor((rate * speed) / SCREEN_HZ));
  }

  private chunk(number: number, stride: number): Frames | Promise<Frames> {
    const key = `${stride} ${number}`;
    const kept = this.chunks.get(key);
    if (kept) {
      // The one used last is forgotten last.
      this.chunks.delete(key);
      this.chunks.set(key, kept);
      return kept;
    }
    const rows: number[] = [];
    for (let i = 0; i < CHUNK && (number * CHUNK + i) * stride < this.times.length; i++) rows.push((number * CHUNK + i) * stride);
    const asked = this.engine.call("frames", { motion: this.id, rows }).then((a) => {
      const frames = new Frames(a);
      this.chunks.set(key, frames);
      return frames;
    });
    asked.catch((e) => {
      this.chunks.delete(key);
      this.fail(e);
    });
    this.chunks.set(key, asked);
    while (this.chunks.size > KEPT) this.chunks.delete(this.chunks.keys().next().value!);
    return asked;
  }

  /** The frame of a row, if it is there; if not, it is asked for. With `ahead` the next ones are, too. */
  now(row: number, stride: number, ahead: boolean): { frames: Frames; k: number } | null {
    const at = Math.floor(row / stride);
    const number = Math.floor(at / CHUNK);
    const found = this.chunk(number, stride);
    if (ahead && (number + 1) * CHUNK * stride < this.times.length) void this.chunk(number + 1, stride);
    return found instanceof Frames ? { frames: found, k: Math.min(at % CHUNK, found.count - 1) } : null;
  }

  /** The frame of a row, when it is there. */
  async frame(row: number): Promise<{ frames: Frames; k: number }> {
    const frames = await this.chunk(Math.floor(row / CHUNK), 1);
    return { frames, k: Math.min(row % CHUNK, frames.count - 1) };
  }

  /** How many frames are held, for tests. */
  get held(): number {
    return this.chunks.size * CHUNK;
  }
}
