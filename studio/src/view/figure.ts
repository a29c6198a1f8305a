/** The figure: models and measured markers, the camera, and how well a picture can be drawn in the time there is. Nothing is computed here but pixels. */

import { BufferAttribute, BufferGeometry, Color, LineSegments, PerspectiveCamera, Raycaster, Scene as Scenery, Vector2, Vector3, WebGLRenderer, type Ray } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Actor, type Hit } from "./actor";
import type { FrameData, SceneData } from "./data";
import { Dots } from "./dots";
import { Handles } from "./handles";
import { ERROR, LINES, MEASURED } from "./palette";
import { Quality } from "./quality";
import { lines } from "./shader";
import { Tubes } from "./tubes";

export type { Hit } from "./actor";
export type View = "side" | "front" | "back" | "top" | "three-quarters";
export const VIEWS: View[] = ["side", "front", "back", "top", "three-quarters"];

const DIRECTIONS: Record<View, [number, number, number]> = { side: [0, 0.06, 1], front: [1, 0.06, 0], back: [-1, 0.06, 0], top: [0, 1, 0.001], "three-quarters": [0.75, 0.22, 1] };

/** Half of the floor that is drawn, and the distance between its lines, m. */
const FLOOR_M = 8;
const LINE_M = 0.5;

export class Figure {
  readonly renderer: WebGLRenderer;
  readonly camera = new PerspectiveCamera(28, 1, 0.02, 200);
  readonly controls: OrbitControls;
  readonly handles: Handles;
  private scenery = new Scenery();
  private quality: Quality;
  private actor: Actor | null = null;
  /** Other motions beside the one that is shown, by their numbers. */
  private others = new Map<number, Actor>();
  private measured = new Dots();
  private errors = new Tubes(5);
  private points = 0;
  private floor: LineSegments;
  private shadow = new Color("#dddddd");
  private size = { width: 2, height: 2 };
  /** Size and pixel ratio of the last picture. */
  private drawn = { width: 0, height: 0, ratio: 0 };
  private dirty = true;
  private target = new Vector3();
  private shown: Record<string, boolean> = {};
  private selected: Hit | null = null;
  /** Nothing is drawn until there is something to see: an empty floor would cost as much as the first picture. */
  held = false;
  frames = 0;
  /** Called before each picture. */
  beforePicture: (seconds: number) => void = () => {};

  constructor(canvas: HTMLCanvasElement) {
    this.quality = new Quality();
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.quality.isSoftware, powerPreference: "high-performance" });
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.redraw());
    this.handles = new Handles(canvas, this.camera, this.controls, () => this.redraw());
    this.floor = new LineSegments(floorLines(), lines());
    this.floor.frustumCulled = false;
    this.floor.renderOrder = -2;
    this.measured.resize(0);
    this.scenery.add(this.floor, this.measured.mesh, this.errors.mesh, this.handles.dots.mesh);
    this.view("side");
    let last = performance.now();
    const draw = (now: number) => {
      requestAnimationFrame(draw);
      this.beforePicture(Math.min((now - last) / 1000, 0.25));
      last = now;
      if (this.held) return;
      if (this.dirty) {
        this.dirty = false;
        this.frames++;
        this.quality.moving(now);
        this.render();
      } else if (this.quality.settle(now)) this.render();
    };
    requestAnimationFrame(draw);
  }

  private render(): void {
    const ratio = this.quality.ratio;
    // Size and ratio at once: each change gives the canvas a new buffer.
    if (this.drawn.ratio !== ratio || this.drawn.width !== this.size.width || this.drawn.height !== this.size.height) {
      this.drawn = { ...this.size, ratio };
      this.renderer.setDrawingBufferSize(this.size.width, this.size.height, ratio);
    }
    const pixel = this.pixel();
    for (const d of [this.measured, this.handles.dots, ...(this.actor?.round ?? []), ...[...this.others.values()].flatMap((a) => a.round)]) d.mesh.material.uniforms.pixel.value = pixel;
    const u = (this.floor.material as any).uniforms;
    u.middle.value.copy(this.controls.target);
    u.reach.value = Math.min(FLOOR_M - 1, 1.2 + 0.9 * this.camera.position.distanceTo(this.controls.target));
    this.actor?.shade(this.quality.isFine ? this.shadow : null);
    if (this.quality.isSoftware) for (const a of [this.actor, ...this.others.values()]) a?.bodies.detail(this.quality.isFine);
    this.renderer.render(this.scenery, this.camera);
  }

  /** Size of a pixel of the window at a distance of 1 m, m. */
  private pixel(): number {
    return (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(this.size.height, 1);
  }

  /** Colors of the page. */
  theme(background: string, grid: string): void {
    this.scenery.background = new Color(background);
    const c = new Color(grid).getRGB({ r: 0, g: 0, b: 0 }, "srgb");
    (this.floor.material as any).uniforms.color.value.set(c.r, c.g, c.b);
    this.shadow = new Color(background).multiplyScalar(0.72);
    this.redraw();
  }

  resize(width: number, height: number): void {
    if (width < 2 || height < 2) return;
    this.size = { width, height };
    this.quality.resize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.redraw();
  }

  redraw(): void {
    this.dirty = true;
  }

  /** Draws now, as well as it can, for a picture to keep. */
  picture(): HTMLCanvasElement {
    this.quality.fine();
    this.render();
    return this.renderer.domElement;
  }

  private make(scene: SceneData, strengths: (number | null)[]): Actor {
    return new Actor(scene, strengths, this.quality.isSoftware || strengths.length > 150 ? 6 : 10);
  }

  /** The model that is shown. */
  show(scene: SceneData, strengths: (number | null)[]): void {
    if (this.actor) {
      this.scenery.remove(this.actor.group);
      this.actor.dispose();
    }
    this.actor = this.make(scene, strengths);
    this.scenery.add(this.actor.group);
    this.actor.setLayers(this.shown);
    this.actor.select(this.selected);
    this.redraw();
  }

  /** Another motion: drawn over the first one, or `beside` it by so many meters. */
  showOther(id: number, scene: SceneData, strengths: (number | null)[]): void {
    this.hideOther(id);
    const actor = this.make(scene, strengths);
    actor.setLayers(this.shown);
    this.others.set(id, actor);
    this.scenery.add(actor.group);
    this.redraw();
  }

  hideOther(id: number): void {
    const old = this.others.get(id);
    if (!old) return;
    this.scenery.remove(old.group);
    old.dispose();
    this.others.delete(id);
    this.redraw();
  }

  /** Where other motions stand: moved along the floor by x and z, m, and so far beside each other; and their colors. */
  arrange(others: { id: number; shift: [number, number] }[], beside: number): void {
    others.forEach(({ id, shift }, i) => {
      const color = LINES[(i + 1) % LINES.length];
      this.others.get(id)?.dress(new Vector3(shift[0], 0, shift[1] - beside * (i + 1)), color, beside > 0 ? 1 : 0.55);
    });
    this.redraw();
  }

  poseOther(id: number, f: FrameData, k: number): void {
    this.others.get(id)?.pose(f, k);
    this.redraw();
  }

  /** Switches. */
  setLayers(shown: Record<string, boolean>): void {
    this.shown = shown;
    this.actor?.setLayers(shown);
    for (const a of this.others.values()) a.setLayers(shown);
    this.measured.mesh.visible = shown.measured !== false && this.points > 0;
    this.errors.mesh.visible = shown.measured !== false && shown.markers !== false;
    this.floor.visible = shown.floor !== false;
    this.redraw();
  }

  /** Measured markers of a motion. */
  setMeasured(count: number): void {
    this.points = count;
    this.measured.resize(count);
    for (let i = 0; i < count; i++) this.measured.set(i, NaN, 0, 0, 0, MEASURED);
    this.measured.end();
    this.setLayers(this.shown);
  }

  /** Shows frame `k`; measured markers are points, and `pairs` says which marker of the model each one is. */
  pose(f: FrameData, k: number, points: Float32Array | null, pairs: number[], follow: boolean): void {
    if (!this.actor) return;
    this.held = false;
    this.actor.pose(f, k);
    this.handles.place(this.actor.bodies);
    this.setPoints(points, pairs);
    const center = this.actor.center;
    if (follow) {
      const shift = center.clone().sub(this.target).setY(0);
      this.controls.target.add(shift);
      this.camera.position.add(shift);
      this.controls.update();
    }
    this.target.copy(center);
    this.redraw();
  }

  /** Measured markers alone, as a recording without a model has them. */
  setPoints(points: Float32Array | null, pairs: number[]): void {
    this.errors.clear();
    for (let i = 0; i < this.points; i++) {
      const [x, y, z] = points ? [points[3 * i], points[3 * i + 1], points[3 * i + 2]] : [NaN, NaN, NaN];
      this.measured.set(i, x, y, z, 0.008, MEASURED);
      const m = pairs[i] ?? -1;
      if (Number.isFinite(x + y + z) && m >= 0 && this.actor) this.errors.straight([x, y, z], this.actor.marker(m).toArray(), 0.0022, 0.0022, ERROR);
    }
    this.measured.end();
    this.errors.end();
    this.redraw();
  }

  /** Bodies of the model that is shown. */
  get bodies() {
    return this.actor?.bodies ?? null;
  }

  /** Points of each muscle as they are drawn, for tests. */
  drawnPaths(): { points: number[]; colors: number[] } {
    return this.actor ? this.actor.muscles.drawn() : { points: [], colors: [] };
  }

  /** Marks what is chosen. */
  select(hit: Hit | null): void {
    this.selected = hit;
    this.actor?.select(hit);
    this.redraw();
  }

  private ray(x: number, y: number): Ray {
    const caster = new Raycaster();
    this.camera.updateMatrixWorld();
    caster.setFromCamera(new Vector2(x, y), this.camera);
    return caster.ray;
  }

  /** What is under a point of the canvas, −1 to 1. */
  pick(x: number, y: number): Hit | null {
    const ray = this.ray(x, y);
    const found = this.actor?.pick(ray, this.pixel()) ?? null;
    const measured = this.measured.mesh.visible ? this.measured.pick(ray, this.pixel()) : null;
    // As for markers of the model, those that lie on a body are what one points at.
    if (measured && (!found || measured.distance - 0.03 < found.distance)) return { kind: "measured", index: measured.index };
    return found?.hit ?? null;
  }

  /** A place on the canvas, −1 to 1, of something that can be clicked, for tests. */
  placeOf(what: "measured" | "arrow" | "surface", index: number): [number, number] | null {
    const at = what === "measured" ? this.measured.at(index) : what === "arrow" ? this.actor?.arrowAt(index) : this.actor?.bodies.surfaceAt(index);
    if (!at) return null;
    this.camera.updateMatrixWorld();
    const p = at.clone().project(this.camera);
    return [p.x, p.y];
  }

  /** A place on the canvas, −1 to 1, where a muscle is seen; null if it is hidden. */
  visiblePlaceOf(muscle: number): [number, number] | null {
    for (const place of this.actor?.muscles.placesOf(muscle) ?? []) {
      this.camera.updateMatrixWorld();
      const p = place.project(this.camera);
      const hit = this.pick(p.x, p.y);
      if (hit?.kind === "muscle" && hit.index === muscle) return [p.x, p.y];
    }
    return null;
  }

  /** Places of other frames that the camera shows too, such as those of a limb that swings. */
  around: Vector3[] = [];

  /** Places of the figure as it stands. */
  places(): Vector3[] {
    return this.actor?.places() ?? [];
  }

  /** Puts the camera where all of the figure is seen. */
  view(from: View): void {
    const places = [...this.places(), ...this.around, ...[...this.others.values()].flatMap((a) => a.places()), ...this.measuredPlaces()];
    const middle = new Vector3(0, 0.9, 0);
    let [height, width] = [1.9, 0.8];
    if (places.length > 0) {
      const low = places.reduce((a, p) => a.min(p), places[0].clone());
      const high = places.reduce((a, p) => a.max(p), places[0].clone());
      middle.addVectors(low, high).multiplyScalar(0.5);
      const span = high.clone().sub(low);
      height = Math.max(from === "top" ? span.z : span.y, 0.15) + 0.12;
      width = Math.max(from === "front" || from === "back" ? span.z : from === "top" || from === "side" ? span.x : Math.hypot(span.x, span.z), 0.15) + 0.12;
    }
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const d = Math.max(height / 2 / half, width / 2 / half / Math.max(this.camera.aspect, 0.2)) * 1.05 + 0.15;
    this.controls.target.copy(middle);
    this.camera.position.copy(new Vector3(...DIRECTIONS[from]).setLength(d).add(middle));
    this.controls.update();
    this.target.copy(this.actor?.center ?? middle);
    this.redraw();
  }

  /** Where the camera is and what it looks at, m. */
  get eye(): { from: number[]; to: number[] } {
    return { from: this.camera.position.toArray(), to: this.controls.target.toArray() };
  }

  set eye({ from, to }: { from: number[]; to: number[] }) {
    this.camera.position.fromArray(from);
    this.controls.target.fromArray(to);
    this.controls.update();
    this.redraw();
  }

  /** Looks at a place from where it looks now, at the same height. */
  lookAt(place: ArrayLike<number>): void {
    const shift = new Vector3(place[0] - this.controls.target.x, 0, place[2] - this.controls.target.z);
    this.controls.target.add(shift);
    this.camera.position.add(shift);
    this.controls.update();
    this.target.set(place[0], place[1], place[2]);
    this.redraw();
  }

  /** Turns the camera about what it looks at, rad, and comes nearer by a factor. */
  turn(yaw: number, pitch: number, nearer = 1): void {
    const arm = this.camera.position.clone().sub(this.controls.target);
    const r = arm.length() / nearer;
    const [theta, phi] = [Math.atan2(arm.x, arm.z) + yaw, Math.min(Math.max(Math.acos(arm.y / arm.length()) - pitch, 0.02), Math.PI - 0.02)];
    arm.set(r * Math.sin(phi) * Math.sin(theta), r * Math.cos(phi), r * Math.sin(phi) * Math.cos(theta));
    this.camera.position.copy(this.controls.target).add(arm);
    this.controls.update();
    this.redraw();
  }

  private measuredPlaces(): Vector3[] {
    const list: Vector3[] = [];
    if (!this.actor) for (let i = 0; i < this.points; i++) list.push(this.measured.at(i));
    return list.filter((p) => p.lengthSq() > 0);
  }
}

function floorLines(): BufferGeometry {
  const list: number[] = [];
  // In short pieces: one that begins behind the reader is cut off there.
  for (let x = -FLOOR_M; x <= FLOOR_M + 1e-9; x += LINE_M)
    for (let z = -FLOOR_M; z < FLOOR_M; z++) list.push(x, 0, z, x, 0, z + 1, z, 0, x, z + 1, 0, x);
  const g = new BufferGeometry();
  g.setAttribute("position", new BufferAttribute(new Float32Array(list), 3));
  return g;
}
