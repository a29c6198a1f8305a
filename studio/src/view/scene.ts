/** The figure: bodies, muscles, markers and forces of frames that the engine made. Nothing is computed here but pixels. */

import {
  AmbientLight, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, DirectionalLight, DoubleSide, Float32BufferAttribute,
  DynamicDrawUsage, GridHelper, Group, HemisphereLight, InstancedBufferAttribute, InstancedBufferGeometry, InstancedInterleavedBuffer, InstancedMesh,
  InterleavedBufferAttribute, LatheGeometry, Matrix4, Mesh, MeshStandardMaterial, PerspectiveCamera, Quaternion, Raycaster, Scene as Scenery,
  SphereGeometry, Vector2, Vector3, WebGLRenderer, type Object3D,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Answer } from "../engine/message";
import type { Frames } from "../store";
import { activationColor } from "./palette";

const GOLD = 0xe69f00;
const MEASURED = 0x0072b2;
const MODELLED = 0xcc79a7;
const FORCE = 0x009e73;

/** Time between two pictures that is felt, ms, and the fewest pixels of a picture for each of the window. */
const SLOW_MS = 45;
const LEAST_RATIO = 0.6;

/** What a user may click. */
export interface Hit {
  kind: "body" | "muscle" | "marker";
  index: number;
}

/** Radius of the belly of a muscle, m, from its strength, N: its cross section grows with it. */
const bellyRadius = (strength: number | null) => 0.004 + 0.00014 * Math.sqrt(Math.min(Math.max(strength ?? 300, 50), 8000));

export class Figure {
  readonly renderer: WebGLRenderer;
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 200);
  readonly controls: OrbitControls;
  private scenery = new Scenery();
  private bodies: Group[] = [];
  private layers: Record<string, Object3D[]> = {};
  private grid: GridHelper | null = null;
  private muscles: Muscles | null = null;
  private modelled: InstancedMesh | null = null;
  private modelledOn: { body: number; station: Vector3 }[] = [];
  private measured: InstancedMesh | null = null;
  private errors: Muscles | null = null;
  private arrows: Group[] = [];
  private center: Mesh;
  private metersPerNewton = 1e-3;
  private dirty = true;
  private target = new Vector3();
  private shown: Record<string, boolean> = {};
  private selected: Hit | null = null;
  frames = 0;
  /** Called before each picture. */
  beforePicture: (seconds: number) => void = () => {};

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.scenery.add(new HemisphereLight(0xffffff, 0x8a8478, 1.5), new AmbientLight(0xffffff, 0.35));
    const sun = new DirectionalLight(0xfff4e5, 2.0);
    sun.position.set(2, 4, 3);
    const fill = new DirectionalLight(0xdfeaff, 0.8);
    fill.position.set(-3, 2, -2);
    this.scenery.add(sun, fill);
    this.center = new Mesh(new SphereGeometry(0.022, 20, 14), new MeshStandardMaterial({ color: GOLD, roughness: 0.4 }));
    this.center.visible = false;
    this.scenery.add(this.center);
    this.view("side");
    let last = performance.now();
    let slow = 0;
    const draw = (now: number) => {
      requestAnimationFrame(draw);
      // Where pictures in a row take long, they get fewer pixels: motion matters more than edges.
      slow = this.dirty && now - last > SLOW_MS ? slow + 1 : 0;
      if (slow > 6 && this.renderer.getPixelRatio() > LEAST_RATIO) {
        this.renderer.setPixelRatio(Math.max(this.renderer.getPixelRatio() * 0.75, LEAST_RATIO));
        slow = 0;
      }
      this.beforePicture(Math.min((now - last) / 1000, 0.25));
      last = now;
      if (this.dirty) {
        this.dirty = false;
        this.frames++;
        this.renderer.render(this.scenery, this.camera);
      }
    };
    requestAnimationFrame(draw);
  }

  /** Colors of the page. */
  theme(background: string, grid: string): void {
    this.scenery.background = new Color(background);
    if (this.grid) {
      this.scenery.remove(this.grid);
      this.grid.dispose();
    }
    this.grid = new GridHelper(20, 40, grid, grid);
    (this.grid.material as any).transparent = true;
    (this.grid.material as any).opacity = 0.55;
    this.grid.visible = this.shown.floor !== false;
    this.scenery.add(this.grid);
    this.dirty = true;
  }

  resize(width: number, height: number): void {
    if (width < 2 || height < 2) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  redraw(): void {
    this.dirty = true;
  }

  /** Draws now, for a picture to keep. */
  picture(): HTMLCanvasElement {
    this.renderer.render(this.scenery, this.camera);
    return this.renderer.domElement;
  }

  /** What is fixed to bodies. */
  show(a: Answer, strengths: (number | null)[]): void {
    for (const b of this.bodies) this.scenery.remove(b);
    for (const x of [this.muscles?.mesh, this.modelled, this.errors?.mesh, ...this.arrows]) if (x) this.scenery.remove(x);
    const v = a.value;
    this.layers = { bodies: [], wraps: [], contacts: [] };
    this.bodies = v.bodies.map((_: string, i: number) => {
      const g = new Group();
      g.userData = { kind: "body", index: i };
      this.scenery.add(g);
      return g;
    });
    const meshed = new Set<number>(v.shapes.filter((x: any) => x.layer === "body" && !x.hull).map((x: any) => x.body));
    for (const shape of v.shapes) {
      let geometry: BufferGeometry;
      if (shape.ellipsoid) {
        const e = shape.ellipsoid;
        geometry = new SphereGeometry(1, 28, 18);
        geometry.scale(e.radii[0], e.radii[1], e.radii[2]);
        const [w, x, y, z] = e.quaternion;
        geometry.applyQuaternion(new Quaternion(x, y, z, w));
        geometry.translate(e.center[0], e.center[1], e.center[2]);
      } else {
        geometry = new BufferGeometry();
        geometry.setAttribute("position", new Float32BufferAttribute(a.f32(shape.vertices), 3));
        geometry.setIndex(new BufferAttribute(a.u32(shape.faces), 1));
        geometry.computeVertexNormals();
      }
      const opacity = shape.hull ? 0.16 : shape.opacity;
      const material = new MeshStandardMaterial({
        color: new Color().setRGB(shape.color[0] / 255, shape.color[1] / 255, shape.color[2] / 255, "srgb"),
        roughness: 0.72, metalness: 0, transparent: opacity < 1, opacity, depthWrite: opacity > 0.5, side: opacity < 1 ? DoubleSide : undefined,
      });
      const mesh = new Mesh(geometry, material);
      mesh.userData = { color: material.color.clone(), hull: shape.hull === true };
      this.bodies[shape.body].add(mesh);
      const layer = shape.layer === "wrap" ? "wraps" : shape.layer === "contact" ? "contacts" : "bodies";
      this.layers[layer].push(mesh);
    }
    // Bodies without meshes get bones of our own, from joint to joint.
    const material = new MeshStandardMaterial({ color: 0xe9dcc0, roughness: 0.7 });
    for (const bone of v.bones) {
      if (meshed.has(bone.body)) continue;
      const mesh = boneBetween(new Vector3(...bone.from), new Vector3(...bone.to), material.clone());
      if (!mesh) continue;
      mesh.userData = { color: material.color.clone() };
      this.bodies[bone.body].add(mesh);
      this.layers.bodies.push(mesh);
    }
    this.muscles = new Muscles(strengths.map(bellyRadius));
    this.scenery.add(this.muscles.mesh);
    this.modelledOn = v.markers.map((m: any) => ({ body: m.body, station: new Vector3(...(m.station as [number, number, number])) }));
    this.modelled = spheres(this.modelledOn.length, 0.009, MODELLED);
    this.scenery.add(this.modelled);
    this.metersPerNewton = v.meters_per_newton;
    this.arrows = [];
    this.select(this.selected);
    this.setLayers(this.shown);
  }

  /** Switches. */
  setLayers(shown: Record<string, boolean>): void {
    this.shown = shown;
    const on = (k: string) => shown[k] !== false;
    for (const layer of ["bodies", "wraps", "contacts"]) for (const o of this.layers[layer] ?? []) o.visible = on(layer);
    if (this.muscles) this.muscles.mesh.visible = on("muscles");
    if (this.modelled) this.modelled.visible = on("markers");
    if (this.measured) this.measured.visible = on("measured");
    if (this.errors) this.errors.mesh.visible = on("measured") && on("markers");
    for (const a of this.arrows) if (a.userData.on) a.visible = on("forces");
    this.center.visible = on("center");
    if (this.grid) this.grid.visible = on("floor");
    this.dirty = true;
  }

  /** Measured markers of a motion. */
  setMeasured(count: number): void {
    if (this.measured) this.scenery.remove(this.measured);
    if (this.errors) this.scenery.remove(this.errors.mesh);
    this.measured = spheres(count, 0.0085, MEASURED);
    this.measured.visible = this.shown.measured !== false;
    this.errors = new Muscles(new Array(count).fill(0.0022), 0xd55e00);
    this.scenery.add(this.measured, this.errors.mesh);
    this.dirty = true;
  }

  /** Shows frame `k`; measured markers are points, and `pairs` says which marker of the model each one is. */
  pose(f: Frames, k: number, points: Float32Array | null, pairs: number[], follow: boolean): void {
    const n = this.bodies.length;
    for (let i = 0; i < n; i++) {
      const at = 7 * (k * n + i);
      const p = f.poses;
      this.bodies[i].position.set(p[at], p[at + 1], p[at + 2]);
      this.bodies[i].quaternion.set(p[at + 4], p[at + 5], p[at + 6], p[at + 3]);
    }
    const count = f.count > 0 ? f.activity.length / f.count : 0;
    this.muscles?.set(f.points, f.begin, k * count, count, f.activity);
    const place = new Vector3();
    const matrix = new Matrix4();
    this.modelledOn.forEach((m, i) => {
      const b = this.bodies[m.body];
      place.copy(m.station).applyQuaternion(b.quaternion).add(b.position);
      this.modelled!.setMatrixAt(i, matrix.makeTranslation(place.x, place.y, place.z));
    });
    if (this.modelled) this.modelled.instanceMatrix.needsUpdate = true;
    this.setPoints(points, pairs);
    const arrows = f.count > 0 ? f.arrows.length / f.count / 6 : 0;
    while (this.arrows.length < arrows) {
      const a = arrow();
      this.arrows.push(a);
      this.scenery.add(a);
    }
    this.arrows.forEach((a, i) => {
      const at = 6 * (k * arrows + i);
      const force = new Vector3(f.arrows[at + 3], f.arrows[at + 4], f.arrows[at + 5]);
      const length = force.length() * this.metersPerNewton;
      a.userData.on = i < arrows && length > 1e-3;
      a.visible = a.userData.on && this.shown.forces !== false;
      if (!a.visible) return;
      a.position.set(f.arrows[at], f.arrows[at + 1], f.arrows[at + 2]);
      a.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), force.normalize());
      a.scale.set(1, length, 1);
    });
    this.center.position.set(f.center[3 * k], f.center[3 * k + 1], f.center[3 * k + 2]);
    if (follow) {
      const shift = this.center.position.clone().setY(0).sub(this.target.clone().setY(0));
      this.controls.target.add(shift);
      this.camera.position.add(shift);
      this.controls.update();
    }
    this.target.copy(this.center.position);
    this.dirty = true;
  }

  /** Measured markers alone, as a recording without a model has them. */
  setPoints(points: Float32Array | null, pairs: number[]): void {
    if (!this.measured) return;
    const matrix = new Matrix4();
    const a = new Matrix4();
    const from: number[] = [];
    const begin = [0];
    for (let i = 0; i < this.measured.count; i++) {
      const [x, y, z] = points ? [points[3 * i], points[3 * i + 1], points[3 * i + 2]] : [NaN, NaN, NaN];
      const seen = Number.isFinite(x + y + z);
      this.measured.setMatrixAt(i, seen ? matrix.makeTranslation(x, y, z) : matrix.makeScale(0, 0, 0));
      const m = pairs[i];
      if (seen && m >= 0 && this.modelled) {
        this.modelled.getMatrixAt(m, a);
        from.push(x, y, z, a.elements[12], a.elements[13], a.elements[14]);
      }
      begin.push(from.length / 3);
    }
    this.measured.instanceMatrix.needsUpdate = true;
    this.errors?.set(new Float32Array(from), new Uint32Array(begin), 0, this.measured.count, null);
    this.dirty = true;
  }

  /** Points of each muscle as they are drawn, for tests. */
  drawnPaths(): { points: number[]; colors: number[] } {
    return this.muscles ? this.muscles.drawn() : { points: [], colors: [] };
  }

  /** Marks what is chosen. */
  select(hit: Hit | null): void {
    this.selected = hit;
    this.bodies.forEach((b, i) =>
      b.children.forEach((m) => {
        const material = (m as Mesh).material as MeshStandardMaterial;
        material.emissive.setHex(hit?.kind === "body" && hit.index === i ? 0x6b4a00 : 0x000000);
      }),
    );
    this.muscles?.mark(hit?.kind === "muscle" ? hit.index : -1);
    if (this.modelled) {
      const color = new Color();
      for (let i = 0; i < this.modelled.count; i++) this.modelled.setColorAt(i, color.setHex(hit?.kind === "marker" && hit.index === i ? GOLD : MODELLED));
      if (this.modelled.instanceColor) this.modelled.instanceColor.needsUpdate = true;
    }
    this.dirty = true;
  }

  /** What is under a point of the canvas, −1 to 1. */
  pick(x: number, y: number): Hit | null {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(x, y), this.camera);
    let best: { distance: number; hit: Hit } | null = null;
    const take = (distance: number, hit: Hit) => {
      if (!best || distance < best.distance) best = { distance, hit };
    };
    if (this.shown.bodies !== false)
      for (const found of ray.intersectObjects(this.bodies, true)) {
        if (!found.object.visible || found.object.userData.hull) continue;
        take(found.distance, found.object.parent!.userData as Hit);
        break;
      }
    if (this.modelled?.visible)
      for (const found of ray.intersectObject(this.modelled)) {
        // A marker lies on a body and is small: it comes first.
        take(found.distance - 0.03, { kind: "marker", index: found.instanceId! });
        break;
      }
    if (this.muscles?.mesh.visible) {
      const found = this.muscles.pick(ray);
      if (found) take(found.distance - 0.01, { kind: "muscle", index: found.index });
    }
    return (best as { hit: Hit } | null)?.hit ?? null;
  }

  /** Where a muscle is on the canvas, −1 to 1, for tests. */
  middleOf(muscle: number): [number, number] | null {
    const p = this.muscles?.middle(muscle)?.project(this.camera);
    return p ? [p.x, p.y] : null;
  }

  /** Puts the camera where all of the figure is seen. */
  view(from: "side" | "front" | "back" | "top" | "three-quarters"): void {
    const middle = new Vector3();
    let size = 1.9;
    const points: Vector3[] = this.bodies.slice(1).map((b) => b.position);
    if (points.length > 0) {
      const low = points.reduce((a, p) => a.min(p), points[0].clone());
      const high = points.reduce((a, p) => a.max(p), points[0].clone());
      middle.addVectors(low, high).multiplyScalar(0.5);
      size = Math.max(high.distanceTo(low) * 1.25 + 0.3, 0.3);
    } else middle.set(0, 0.9, 0);
    const d = (size / 2 / Math.tan((this.camera.fov * Math.PI) / 360)) * 1.12;
    const direction = { side: [0, 0.06, 1], front: [1, 0.06, 0], back: [-1, 0.06, 0], top: [0, 1, 0.001], "three-quarters": [0.75, 0.22, 1] }[from];
    this.controls.target.copy(middle);
    this.camera.position.copy(new Vector3(...(direction as [number, number, number])).setLength(d).add(middle));
    this.controls.update();
    this.target.copy(this.center.position);
    this.dirty = true;
  }
}

/** A bone of our own: wide where it meets others, slender between. */
function boneBetween(from: Vector3, to: Vector3, material: MeshStandardMaterial): Mesh | null {
  const axis = to.clone().sub(from);
  const length = axis.length();
  if (length < 0.01) return null;
  const r = Math.min(0.022, 0.1 * length);
  const profile = [[0, -0.6], [0.75, -0.45], [1, 0], [0.95, 0.4], [0.62, 1.1], [0.5, 2.2]];
  const points = [
    ...profile.map(([x, y]) => new Vector2(x * r, y * r)),
    ...profile.slice().reverse().map(([x, y]) => new Vector2(x * r * 0.92, length - y * r * 0.92)),
  ];
  const mesh = new Mesh(new LatheGeometry(points, 16), material);
  mesh.position.copy(from);
  mesh.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), axis.normalize());
  return mesh;
}

function spheres(count: number, radius: number, color: number): InstancedMesh {
  const mesh = new InstancedMesh(new SphereGeometry(radius, 12, 8), new MeshStandardMaterial({ color: 0xffffff, roughness: 0.5 }), count);
  mesh.frustumCulled = false;
  mesh.count = count;
  const c = new Color(color);
  for (let i = 0; i < count; i++) mesh.setColorAt(i, c);
  return mesh;
}

function arrow(): Group {
  const g = new Group();
  const material = new MeshStandardMaterial({ color: FORCE, roughness: 0.5 });
  const shaft = new Mesh(new CylinderGeometry(0.009, 0.009, 0.88, 12).translate(0, 0.44, 0), material);
  const tip = new Mesh(new CylinderGeometry(0, 0.024, 0.12, 16).translate(0, 0.94, 0), material);
  g.add(shaft, tip);
  return g;
}

/** All paths in one buffer: an instance is the piece from one point to the next, drawn by the graphics card from the engine's points. */
class Muscles {
  readonly mesh: Mesh;
  private geometry: InstancedBufferGeometry;
  private capacity = 0;
  private points: Float32Array = new Float32Array();
  private shape = new Float32Array();
  private colors = new Float32Array();
  private marked = -1;
  private begin: Uint32Array = new Uint32Array();
  private first = 0;
  private used = 0;

  constructor(private radii: number[], private plain?: number) {
    this.geometry = new InstancedBufferGeometry();
    const capsule = plain === undefined ? new CapsuleGeometry(1, 1, 2, 9, 6) : new CapsuleGeometry(1, 1, 1, 6, 1);
    this.geometry.index = capsule.index;
    this.geometry.setAttribute("position", capsule.getAttribute("position"));
    this.geometry.setAttribute("normal", capsule.getAttribute("normal"));
    const material = new MeshStandardMaterial({ roughness: 0.55, vertexColors: false });
    material.onBeforeCompile = (shader) => {
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>
          attribute vec3 pieceFrom; attribute vec3 pieceTo; attribute vec3 shapeFrom; attribute vec3 shapeTo; attribute vec3 pieceColor;
          varying vec3 vPiece;
          vec3 pieceX, pieceY, pieceZ; float along, radius;
          void setPiece() {
            vec3 axis = pieceTo - pieceFrom; float l = max(length(axis), 1e-6);
            pieceY = axis / l;
            pieceX = normalize(abs(pieceY.y) < 0.9 ? cross(vec3(0.0, 1.0, 0.0), pieceY) : cross(vec3(1.0, 0.0, 0.0), pieceY));
            pieceZ = cross(pieceX, pieceY);
            along = clamp(position.y + 0.5, 0.0, 1.0);
            float t = mix(shapeFrom.x, shapeTo.x, along);
            float belly = ${plain === undefined ? "0.42 + 0.58 * pow(max(sin(3.14159 * t), 0.0), 0.8)" : "1.0"};
            radius = shapeFrom.y * belly * step(0.5, shapeFrom.z);
          }`)
        .replace("#include <beginnormal_vertex>", `setPiece(); vPiece = pieceColor;
          vec3 objectNormal = pieceX * normal.x + pieceY * normal.y + pieceZ * normal.z;`)
        .replace("#include <begin_vertex>", `
          vec3 transformed = mix(pieceFrom, pieceTo, along) + radius * (pieceX * position.x + pieceZ * position.z
            + pieceY * (position.y + 0.5 - along));`);
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", "#include <common>\nvarying vec3 vPiece;")
        .replace("#include <color_fragment>", "diffuseColor.rgb *= vPiece;");
    };
    this.mesh = new Mesh(this.geometry, plain === undefined ? material : withColor(material));
    this.mesh.frustumCulled = false;
    this.reserve(64);
  }

  private reserve(count: number): void {
    if (count <= this.capacity) return;
    this.capacity = Math.ceil(count * 1.3) + 8;
    // three.js remembers how many instances the first buffers had room for.
    (this.geometry as any)._maxInstanceCount = undefined;
    this.points = new Float32Array(3 * (this.capacity + 1));
    this.shape = new Float32Array(3 * (this.capacity + 1));
    this.colors = new Float32Array(3 * this.capacity);
    const interleave = (array: Float32Array, from: string, to: string) => {
      const buffer = new InstancedInterleavedBuffer(array, 3, 1);
      buffer.setUsage(DynamicDrawUsage);
      this.geometry.setAttribute(from, new InterleavedBufferAttribute(buffer, 3, 0));
      // The same numbers, one point further on.
      const next = new InstancedInterleavedBuffer(array.subarray(3), 3, 1);
      next.setUsage(DynamicDrawUsage);
      this.geometry.setAttribute(to, new InterleavedBufferAttribute(next, 3, 0));
    };
    interleave(this.points, "pieceFrom", "pieceTo");
    interleave(this.shape, "shapeFrom", "shapeTo");
    const color = new InstancedBufferAttribute(this.colors, 3);
    color.setUsage(DynamicDrawUsage);
    this.geometry.setAttribute("pieceColor", color);
  }

  /** Paths `first` to `first + count` of the buffer. */
  set(points: Float32Array, begin: Uint32Array, first: number, count: number, activity: Float32Array | null): void {
    const [low, high] = [begin[first] ?? 0, begin[first + count] ?? 0];
    const total = high - low;
    this.reserve(total);
    this.points.set(points.subarray(3 * low, 3 * high));
    const color = new Color();
    for (let i = 0; i < count; i++) {
      const [a, b] = [begin[first + i] - low, begin[first + i + 1] - low];
      let length = 0;
      for (let k = a; k < b; k++) {
        this.shape[3 * k] = length;
        this.shape[3 * k + 1] = this.radii[i] ?? 0.004;
        this.shape[3 * k + 2] = k + 1 < b ? 1 : 0;
        if (k + 1 < b) length += Math.hypot(...[0, 1, 2].map((c) => this.points[3 * k + 3 + c] - this.points[3 * k + c]));
      }
      if (this.plain !== undefined) color.setHex(this.plain);
      else {
        const [r, g, bl] = activationColor(activity ? activity[first + i] : NaN);
        color.setRGB(r / 255, g / 255, bl / 255, "srgb");
        if (i === this.marked) color.setHex(GOLD);
      }
      for (let k = a; k < b; k++) {
        this.shape[3 * k] = length > 0 ? this.shape[3 * k] / length : 0;
        color.toArray(this.colors, 3 * k);
      }
    }
    this.begin = begin;
    this.first = first;
    this.used = count;
    this.geometry.instanceCount = Math.max(total - 1, 0);
    for (const name of ["pieceFrom", "pieceTo", "shapeFrom", "shapeTo"]) (this.geometry.getAttribute(name) as InterleavedBufferAttribute).data.needsUpdate = true;
    (this.geometry.getAttribute("pieceColor") as InstancedBufferAttribute).needsUpdate = true;
  }

  mark(index: number): void {
    this.marked = index;
    for (let i = 0; i < this.used; i++) {
      if (i !== index) continue;
      const low = this.begin[this.first];
      const color = new Color(GOLD);
      for (let k = this.begin[this.first + i] - low; k < this.begin[this.first + i + 1] - low; k++) color.toArray(this.colors, 3 * k);
    }
    (this.geometry.getAttribute("pieceColor") as InstancedBufferAttribute).needsUpdate = true;
  }

  drawn(): { points: number[]; colors: number[] } {
    const low = this.begin[this.first] ?? 0;
    const total = (this.begin[this.first + this.used] ?? 0) - low;
    const colors: number[] = [];
    const c = new Color();
    for (let i = 0; i < this.used; i++) {
      c.fromArray(this.colors, 3 * (this.begin[this.first + i] - low));
      colors.push(c.getHex());
    }
    return { points: [...this.points.subarray(0, 3 * total)], colors };
  }

  middle(i: number): Vector3 | null {
    if (i < 0 || i >= this.used) return null;
    const low = this.begin[this.first];
    const [a, b] = [this.begin[this.first + i] - low, this.begin[this.first + i + 1] - low];
    const k = Math.max(a, Math.floor((a + b) / 2) - 1);
    const [p, q] = [new Vector3().fromArray(this.points, 3 * k), new Vector3().fromArray(this.points, 3 * Math.min(k + 1, b - 1))];
    return p.add(q).multiplyScalar(0.5);
  }

  /** The nearest path that a ray meets. */
  pick(ray: Raycaster): { distance: number; index: number } | null {
    const low = this.begin[this.first] ?? 0;
    let best: { distance: number; index: number } | null = null;
    const [p, q, on, near] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
    for (let i = 0; i < this.used; i++) {
      const radius = (this.radii[i] ?? 0.004) * 1.3 + 0.002;
      for (let k = this.begin[this.first + i] - low; k + 1 < this.begin[this.first + i + 1] - low; k++) {
        p.fromArray(this.points, 3 * k);
        q.fromArray(this.points, 3 * k + 3);
        if (ray.ray.distanceSqToSegment(p, q, on, near) < radius * radius) {
          const distance = on.distanceTo(ray.ray.origin);
          if (!best || distance < best.distance) best = { distance, index: i };
        }
      }
    }
    return best;
  }
}

function withColor(m: MeshStandardMaterial): MeshStandardMaterial {
  m.roughness = 0.9;
  return m;
}

