/** Colors that differ for eyes of every kind (Okabe and Ito 2008 for lines; blue to vermilion over a light middle for activations). */

export const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8c6d31"];
export const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

/** Stops from no activation to full activation. */
export const ACTIVATION: [number, number, number][] = [
  [0x2b, 0x4c, 0x8c],
  [0x6f, 0x8f, 0xc4],
  [0xd9, 0xc7, 0xb4],
  [0xe8, 0x8a, 0x45],
  [0xc8, 0x2f, 0x1b],
];
/** Muscles whose activation is not known. */
export const MUSCLE: [number, number, number] = [0xa8, 0x4a, 0x44];

/** Color of an activation, 0 to 1, each part 0 to 255. */
export function activationColor(a: number): [number, number, number] {
  if (!Number.isFinite(a)) return MUSCLE;
  const x = Math.min(Math.max(a, 0), 1) * (ACTIVATION.length - 1);
  const i = Math.min(Math.floor(x), ACTIVATION.length - 2);
  const t = x - i;
  return [0, 1, 2].map((k) => ACTIVATION[i][k] * (1 - t) + ACTIVATION[i + 1][k] * t) as [number, number, number];
}
