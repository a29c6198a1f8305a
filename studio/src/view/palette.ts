/** Colors that differ for eyes of every kind (Okabe and Ito 2008 for lines; blue to vermilion over a light middle for activations). */

export const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8c6d31"];
export const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

/** What is chosen, measured markers, markers of the model, errors between them, forces. */
export const CHOSEN: [number, number, number] = [0xe6, 0x9f, 0x00];
export const GOLD = 0xe69f00;
export const MEASURED = 0x0072b2;
export const MODELLED = 0xcc79a7;
export const ERROR: [number, number, number] = [0xd5, 0x5e, 0x00];
export const FORCE: [number, number, number] = [0x00, 0x9e, 0x73];
export const TENDON: [number, number, number] = [0xe4, 0xdc, 0xcd];

/** Stops from no activation to full activation. */
export const ACTIVATION: [number, number, number][] = [
  [0x3f, 0x63, 0xa3],
  [0x86, 0xa3, 0xcf],
  [0xe2, 0xd3, 0xc2],
  [0xec, 0x90, 0x4a],
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

/** Parts of a color "#rrggbb", 0 to 1. */
export function parts(color: string): [number, number, number] {
  return [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16) / 255) as [number, number, number];
}
