/** Unit and range of a field of a form, as its help text says them: "Start time, s; default: …", "Walking speed, 0.5 to 2 m/s." */

export interface Measure {
  unit: string;
  least: number | null;
  most: number | null;
}

const UNIT = "N·m/rad|N m or N|N or N m|N and N m|N m|m/s|1/s²|1/s|rad|deg|kg|Hz|mm⁻²|deg⁻²|N|m|s";

export function measure(help: string, kind: string): Measure {
  const found = [...help.matchAll(new RegExp(`(?:, |\\(|\\d )(${UNIT})(?=[;:.,)]|$)`, "g"))].map((m) => m[1]);
  // Only a list has several: one for each of its numbers.
  const units = kind === "list" ? [...new Set(found)] : found.slice(0, 1);
  const range = help.replaceAll("−", "-").match(/(-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)/);
  return {
    unit: units.join(", "),
    least: range ? Number(range[1]) : kind === "integer" ? 0 : null,
    most: range ? Number(range[2]) : null,
  };
}
