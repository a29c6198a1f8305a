/** One store: the document (files, model, motion, what is chosen), and the history of changes. */

import type { Answer } from "./engine/message";

export interface Coordinate {
  name: string;
  path: string;
  joint: string;
  range: [number, number];
  default: number;
  rotational: boolean;
  locked: boolean;
  clamped: boolean;
  moves: boolean;
  dependent: boolean;
}

export interface ModelInfo {
  id: number;
  name: string;
  file: string;
  mass: number;
  credits: string;
  publications: string;
  version: number;
  bodies: { name: string; path: string }[];
  coordinates: Coordinate[];
  paths: { name: string; path: string; strength: number | null }[];
  markers: { name: string; path: string }[];
  components: [string, string][];
}

export interface MotionInfo {
  id: number;
  file: string;
  times: Float64Array;
  arrows: string[];
  hasActivations: boolean;
  activations: string | null;
  loads: string | null;
}

/** Measured markers. */
export interface Measured {
  file: string;
  labels: string[];
  times: Float64Array;
  points: Float32Array;
}

/** A change of a property, and what was there before. */
export interface Edit {
  path: string;
  name: string;
  before: string | null;
  after: string | null;
}

export interface Document {
  files: string[];
  model: ModelInfo | null;
  motion: MotionInfo | null;
  measured: Measured | null;
  /** Path of the component that is chosen. */
  selection: string | null;
  /** Row of the motion, which may lie between two. */
  time: number;
  playing: boolean;
  speed: number;
  loop: boolean;
  /** Values of coordinates by name, rad and m, as sliders have them. */
  q: Record<string, number>;
  held: Record<string, boolean>;
  layers: Record<string, boolean>;
  follow: boolean;
  edits: Edit[];
  /** Edits that count; those after it were undone. */
  done: number;
}

export type Key = keyof Document;

export class Store {
  readonly doc: Document = {
    files: [],
    model: null,
    motion: null,
    measured: null,
    selection: null,
    time: 0,
    playing: false,
    speed: 1,
    loop: true,
    q: {},
    held: {},
    layers: { bodies: true, muscles: true, markers: true, measured: true, wraps: false, contacts: true, forces: true, center: false, floor: true },
    follow: false,
    edits: [],
    done: 0,
  };
  private listeners: { keys: Key[]; hear: () => void }[] = [];
  private changed = new Set<Key>();
  private scheduled = false;

  /** Calls when one of these changes, once for several changes in a row. */
  on(keys: Key[], hear: () => void): void {
    this.listeners.push({ keys, hear });
  }

  set(change: Partial<Document>): void {
    for (const key of Object.keys(change) as Key[]) {
      (this.doc as any)[key] = change[key];
      this.changed.add(key);
    }
    if (!this.scheduled) {
      this.scheduled = true;
      queueMicrotask(() => {
        this.scheduled = false;
        const changed = this.changed;
        this.changed = new Set();
        // What goes wrong in one panel must not keep the others from hearing.
        for (const l of this.listeners)
          if (l.keys.some((k) => changed.has(k)))
            try {
              l.hear();
            } catch (e) {
              console.error(e);
            }
      });
    }
  }
}

/** Frames of a motion, or the one frame of a pose. */
export class Frames {
  readonly rows: Uint32Array;
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
    this.rows = v.rows ? a.u32(v.rows) : new Uint32Array([0]);
    this.poses = a.f32(v.poses);
    this.begin = a.u32(v.begin);
    this.points = a.f32(v.points);
    this.activity = a.f32(v.activity);
    this.arrows = a.f32(v.arrows);
    this.center = a.f32(v.mass_center);
    this.q = Array.isArray(v.q) ? new Float32Array(v.q) : a.f32(v.q);
  }
}
