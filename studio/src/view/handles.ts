/** Points of a path and middles of wrap objects that can be taken hold of and moved. */

import { Plane, Ray, Raycaster, Vector2, Vector3, type PerspectiveCamera } from "three";
import type { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Bodies } from "./bodies";
import { Dots } from "./dots";
import { GOLD } from "./palette";

export interface Handle {
  /** The component, and the property that is its place. */
  path: string;
  property: string;
  kind: "point" | "wrap";
  body: number;
  /** The frame that the property counts from, by its number. */
  frame: number;
  /** Place in the body, m. */
  station: [number, number, number];
}

const RADIUS_M = 0.011;
const WRAP = 0x56b4e9;

export class Handles {
  readonly dots = new Dots();
  private list: Handle[] = [];
  private bodies: Bodies | null = null;
  private held = -1;
  private over = -1;
  private plane = new Plane();
  /** The handle was moved to a place in its body, m; `done` when it was let go. */
  onMove: (handle: Handle, station: Vector3, done: boolean) => void = () => {};
  /** There are so many now. */
  onSet: (count: number) => void = () => {};
  /** A handle was clicked and not moved. */
  onClick: (handle: Handle) => void = () => {};

  constructor(
    private canvas: HTMLCanvasElement,
    private camera: PerspectiveCamera,
    private controls: OrbitControls,
    private redraw: () => void,
  ) {
    this.dots.mesh.material.uniforms.least.value = 5;
    this.dots.mesh.material.depthTest = false;
    this.dots.mesh.renderOrder = 5;
    this.dots.resize(0);
    // Before the camera hears of it.
    canvas.addEventListener("pointerdown", (e) => this.take(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", (e) => this.drop(e), { capture: true });
    canvas.addEventListener("pointercancel", (e) => this.drop(e), { capture: true });
  }

  /** Whether one is held. */
  get busy(): boolean {
    return this.held >= 0;
  }

  set(list: Handle[], bodies: Bodies | null): void {
    if (this.busy) return;
    this.list = list;
    this.dots.resize(list.length);
    this.onSet(list.length);
    if (bodies) this.place(bodies);
    this.redraw();
  }

  /** Places of the handles on the canvas, −1 to 1, for tests. */
  places(): { path: string; x: number; y: number }[] {
    return this.list.map((h, i) => {
      const p = this.dots.at(i).project(this.camera);
      return { path: h.path, x: p.x, y: p.y };
    });
  }

  place(bodies: Bodies): void {
    this.bodies = bodies;
    this.list.forEach((h, i) => {
      if (i === this.held) return;
      const p = bodies.toGround(h.body, new Vector3(...h.station));
      this.dots.set(i, p.x, p.y, p.z, RADIUS_M * (i === this.over ? 1.35 : 1), h.kind === "wrap" ? WRAP : GOLD);
    });
    this.dots.end();
  }

  private ray(e: PointerEvent): Ray {
    const b = this.canvas.getBoundingClientRect();
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2(((e.clientX - b.left) / b.width) * 2 - 1, 1 - ((e.clientY - b.top) / b.height) * 2), this.camera);
    return caster.ray;
  }

  private find(e: PointerEvent): number {
    if (this.list.length === 0) return -1;
    const pixel = (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / this.canvas.clientHeight;
    return this.dots.pick(this.ray(e), 2 * pixel)?.index ?? -1;
  }

  private moved = false;

  private take(e: PointerEvent): void {
    const i = this.find(e);
    if (i < 0 || e.button !== 0) return;
    e.stopImmediatePropagation();
    this.canvas.setPointerCapture(e.pointerId);
    this.controls.enabled = false;
    this.held = i;
    this.moved = false;
    // It moves across the line of sight.
    this.plane.setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new Vector3()), this.dots.at(i));
  }

  private move(e: PointerEvent): void {
    if (this.held < 0) {
      const over = e.buttons === 0 ? this.find(e) : -1;
      if (over !== this.over && this.bodies) {
        this.over = over;
        this.canvas.style.cursor = over >= 0 ? "grab" : "";
        this.place(this.bodies);
        this.redraw();
      }
      return;
    }
    const p = this.ray(e).intersectPlane(this.plane, new Vector3());
    if (!p || !this.bodies) return;
    this.moved = true;
    const h = this.list[this.held];
    this.dots.set(this.held, p.x, p.y, p.z, 1.35 * RADIUS_M, h.kind === "wrap" ? WRAP : GOLD);
    this.dots.end();
    this.redraw();
    this.onMove(h, this.bodies.toBody(h.body, p), false);
  }

  private drop(e: PointerEvent): void {
    if (this.held < 0) return;
    e.stopImmediatePropagation();
    const h = this.list[this.held];
    const place = this.dots.at(this.held);
    this.held = -1;
    this.controls.enabled = true;
    if (!this.bodies) return;
    if (this.moved) this.onMove(h, this.bodies.toBody(h.body, place), true);
    else this.onClick(h);
  }
}
