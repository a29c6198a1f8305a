/** Tubes along lines, all in one buffer that is written for each picture: muscles, errors of markers, arrows. */

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Mesh, type RawShaderMaterial } from "three";
import { surface } from "./shader";

export type Rgb = [number, number, number];

export class Tubes {
  readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;
  private place = new Float32Array();
  private normal = new Int8Array();
  private color = new Uint8Array();
  private index = new Uint32Array();
  private corners = 0;
  private indices = 0;
  private cosines: number[] = [];
  private sines: number[] = [];
  /** A direction across the tube, carried from ring to ring so that it does not twist. */
  private across = [1, 0, 0];
  private along = [0, 1, 0];
  private last = -1;

  /** `sides` is the number of corners around. */
  constructor(private sides: number) {
    this.mesh = new Mesh(new BufferGeometry(), surface({ placed: false }));
    this.mesh.frustumCulled = false;
    for (let k = 0; k < sides; k++) {
      this.cosines.push(Math.cos((2 * Math.PI * k) / sides));
      this.sines.push(Math.sin((2 * Math.PI * k) / sides));
    }
    this.reserve(256);
  }

  /** Room for so many rings more. */
  private reserve(rings: number): void {
    const need = this.corners + rings * this.sides;
    if (3 * need <= this.place.length) return;
    const room = Math.ceil(1.5 * need) + 64;
    const [place, normal, color, index] = [new Float32Array(3 * room), new Int8Array(4 * room), new Uint8Array(4 * room), new Uint32Array(6 * room)];
    place.set(this.place);
    normal.set(this.normal);
    color.set(this.color);
    index.set(this.index);
    [this.place, this.normal, this.color, this.index] = [place, normal, color, index];
    const g = this.mesh.geometry;
    g.dispose();
    const dynamic = (a: BufferAttribute) => (a.setUsage(DynamicDrawUsage), a);
    g.setAttribute("position", dynamic(new BufferAttribute(place, 3)));
    g.setAttribute("normal", dynamic(new BufferAttribute(normal, 4, true)));
    g.setAttribute("color", dynamic(new BufferAttribute(color, 4, true)));
    g.setIndex(dynamic(new BufferAttribute(index, 1)));
  }

  /** Begins anew. */
  clear(): void {
    this.corners = this.indices = 0;
    this.last = -1;
  }

  /** Begins a tube. */
  begin(): void {
    this.last = -1;
  }

  /** Adds a ring about a point; `ux`, `uy`, `uz` is the direction of the tube there, of any length. */
  ring(x: number, y: number, z: number, ux: number, uy: number, uz: number, radius: number, c: Rgb): void {
    this.reserve(1);
    const length = Math.hypot(ux, uy, uz);
    if (length > 1e-9) this.along = [ux / length, uy / length, uz / length];
    const [tx, ty, tz] = this.along;
    let [ax, ay, az] = this.last < 0 ? (Math.abs(ty) < 0.9 ? [0, 1, 0] : [1, 0, 0]) : this.across;
    const d = ax * tx + ay * ty + az * tz;
    [ax, ay, az] = [ax - d * tx, ay - d * ty, az - d * tz];
    const n = Math.hypot(ax, ay, az) || 1;
    [ax, ay, az] = [ax / n, ay / n, az / n];
    this.across = [ax, ay, az];
    const [bx, by, bz] = [ty * az - tz * ay, tz * ax - tx * az, tx * ay - ty * ax];
    const first = this.corners;
    for (let k = 0; k < this.sides; k++) {
      const [p, q] = [this.cosines[k], this.sines[k]];
      const [nx, ny, nz] = [p * ax + q * bx, p * ay + q * by, p * az + q * bz];
      const at = this.corners++;
      this.place[3 * at] = x + radius * nx;
      this.place[3 * at + 1] = y + radius * ny;
      this.place[3 * at + 2] = z + radius * nz;
      this.normal[4 * at] = 127 * nx;
      this.normal[4 * at + 1] = 127 * ny;
      this.normal[4 * at + 2] = 127 * nz;
      this.color[4 * at] = c[0];
      this.color[4 * at + 1] = c[1];
      this.color[4 * at + 2] = c[2];
      this.color[4 * at + 3] = 255;
    }
    if (this.last >= 0)
      for (let k = 0; k < this.sides; k++) {
        const m = (k + 1) % this.sides;
        const [a, b, e, f] = [this.last + k, this.last + m, first + k, first + m];
        const i = this.indices;
        this.index[i] = a;
        this.index[i + 1] = b;
        this.index[i + 2] = e;
        this.index[i + 3] = b;
        this.index[i + 4] = f;
        this.index[i + 5] = e;
        this.indices += 6;
      }
    this.last = first;
  }

  /** A straight piece; with radii at its two ends. */
  straight(a: ArrayLike<number>, b: ArrayLike<number>, from: number, to: number, c: Rgb): void {
    const [x, y, z] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    this.begin();
    this.ring(a[0], a[1], a[2], x, y, z, from, c);
    this.ring(b[0], b[1], b[2], x, y, z, to, c);
  }

  /** Corners that were written so far. */
  get written(): number {
    return this.corners;
  }

  /** The middle of the ring that begins with a corner, as the graphics card has it. */
  middleAt(corner: number): [number, number, number] {
    const sum: [number, number, number] = [0, 0, 0];
    for (let k = 3 * corner; k < 3 * (corner + this.sides); k++) sum[k % 3] += this.place[k] / this.sides;
    return sum;
  }

  /** The color of a corner, as the graphics card has it. */
  colorAt(corner: number): number {
    return (this.color[4 * corner] << 16) | (this.color[4 * corner + 1] << 8) | this.color[4 * corner + 2];
  }

  /** Hands over what was written. */
  end(): void {
    const g = this.mesh.geometry;
    g.setDrawRange(0, this.indices);
    for (const [name, size] of [["position", 3], ["normal", 4], ["color", 4]] as const) {
      const a = g.getAttribute(name) as BufferAttribute;
      a.clearUpdateRanges();
      a.addUpdateRange(0, size * this.corners);
      a.needsUpdate = true;
    }
    g.index!.clearUpdateRanges();
    g.index!.addUpdateRange(0, this.indices);
    g.index!.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
