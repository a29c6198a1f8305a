/** How surfaces are lit: one small program for bodies, paths and marks, so that it is compiled at once and cheap without a graphics card. */

import { DoubleSide, FrontSide, GLSL3, RawShaderMaterial, Vector3, Vector4, type IUniform } from "three";

/** Bodies that one program places; the least number of uniforms that WebGL 2 promises is 256. */
export const GROUP = 100;

const PLACED = `
  uniform vec4 poses[${2 * GROUP}];
  uniform float chosen;
  in float body;
  vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }`;

const VERTEX = (placed: boolean) => `
  precision highp float;
  uniform mat4 projectionMatrix, viewMatrix;
  uniform vec3 offset;
  uniform vec4 shadow;
  in vec3 position; in vec3 normal; in vec4 color;
  out vec3 vNormal; out vec4 vColor; out float vChosen;
  ${placed ? PLACED : ""}
  void main() {
    ${placed
      ? `int b = int(body + 0.5); vec4 q = poses[2 * b + 1];
         vec3 x = turned(q, position) + poses[2 * b].xyz; vNormal = turned(q, normal); vChosen = abs(body - chosen) < 0.5 ? 1.0 : 0.0;`
      : `vec3 x = position; vNormal = normal; vChosen = 0.0;`}
    x += offset;
    // A shadow is the same surface, laid on the floor along the light.
    if (shadow.w > 0.0) { x -= shadow.xyz * (x.y / shadow.y); x.y = 0.001; }
    vColor = color;
    gl_Position = projectionMatrix * viewMatrix * vec4(x, 1.0);
  }`;

/** Colors are squares of light, near enough to sRGB and without a power. */
const FRAGMENT = `
  precision highp float;
  uniform vec4 tint, shade; uniform float opacity;
  in vec3 vNormal; in vec4 vColor; in float vChosen;
  out vec4 pixel;
  void main() {
    if (shade.a > 0.0) { pixel = vec4(shade.rgb, 1.0); return; }
    vec3 n = normalize(gl_FrontFacing ? vNormal : -vNormal);
    float sky = 0.5 + 0.5 * n.y;
    vec3 light = mix(vec3(0.40, 0.36, 0.33), vec3(0.66, 0.68, 0.72), sky)
      + vec3(0.62, 0.57, 0.50) * max(dot(n, vec3(0.371, 0.743, 0.557)), 0.0)
      + vec3(0.13, 0.15, 0.19) * max(dot(n, vec3(-0.728, 0.485, -0.485)), 0.0);
    vec3 c = mix(vColor.rgb, tint.rgb, tint.a);
    c = mix(c, vec3(0.902, 0.624, 0.0), 0.55 * vChosen);
    // Bright surfaces keep their shades: what is lit most is held a little below white.
    vec3 lit = c * c * light;
    pixel = vec4(sqrt(lit * (1.0 - 0.2 * lit)), vColor.a * opacity);
  }`;

/** Direction of the light whose shadow is seen. */
export const LIGHT = new Vector3(0.371, 0.743, 0.557);

export interface Look {
  /** Whether bodies move it. */
  placed: boolean;
  clear?: boolean;
}

/** A material of surfaces. */
export function surface(look: Look): RawShaderMaterial {
  const uniforms: Record<string, IUniform> = {
    offset: { value: new Vector3() },
    shadow: { value: new Vector4(0, 0, 0, 0) },
    tint: { value: new Vector4(0, 0, 0, 0) },
    shade: { value: new Vector4(0, 0, 0, 0) },
    opacity: { value: 1 },
  };
  if (look.placed) {
    uniforms.poses = { value: new Float32Array(8 * GROUP) };
    uniforms.chosen = { value: -1 };
  }
  return new RawShaderMaterial({
    glslVersion: GLSL3, vertexShader: VERTEX(look.placed), fragmentShader: FRAGMENT, uniforms,
    transparent: look.clear === true, depthWrite: look.clear !== true, side: look.clear ? DoubleSide : FrontSide,
  });
}

/** Round marks that face the reader: markers, the mass center, handles. */
export function dots(): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    uniforms: { offset: { value: new Vector3() }, pixel: { value: 0.001 }, least: { value: 2.4 } },
    vertexShader: `
      precision highp float;
      uniform mat4 projectionMatrix, viewMatrix; uniform vec3 offset; uniform float pixel, least;
      in vec2 corner; in vec4 place; in vec4 color;
      out vec2 vCorner; out vec3 vColor;
      void main() {
        vec4 x = viewMatrix * vec4(place.xyz + offset, 1.0);
        float r = place.w > 0.0 ? max(place.w, least * pixel * -x.z) : 0.0;
        vCorner = corner; vColor = color.rgb;
        gl_Position = projectionMatrix * (x + vec4(corner * r, r, 0.0));
      }`,
    fragmentShader: `
      precision highp float;
      in vec2 vCorner; in vec3 vColor; out vec4 pixel;
      void main() {
        float d = dot(vCorner, vCorner);
        if (d > 1.0) discard;
        float light = 0.55 + 0.6 * max(dot(vec3(vCorner, sqrt(1.0 - d)), vec3(0.3, 0.6, 0.74)), 0.0);
        pixel = vec4(sqrt(vColor * vColor * light), 1.0);
      }`,
  });
}

/** Lines of the floor, which fade with the distance from where one looks. */
export function lines(): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3, transparent: true, depthWrite: false,
    uniforms: { middle: { value: new Vector3() }, reach: { value: 4 }, color: { value: new Vector3(0.5, 0.5, 0.5) } },
    vertexShader: `
      precision highp float;
      uniform mat4 projectionMatrix, viewMatrix; uniform vec3 middle; in vec3 position; out vec2 vPlace;
      void main() {
        vec3 x = position + vec3(floor(middle.x), 0.0, floor(middle.z));
        vPlace = x.xz - middle.xz;
        gl_Position = projectionMatrix * viewMatrix * vec4(x, 1.0);
      }`,
    fragmentShader: `
      precision highp float;
      uniform vec3 color; uniform float reach; in vec2 vPlace; out vec4 pixel;
      void main() { pixel = vec4(color, 0.75 * (1.0 - smoothstep(0.25 * reach, reach, length(vPlace)))); }`,
  });
}
