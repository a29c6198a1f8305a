/** Elements, made in one line. Text is always text, never markup. */

type Child = Node | string | number | null | undefined | false;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, any> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "disabled" || key === "hidden" || key === "open") (e as any)[key] = value;
    else e.setAttribute(key, value === true ? "" : String(value));
  }
  for (const c of children) if (c !== null && c !== undefined && c !== false) e.append(c instanceof Node ? c : String(c));
  return e;
}

const SVG = "http://www.w3.org/2000/svg";

export function s(tag: string, attributes: Record<string, any> = {}, ...children: (Node | string)[]): SVGElement {
  const e = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, String(value));
  e.append(...children);
  return e;
}

/** Lines of an icon, on a square of 24. */
const ICONS: Record<string, string> = {
  open: "M3 7V5a1 1 0 0 1 1-1h5l2 2h8a1 1 0 0 1 1 1v2M3 7v12h15l3-10H6L3 19",
  save: "M5 3h11l3 3v15H5zM8 3v5h7V3M8 21v-7h8v7",
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  redo: "m15 14 5-5-5-5M20 9H10a6 6 0 0 0 0 12h3",
  share: "M12 3v12M8 7l4-4 4 4M5 13v7h14v-7",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  play: "M7 4v16l13-8z",
  pause: "M7 4v16M17 4v16",
  first: "M6 4v16M20 4 9 12l11 8z",
  loop: "M17 2l4 4-4 4M3 11V9a3 3 0 0 1 3-3h15M7 22l-4-4 4-4M21 13v2a3 3 0 0 1-3 3H3",
  lock: "M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3",
  unlock: "M6 11h12v9H6zM8 11V8a4 4 0 0 1 7.5-2",
  close: "M6 6l12 12M18 6 6 18",
  down: "M12 4v12M7 11l5 5 5-5M5 20h14",
  help: "M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .9-1 1.7M12 16.5v.5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  remove: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  add: "M12 5v14M5 12h14",
  reset: "M4 4v6h6M4.5 10a8 8 0 1 1-.5 5",
};

export function icon(name: string): SVGElement {
  return s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, s("path", { d: ICONS[name] ?? "" }));
}

/** A button with an icon; its title is what it does, with its key. */
export function tool(name: string, title: string, act: () => void, more: Record<string, any> = {}): HTMLButtonElement {
  const b = h("button", { class: "tool", title, "aria-label": title, onclick: act, ...more });
  b.append(icon(name));
  return b;
}

/** Gives bytes to the user as a file. */
export function download(name: string, content: BlobPart, type = "application/octet-stream"): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const a = h("a", { href: url, download: name.split("/").pop()! });
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Calls at most once in a while, and once more at the end. */
export function seldom(work: () => void, pause: () => number): () => void {
  let last = -Infinity;
  let later = 0;
  return () => {
    const now = performance.now();
    clearTimeout(later);
    if (now - last >= pause()) {
      last = now;
      work();
    } else later = window.setTimeout(work, pause());
  };
}

/** A number with so many digits as a reader needs. */
export function digits(x: number, n = 4): string {
  if (!Number.isFinite(x)) return "–";
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-4 || a >= 1e6)) return x.toExponential(n - 2);
  return String(Number(x.toPrecision(n)));
}

/** The last part of a name with slashes. */
export const base = (path: string) => path.split("/").pop() ?? path;
/** Without its ending. */
export const stem = (path: string) => base(path).replace(/\.[^.]+$/, "");
/** The ending, in small letters. */
export const ending = (path: string) => (/\.([^./]+)$/.exec(path)?.[1] ?? "").toLowerCase();
