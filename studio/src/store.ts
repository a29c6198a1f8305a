/** One store: the document (files, model, motion, what is chosen), and the history of changes. */

export interface Coordinate {
  name: string;
  path: string;
  joint: string;
  range: [number, number];
  default: number;
  rotational: boolean;
  /** Empty if the model says none: a coordinate that turns and shifts at once. */
  unit: string;
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
  /** First and last time of a table of activations; null if they come with the motion. */
  known: [number, number] | null;
  activations: string | null;
  loads: string | null;
}

/** Another motion that is drawn with the first one, and the file of its model. */
export interface Other {
  motion: MotionInfo;
  model: string;
  /** Where it begins: its mass center, m. */
  origin: ArrayLike<number>;
}

/** Measured markers. */
export interface Measured {
  file: string;
  labels: string[];
  times: Float64Array;
  points: Float32Array;
}

/** A change of a property, and what was there before; or another version of the whole model. */
export type Edit =
  | { path: string; name: string; before: string | null; after: string | null }
  | { text: string; before: number; after: number };

/** What is drawn of the tables. */
export interface Curves {
  chosen: { file: string; label: string }[];
  /** The table whose columns are listed. */
  table: string;
  over: "time" | "cycle";
}

export interface Document {
  files: string[];
  model: ModelInfo | null;
  motion: MotionInfo | null;
  others: Other[];
  /** Meters between motions that are drawn side by side; 0: one over the other. */
  beside: number;
  /** Whether motions begin together, whatever their times are. */
  together: boolean;
  measured: Measured | null;
  /** Path of the component that is chosen. */
  selection: string | null;
  /** Time of the cursor, s. */
  time: number;
  playing: boolean;
  speed: number;
  loop: boolean;
  /** Values of coordinates by name, rad and m, as sliders have them. */
  q: Record<string, number>;
  /** Coordinates that are locked at the values that they have. */
  held: Record<string, boolean>;
  /** Why the coordinates are not all as they were asked for; empty if they are. */
  unmet: string;
  layers: Record<string, boolean>;
  follow: boolean;
  curves: Curves | null;
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
    others: [],
    beside: 0,
    together: true,
    measured: null,
    selection: null,
    time: 0,
    playing: false,
    speed: 1,
    loop: true,
    q: {},
    held: {},
    unmet: "",
    layers: { bodies: true, muscles: true, markers: true, measured: true, wraps: false, contacts: true, forces: true, center: false, floor: true },
    follow: false,
    curves: null,
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
