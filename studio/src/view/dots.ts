/** Round marks in one buffer. */

import { BufferAttribute, DynamicDrawUsage, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, Ray, Vector3, type RawShaderMaterial } from "three";
import { dots } from "./shader";

export class Dots {
  readonly mesh: Mesh<InstancedBufferGeometry, RawShaderMaterial>;
  private place = new Float32Array();
  private color = new Uint8Array();
  private used = 0;

  constructor() {
    const g = new InstancedBufferGeometry();
    g.setAttribute("corner", new BufferAttribute(new Float32Array([-1, -1, 1, -1, 1, 1, -1, 1]), 2));
    g.setIndex([0, 1, 2, 0, 2, 3]);
    this.mesh = new Mesh(g, dots());
    this.mesh.frustumCulled = false;
  }

  get count(): number {
    return this.used;
  }

  /** Room for so many. */
  resize(count: number): void {
    this.used = count;
    if (4 * count > this.place.length) {
      this.place = new Float32Array(4 * count);
      this.color = new Uint8Array(4 * count);
      const g = this.mesh.geometry;
      g.dispose();
      (g as any)._maxInstanceCount = undefined;
      const [place, color] = [new InstancedBufferAttribute(this.place, 4), new InstancedBufferAttribute(this.color, 4, true)];
      place.setUsage(DynamicDrawUsage);
      color.setUsage(DynamicDrawUsage);
      g.setAttribute("place", place);
      g.setAttribute("color", color);
    }
    this.mesh.geometry.instanceCount = count;
    this.mesh.visible = count > 0;
  }

  /** One mark; of radius 0 it is not seen. */
  set(i: number, x: number, y: number, z: number, radius: number, color: number): void {
    const seen = Number.isFinite(x + y + z);
    this.place.set(seen ? [x, y, z, radius] : [0, 0, 0, 0], 4 * i);
    this.color.set([color >> 16, (color >> 8) & 255, color & 255, 255], 4 * i);
  }

  at(i: number, out = new Vector3()): Vector3 {
    return out.fromArray(this.place, 4 * i);
  }

  end(): void {
    for (const name of ["place", "color"]) {
      const a = this.mesh.geometry.getAttribute(name) as InstancedBufferAttribute | undefined;
      if (a) a.needsUpdate = true;
    }
  }

  /** The mark that a ray meets first. */
  pick(ray: Ray, pixel: number): { distance: number; index: number } | null {
    let best: { distance: number; index: number } | null = null;
    const [p, on] = [new Vector3(), new Vector3()];
    for (let i = 0; i < this.used; i++) {
      const r = this.place[4 * i + 3];
      if (r <= 0) continue;
      this.at(i, p);
      const distance = ray.closestPointToPoint(p, on).distanceTo(ray.origin);
      if (on.distanceTo(p) > Math.max(r, 4 * pixel * distance)) continue;
      if (!best || distance < best.distance) best = { distance, index: i };
    }
    return best;
  }
}
