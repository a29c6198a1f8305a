/** One model that is drawn: its bodies, muscles, markers, forces and mass center at a frame. */

import { Color, Group, Vector3, type Quaternion, type Ray } from "three";
import { Bodies, type Layer } from "./bodies";
import type { FrameData, SceneData } from "./data";
import { Dots } from "./dots";
import { Muscles } from "./muscles";
import { FORCE, GOLD, MODELLED } from "./palette";
import { LIGHT } from "./shader";
import { Tubes } from "./tubes";

/** What a user may click. */
export interface Hit {
  kind: "body" | "muscle" | "marker" | "measured" | "surface" | "arrow";
  index: number;
}

const MARKER_M = 0.0085;
const CENTER_M = 0.02;
/** Distance at which an arrow is met, m. */
const ARROW_M = 0.012;

export class Actor {
  readonly group = new Group();
  readonly bodies: Bodies;
  readonly muscles: Muscles;
  readonly center = new Vector3();
  private offset = new Vector3();
  private dots = new Dots();
  private arrows = new Tubes(8);
  /** Ends of the arrows that are drawn, and their numbers. */
  private shafts: { index: number; from: Vector3; to: Vector3 }[] = [];
  private shadows: Group | null = null;
  private shown: Record<string, boolean> = {};
  private selected: Hit | null = null;
  private posed: { f: FrameData; k: number } | null = null;

  /** `sides` is the number of corners around a muscle. */
  constructor(readonly scene: SceneData, strengths: (number | null)[], sides: number) {
    this.bodies = new Bodies(scene);
    this.muscles = new Muscles(strengths, sides);
    this.dots.resize(scene.markers.length + 1);
    this.group.add(...this.bodies.batches.map((b) => b.mesh), this.muscles.tubes.mesh, this.dots.mesh, this.arrows.mesh);
  }

  /** Shows frame `k`. */
  pose(f: FrameData, k: number): void {
    this.posed = { f, k };
    this.bodies.pose(f.poses, 7 * k * this.bodies.count);
    this.muscles.set(f, k);
    this.center.fromArray(f.center, 3 * k);
    this.marks();
    this.arrows.clear();
    this.shafts = [];
    const count = f.count > 0 ? f.arrows.length / f.count / 6 : 0;
    const [at, force] = [new Vector3(), new Vector3()];
    for (let i = 0; i < count; i++) {
      at.fromArray(f.arrows, 6 * (k * count + i));
      force.fromArray(f.arrows, 6 * (k * count + i) + 3).multiplyScalar(this.scene.metersPerNewton);
      const length = force.length();
      if (!(length > 1e-3)) continue;
      const head = at.clone().addScaledVector(force, Math.max(0.5, 1 - 0.07 / length));
      const tip = at.clone().add(force);
      this.shafts.push({ index: i, from: at.clone(), to: tip });
      this.arrows.straight(at.toArray(), head.toArray(), 0.008, 0.008, FORCE);
      this.arrows.straight(head.toArray(), tip.toArray(), 0.022, 0.0005, FORCE);
    }
    this.arrows.end();
  }

  /** Markers and the mass center. */
  private marks(): void {
    const on = this.shown.markers !== false;
    const place = new Vector3();
    this.scene.markers.forEach((m, i) => {
      place.copy(this.bodies.toGround(m.body, new Vector3(...m.station)));
      const isChosen = this.selected?.kind === "marker" && this.selected.index === i;
      this.dots.set(i, place.x, place.y, place.z, on ? MARKER_M : 0, isChosen ? GOLD : MODELLED);
    });
    const c = this.center;
    this.dots.set(this.scene.markers.length, c.x, c.y, c.z, this.shown.center ? CENTER_M : 0, GOLD);
    this.dots.end();
  }

  /** A place on an arrow, for tests. */
  arrowAt(k: number): Vector3 | null {
    const s = this.shafts[k];
    return s ? s.from.clone().lerp(s.to, 0.6) : null;
  }

  /** Where a marker of the model is. */
  marker(i: number): Vector3 {
    return this.dots.at(i);
  }

  setLayers(shown: Record<string, boolean>): void {
    this.shown = shown;
    const on = (k: string) => shown[k] !== false;
    for (const b of this.bodies.batches) b.mesh.visible = on(b.layer);
    this.muscles.tubes.mesh.visible = on("muscles");
    this.arrows.mesh.visible = on("forces");
    if (this.shadows) this.shadows.visible = on("floor");
    if (this.posed) this.marks();
  }

  select(hit: Hit | null): void {
    this.selected = hit;
    this.bodies.choose(hit?.kind === "body" ? hit.index : -1000);
    this.muscles.choose(hit?.kind === "muscle" ? hit.index : -1);
    if (this.posed) this.marks();
  }

  /** Puts it beside its place, and gives it a color of its own. */
  dress(offset: Vector3, tint: string | null, opacity: number): void {
    this.offset.copy(offset);
    const color = new Color(tint ?? "#000000");
    for (const mesh of [...this.bodies.batches.map((b) => b.mesh), this.muscles.tubes.mesh, this.arrows.mesh]) {
      const m = mesh.material;
      m.uniforms.offset.value.copy(offset);
      m.uniforms.tint.value.set(...srgb(color), tint ? 0.62 : 0);
      m.uniforms.opacity.value = opacity;
      m.transparent = opacity < 1;
      mesh.renderOrder = opacity < 1 ? 1 : 0;
      m.uniformsNeedUpdate = true;
    }
    this.dots.mesh.material.uniforms.offset.value.copy(offset);
    if (tint) this.dots.mesh.visible = false;
  }

  /** Shadows on the floor; null takes them away. */
  shade(color: Color | null): void {
    if (!this.shadows && color) {
      this.shadows = new Group();
      for (const mesh of [...this.bodies.batches.filter((b) => b.layer === "bodies" && !b.mesh.material.transparent).map((b) => b.mesh), this.muscles.tubes.mesh]) {
        const own = mesh.clone();
        own.material = mesh.material.clone();
        // Poses and place are those of what throws the shadow.
        for (const name of ["poses", "offset"]) if (mesh.material.uniforms[name]) own.material.uniforms[name] = mesh.material.uniforms[name];
        own.material.uniforms.shadow.value.set(LIGHT.x, LIGHT.y, LIGHT.z, 1);
        own.material.depthWrite = false;
        own.renderOrder = -1;
        own.frustumCulled = false;
        this.shadows.add(own);
      }
      this.group.add(this.shadows);
    }
    if (!this.shadows) return;
    this.shadows.visible = color !== null && this.shown.floor !== false;
    if (color) for (const m of this.shadows.children as any[]) m.material.uniforms.shade.value.set(...srgb(color), 1);
  }

  /** What a ray meets. */
  pick(ray: Ray, pixel: number): { distance: number; hit: Hit } | null {
    let best: { distance: number; hit: Hit } | null = null;
    const take = (distance: number, kind: Hit["kind"], index: number) => {
      if (!best || distance < best.distance) best = { distance, hit: { kind, index } };
    };
    const layers = new Set<Layer>((["bodies", "contacts", "wraps"] as const).filter((l) => this.shown[l] !== false));
    const body = this.bodies.pick(ray, layers);
    if (body) take(body.distance, body.surface >= 0 ? "surface" : "body", body.surface >= 0 ? body.surface : body.body);
    const [on, near] = [new Vector3(), new Vector3()];
    if (this.shown.forces !== false)
      for (const { index, from, to } of this.shafts) {
        const away = Math.sqrt(ray.distanceSqToSegment(from, to, on, near));
        const distance = on.distanceTo(ray.origin);
        if (away < Math.max(ARROW_M, 3.5 * pixel * distance)) take(distance, "arrow", index);
      }
    // A muscle or a marker that lies on a body is what one points at; so is a muscle on the surface that it bends around.
    const muscle = this.shown.muscles !== false ? this.muscles.pick(ray, pixel) : null;
    if (muscle) take(muscle.distance - 0.012, "muscle", muscle.index);
    const marker = this.shown.markers !== false ? this.dots.pick(ray, pixel) : null;
    if (marker && marker.index < this.scene.markers.length) take(marker.distance - 0.03, "marker", marker.index);
    return best;
  }

  /** Places of all bodies but the ground, to look at. */
  places(): Vector3[] {
    return this.bodies.corners().map((p) => p.add(this.offset));
  }

  /** All round marks, whose size depends on the window. */
  get round(): Dots[] {
    return [this.dots];
  }

  bodyTurn(body: number): Quaternion {
    return this.bodies.quaternion(body);
  }

  dispose(): void {
    this.bodies.dispose();
    this.muscles.tubes.dispose();
    this.arrows.dispose();
  }
}

function srgb(c: Color): [number, number, number] {
  const v = c.getRGB({ r: 0, g: 0, b: 0 }, "srgb");
  return [v.r, v.g, v.b];
}
