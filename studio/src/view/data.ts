/** What is drawn, as engines and reports give it. */

import type { Answer } from "../engine/message";

/** What is fixed to the bodies of a model. */
export interface SceneData {
  bodies: string[];
  shapes: {
    body: number;
    layer: string;
    hull: boolean;
    /** Path of the wrap object or contact geometry that it is. */
    component?: string;
    color: [number, number, number];
    opacity: number;
    ellipsoid?: { center: number[]; quaternion: number[]; radii: number[] };
    vertices?: Float32Array;
    faces?: Uint32Array;
  }[];
  bones: { body: number; from: [number, number, number]; to: [number, number, number] }[];
  markers: { name: string; body: number; station: [number, number, number] }[];
  paths: string[];
  metersPerNewton: number;
}

/** Frames of a motion: for each frame and body a place and a quaternion, paths point by point, activations, forces. */
export interface FrameData {
  count: number;
  poses: Float32Array;
  begin: Uint32Array;
  points: Float32Array;
  activity: Float32Array;
  arrows: Float32Array;
  center: Float32Array;
}

/** The scene in an answer of an engine. */
export function sceneOf(a: Answer): SceneData {
  const v = a.value;
  const shapes = v.shapes.map((s: any) => (s.ellipsoid ? s : { ...s, vertices: a.f32(s.vertices), faces: a.u32(s.faces) }));
  return { bodies: v.bodies, shapes, bones: v.bones, markers: v.markers, paths: v.paths, metersPerNewton: v.meters_per_newton };
}
