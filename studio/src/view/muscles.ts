/** Muscles along their paths: thick where the belly is, the color of their activation, tendon at the ends. */

import type { Ray } from "three";
import { Vector3 } from "three";
import type { FrameData } from "./data";
import { activationColor, CHOSEN, TENDON } from "./palette";
import { Tubes, type Rgb } from "./tubes";

/** Distance between two rings, m: fine enough for the shape of a belly. */
const RING_M = 0.028;
/** Rings of all muscles together; with more muscles, each has fewer. */
const MOST_RINGS = 9000;

/** Radius of the belly of a muscle, m, from its strength, N: its cross section grows with it. */
const bellyRadius = (strength: number | null) => 0.0035 + 0.00015 * Math.sqrt(Math.min(Math.max(strength ?? 250, 50), 8000));

/** Part of the radius at a place along the path, 0 to 1. */
const thickness = (t: number) => 0.34 + 0.66 * Math.max(Math.sin(Math.PI * t), 0) ** 0.9;

export class Muscles {
  readonly tubes: Tubes;
  private radii: number[];
  private points: Float32Array = new Float32Array();
  private begin: Uint32Array = new Uint32Array([0]);
  /** First corners of the rings that stand at the points of the paths, path after path. */
  private atPoints: number[] = [];
  /** The corner in the middle of each belly. */
  private middles: number[] = [];
  private chosen = -1;
  private shown: { f: FrameData; k: number } | null = null;

  constructor(private strengths: (number | null)[], sides: number) {
    this.tubes = new Tubes(sides);
    this.radii = strengths.map(bellyRadius);
  }

  get count(): number {
    return this.begin.length - 1;
  }

  /** Shows frame `k`. */
  set(f: FrameData, k: number): void {
    this.shown = { f, k };
    const count = f.count > 0 ? f.activity.length / f.count : 0;
    const first = k * count;
    const low = f.begin[first] ?? 0;
    const high = f.begin[first + count] ?? low;
    this.points = f.points.subarray(3 * low, 3 * high);
    this.begin = new Uint32Array(count + 1);
    for (let i = 0; i <= count; i++) this.begin[i] = f.begin[first + i] - low;
    const step = Math.max(RING_M, (RING_M * count * 16) / MOST_RINGS);
    this.tubes.clear();
    this.middles = [];
    this.atPoints = [];
    for (let i = 0; i < count; i++) this.one(i, i === this.chosen ? CHOSEN : rounded(activationColor(f.activity[first + i])), step);
    this.tubes.end();
  }

  private one(i: number, color: Rgb, step: number): void {
    const [a, b] = [this.begin[i], this.begin[i + 1]];
    const p = this.points;
    let total = 0;
    const pieces: number[] = [];
    for (let k = a; k + 1 < b; k++) {
      const l = Math.hypot(p[3 * k + 3] - p[3 * k], p[3 * k + 4] - p[3 * k + 1], p[3 * k + 5] - p[3 * k + 2]);
      pieces.push(l);
      total += l;
    }
    this.middles.push(this.tubes.written);
    if (total < 1e-6) return;
    this.tubes.begin();
    const radius = this.radii[i] ?? 0.004;
    const tendons = this.strengths[i] !== null;
    let done = 0;
    let middle = Infinity;
    for (let k = a; k + 1 < b; k++) {
      const l = pieces[k - a];
      const [x, y, z] = [p[3 * k], p[3 * k + 1], p[3 * k + 2]];
      const [ux, uy, uz] = [p[3 * k + 3] - x, p[3 * k + 4] - y, p[3 * k + 5] - z];
      const parts = Math.max(1, Math.ceil(l / step));
      const isLast = k + 2 === b;
      for (let m = 0; m < parts + (isLast ? 1 : 0); m++) {
        const s = m / parts;
        const t = (done + s * l) / total;
        // Where two pieces meet, the ring stands between their directions.
        let [dx, dy, dz] = [ux, uy, uz];
        if (m === 0 && k > a && l > 1e-9 && pieces[k - a - 1] > 1e-9) {
          const [u, v] = [1 / l, 1 / pieces[k - a - 1]];
          dx = ux * u + (x - p[3 * k - 3]) * v;
          dy = uy * u + (y - p[3 * k - 2]) * v;
          dz = uz * u + (z - p[3 * k - 1]) * v;
        }
        if (m === 0 || (isLast && m === parts)) this.atPoints.push(this.tubes.written);
        if (Math.abs(t - 0.5) < middle) [middle, this.middles[i]] = [Math.abs(t - 0.5), this.tubes.written];
        const end = tendons ? Math.min(t, 1 - t) : 1;
        const mix = end < 0.04 ? 0 : end < 0.1 ? (end - 0.04) / 0.06 : 1;
        const c: Rgb = mix === 1 ? color : [0, 1, 2].map((n) => TENDON[n] + (color[n] - TENDON[n]) * mix) as Rgb;
        this.tubes.ring(x + s * ux, y + s * uy, z + s * uz, dx, dy, dz, radius * (tendons ? thickness(t) : 0.6), c);
      }
      done += l;
    }
  }

  choose(index: number): void {
    if (index === this.chosen) return;
    this.chosen = index;
    if (this.shown) this.set(this.shown.f, this.shown.k);
  }

  /** Points of the paths as they are drawn, the middles of rings of the tubes, and the color in the middle of each belly. */
  drawn(): { points: number[]; colors: number[] } {
    return { points: this.atPoints.flatMap((corner) => this.tubes.middleAt(corner)), colors: this.middles.map((m) => this.tubes.colorAt(m)) };
  }

  /** Places along a path, from its middle outwards. */
  placesOf(i: number): Vector3[] {
    const list: Vector3[] = [];
    for (let k = this.begin[i]; k + 1 < this.begin[i + 1]; k++)
      for (const s of [0.1, 0.3, 0.5, 0.7, 0.9])
        list.push(new Vector3().fromArray(this.points, 3 * k).lerp(new Vector3().fromArray(this.points, 3 * k + 3), s));
    const middle = (list.length - 1) / 2;
    return list.map((p, k) => ({ p, d: Math.abs(k - middle) })).sort((x, y) => x.d - y.d).map((x) => x.p);
  }

  /** The nearest path that a ray meets; one that is as thin as a few pixels (`pixel` is the size of one at 1 m) can be met too. */
  pick(ray: Ray, pixel: number): { distance: number; index: number } | null {
    let best: { distance: number; index: number } | null = null;
    const [p, q, on, near] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
    for (let i = 0; i < this.count; i++)
      for (let k = this.begin[i]; k + 1 < this.begin[i + 1]; k++) {
        p.fromArray(this.points, 3 * k);
        q.fromArray(this.points, 3 * k + 3);
        const square = ray.distanceSqToSegment(p, q, on, near);
        const depth = on.distanceTo(ray.origin);
        const radius = Math.max(this.radii[i] ?? 0.004, 3.5 * pixel * depth);
        if (square > radius * radius) continue;
        // Where the ray enters the tube.
        const distance = depth - Math.sqrt(Math.max(radius * radius - square, 0));
        if (!best || distance < best.distance) best = { distance, index: i };
      }
    return best;
  }
}

const rounded = (c: number[]) => c.map(Math.round) as Rgb;
