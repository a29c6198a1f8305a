/** All bodies of a model in one buffer for each layer: a picture takes one call, and a body moves by seven numbers. */

import { BufferAttribute, BufferGeometry, LatheGeometry, Matrix4, Mesh, Quaternion, Ray, SphereGeometry, Sphere, Vector2, Vector3, type RawShaderMaterial } from "three";
import type { SceneData } from "./data";
import { GROUP, surface } from "./shader";

export type Layer = "bodies" | "wraps" | "contacts";

/** A piece of surface on a body. */
interface Piece {
  body: number;
  layer: Layer;
  /** Path of the component that it is; empty for bodies. */
  component: string;
  clear: boolean;
  hull: boolean;
  color: [number, number, number];
  opacity: number;
  geometry: BufferGeometry;
}

/** Some surface that is drawn at once. */
interface Batch {
  mesh: Mesh<BufferGeometry, RawShaderMaterial>;
  layer: Layer;
  first: number;
  /** All faces, and fewer of them, once they were asked for. */
  all?: BufferAttribute;
  few?: BufferAttribute;
}

/** A surface with more corners of faces is drawn with fewer in motion, without a graphics card. */
const MANY = 30_000;
/** Size of what is left out then, m: about a pixel of a picture in motion. */
const CELL_M = 0.007;

/** What a ray may meet of a body. */
interface Target {
  body: number;
  layer: Layer;
  /** Among the surfaces that are components; −1 for bodies. */
  surface: number;
  sphere: Sphere;
  geometry: BufferGeometry;
}

export class Bodies {
  readonly batches: Batch[] = [];
  readonly count: number;
  /** Paths of the wrap objects and contact geometries that are drawn. */
  readonly surfaces: string[] = [];
  private targets: Target[] = [];
  private poses: Float32Array;

  constructor(scene: SceneData) {
    this.count = scene.bodies.length;
    this.poses = new Float32Array(8 * this.count);
    for (let i = 0; i < this.count; i++) this.poses[8 * i + 7] = 1;
    const pieces = piecesOf(scene);
    const groups = new Map<string, Piece[]>();
    for (const p of pieces) {
      const key = `${p.layer} ${p.clear ? "clear" : "full"} ${Math.floor(p.body / GROUP)}`;
      groups.set(key, [...(groups.get(key) ?? []), p]);
      if (p.hull) continue;
      p.geometry.computeBoundingSphere();
      p.geometry.computeBoundingBox();
      const surface = p.component ? this.surfaces.push(p.component) - 1 : -1;
      this.targets.push({ body: p.body, layer: p.layer, surface, sphere: p.geometry.boundingSphere!, geometry: p.geometry });
    }
    for (const list of groups.values()) {
      const first = GROUP * Math.floor(list[0].body / GROUP);
      const mesh = new Mesh(merged(list, first), surface({ placed: true, clear: list[0].clear }));
      mesh.frustumCulled = false;
      mesh.renderOrder = list[0].clear ? 2 : 0;
      this.batches.push({ mesh, layer: list[0].layer, first });
    }
  }

  /** Places all bodies: x, y, z and a quaternion w, x, y, z each, from `at` on. */
  pose(numbers: Float32Array, at: number): void {
    for (let i = 0; i < this.count; i++) {
      const [from, to] = [at + 7 * i, 8 * i];
      for (let k = 0; k < 3; k++) this.poses[to + k] = numbers[from + k];
      this.poses[to + 4] = numbers[from + 4];
      this.poses[to + 5] = numbers[from + 5];
      this.poses[to + 6] = numbers[from + 6];
      this.poses[to + 7] = numbers[from + 3];
    }
    for (const b of this.batches) {
      const list: Float32Array = b.mesh.material.uniforms.poses.value;
      list.set(this.poses.subarray(8 * b.first, Math.min(8 * (b.first + GROUP), this.poses.length)));
      b.mesh.material.uniformsNeedUpdate = true;
    }
  }

  /** All faces, or fewer of large surfaces. */
  detail(isFine: boolean): void {
    for (const b of this.batches) {
      b.all ??= b.mesh.geometry.index!;
      if (!isFine && b.all.count > MANY) b.few ??= thinned(b.mesh.geometry, b.all);
      const index = isFine ? b.all : (b.few ?? b.all);
      if (b.mesh.geometry.index !== index) b.mesh.geometry.setIndex(index);
    }
  }

  position(body: number, out = new Vector3()): Vector3 {
    return out.fromArray(this.poses, 8 * body);
  }

  quaternion(body: number, out = new Quaternion()): Quaternion {
    return out.fromArray(this.poses, 8 * body + 4);
  }

  /** A place of a body in the room. */
  toGround(body: number, station: Vector3): Vector3 {
    return station.clone().applyQuaternion(this.quaternion(body)).add(this.position(body));
  }

  /** A place of the room in a body. */
  toBody(body: number, place: Vector3): Vector3 {
    return place.clone().sub(this.position(body)).applyQuaternion(this.quaternion(body).invert());
  }

  /** Places that everything lies between: of each surface of a body the ends of its box; of a body without one its origin. */
  corners(): Vector3[] {
    const list: Vector3[] = [];
    const seen = new Set<number>();
    for (const t of this.targets) {
      if (t.layer !== "bodies" || t.body === 0) continue;
      seen.add(t.body);
      const box = t.geometry.boundingBox!;
      for (let k = 0; k < 8; k++)
        list.push(this.toGround(t.body, new Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z)));
    }
    for (let i = 1; i < this.count; i++) if (!seen.has(i)) list.push(this.position(i));
    return list;
  }

  /** The body that carries a surface; −1 if none does. */
  carrierOf(component: string): number {
    return this.targets.find((t) => t.surface >= 0 && this.surfaces[t.surface] === component)?.body ?? -1;
  }

  /** The middle of a surface in the room. */
  surfaceAt(surface: number): Vector3 | null {
    const t = this.targets.find((t) => t.surface === surface);
    return t ? this.toGround(t.body, t.sphere.center.clone()) : null;
  }

  choose(body: number): void {
    for (const b of this.batches) {
      b.mesh.material.uniforms.chosen.value = body - b.first;
      b.mesh.material.uniformsNeedUpdate = true;
    }
  }

  /** The nearest surface of the layers that a ray meets. */
  pick(ray: Ray, layers: Set<Layer>): { distance: number; body: number; surface: number } | null {
    let best: { distance: number; body: number; surface: number } | null = null;
    const [local, hit] = [new Ray(), new Vector3()];
    const [a, b, c] = [new Vector3(), new Vector3(), new Vector3()];
    for (const t of this.targets) {
      if (!layers.has(t.layer)) continue;
      local.origin.copy(this.toBody(t.body, ray.origin));
      local.direction.copy(ray.direction).applyQuaternion(this.quaternion(t.body).invert());
      if (!local.intersectsSphere(t.sphere)) continue;
      const [place, index] = [t.geometry.getAttribute("position"), t.geometry.index!];
      for (let i = 0; i < index.count; i += 3) {
        a.fromBufferAttribute(place, index.getX(i));
        b.fromBufferAttribute(place, index.getX(i + 1));
        c.fromBufferAttribute(place, index.getX(i + 2));
        if (!local.intersectTriangle(a, b, c, false, hit)) continue;
        const distance = hit.distanceTo(local.origin);
        if (!best || distance < best.distance) best = { distance, body: t.body, surface: t.surface };
      }
    }
    return best;
  }

  dispose(): void {
    for (const b of this.batches) {
      b.mesh.geometry.dispose();
      b.mesh.material.dispose();
    }
  }
}

function piecesOf(scene: SceneData): Piece[] {
  const pieces: Piece[] = [];
  const meshed = new Set(scene.shapes.filter((s) => s.layer === "body" && !s.hull).map((s) => s.body));
  for (const s of scene.shapes) {
    let geometry: BufferGeometry;
    if (s.ellipsoid) {
      const e = s.ellipsoid;
      geometry = new SphereGeometry(1, 24, 16);
      geometry.scale(e.radii[0], e.radii[1], e.radii[2]);
      const [w, x, y, z] = e.quaternion;
      geometry.applyQuaternion(new Quaternion(x, y, z, w));
      geometry.translate(e.center[0], e.center[1], e.center[2]);
    } else {
      geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(s.vertices!, 3));
      geometry.setIndex(new BufferAttribute(s.faces!, 1));
      geometry.computeVertexNormals();
    }
    const opacity = s.hull ? 0.16 : s.opacity;
    const layer = s.layer === "wrap" ? "wraps" : s.layer === "contact" ? "contacts" : "bodies";
    pieces.push({ body: s.body, layer, component: s.component ?? "", clear: opacity < 1, hull: s.hull, color: s.color, opacity, geometry });
  }
  // Bodies without meshes get bones of our own, from joint to joint.
  for (const bone of scene.bones) {
    const geometry = meshed.has(bone.body) ? null : boneBetween(new Vector3(...bone.from), new Vector3(...bone.to));
    if (geometry) pieces.push({ body: bone.body, layer: "bodies", component: "", clear: false, hull: false, color: [0xe9, 0xdc, 0xc0], opacity: 1, geometry });
  }
  return pieces;
}

/** One geometry of many, with the color and the body of each corner. */
/** Faces whose corners are in different cells of a grid, at the first corner of each cell (Rossignac and Borrel 1993). */
function thinned(geometry: BufferGeometry, all: BufferAttribute): BufferAttribute {
  const [place, body] = [geometry.getAttribute("position"), geometry.getAttribute("body")];
  const cells = new Map<number, number>();
  const first = new Uint32Array(place.count);
  const cell = (x: number) => Math.min(Math.max(Math.floor(x / CELL_M) + 1024, 0), 2047);
  for (let i = 0; i < place.count; i++) {
    // Cells of 14 m around a body, in a number that is exact.
    const key = ((body.getX(i) * 2048 + cell(place.getX(i))) * 2048 + cell(place.getY(i))) * 2048 + cell(place.getZ(i));
    if (!cells.has(key)) cells.set(key, i);
    first[i] = cells.get(key)!;
  }
  const kept: number[] = [];
  for (let i = 0; i < all.count; i += 3) {
    const [a, b, c] = [first[all.getX(i)], first[all.getX(i + 1)], first[all.getX(i + 2)]];
    if (a !== b && b !== c && c !== a) kept.push(a, b, c);
  }
  return new BufferAttribute(new Uint32Array(kept), 1);
}

function merged(pieces: Piece[], first: number): BufferGeometry {
  const corners = pieces.reduce((n, p) => n + p.geometry.getAttribute("position").count, 0);
  const indices = pieces.reduce((n, p) => n + p.geometry.index!.count, 0);
  const [place, normal] = [new Float32Array(3 * corners), new Int8Array(4 * corners)];
  const [color, body, index] = [new Uint8Array(4 * corners), new Uint8Array(corners), new Uint32Array(indices)];
  let [corner, at] = [0, 0];
  for (const p of pieces) {
    const [from, to] = [p.geometry.getAttribute("position"), p.geometry.getAttribute("normal")];
    for (let i = 0; i < from.count; i++) {
      const k = corner + i;
      place.set([from.getX(i), from.getY(i), from.getZ(i)], 3 * k);
      normal.set([127 * to.getX(i), 127 * to.getY(i), 127 * to.getZ(i), 0], 4 * k);
      color.set([...p.color, 255 * p.opacity], 4 * k);
      body[k] = p.body - first;
    }
    const faces = p.geometry.index!;
    for (let i = 0; i < faces.count; i++) index[at++] = corner + faces.getX(i);
    corner += from.count;
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(place, 3));
  geometry.setAttribute("normal", new BufferAttribute(normal, 4, true));
  geometry.setAttribute("color", new BufferAttribute(color, 4, true));
  geometry.setAttribute("body", new BufferAttribute(body, 1));
  geometry.setIndex(new BufferAttribute(index, 1));
  return geometry;
}

/** A bone of our own: wide where it meets others, slender between. */
function boneBetween(from: Vector3, to: Vector3): BufferGeometry | null {
  const axis = to.clone().sub(from);
  const length = axis.length();
  if (length < 0.01) return null;
  const r = Math.min(0.022, 0.1 * length);
  const profile = [[0, -0.6], [0.75, -0.45], [1, 0], [0.95, 0.4], [0.62, 1.1], [0.5, 2.2]];
  const points = [
    ...profile.map(([x, y]) => new Vector2(x * r, y * r)),
    ...profile.slice().reverse().map(([x, y]) => new Vector2(x * r * 0.92, length - y * r * 0.92)),
  ];
  const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), axis.normalize());
  return new LatheGeometry(points, 14).applyMatrix4(new Matrix4().compose(from, turn, new Vector3(1, 1, 1)));
}
