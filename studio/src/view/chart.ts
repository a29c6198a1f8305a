/** Curves: lines over time or over a coordinate, with one cursor, zoom, a legend that switches, and export. */

import { download, h, s, digits, tool } from "../dom";
import { DASHES, LINES } from "./palette";

export interface Line {
  name: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  /** Half the width of a band about the line, such as a standard deviation. */
  sd?: ArrayLike<number>;
  /** A band to compare with: drawn behind, with a dashed edge. */
  isNorm?: boolean;
  /** The line whose color it has, by number: a band goes with the line it is compared with. */
  like?: number;
}

/** A moment that is marked on the axis, such as a foot strike. */
export interface Mark {
  x: number;
  text: string;
}

/** Time between two changes of the numbers in a legend, ms. */
const TELL_MS = 120;

const MARGIN = { left: 58, right: 14, top: 10, bottom: 34 };

/** Steps of 1, 2 or 5 between numbers on an axis. */
function ticks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw) ?? 10 * power;
  const list: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * span; v += step) list.push(Math.abs(v) < 1e-9 * span ? 0 : v);
  return list;
}

export class Chart {
  readonly element: HTMLElement;
  private lines: Line[] = [];
  private marks: Mark[] = [];
  private hidden = new Set<string>();
  private range: [number, number] | null = null;
  private cursor: number | null = null;
  private holder: HTMLElement;
  private legend: HTMLElement;
  private heading: HTMLElement;
  private xLabel = "";
  private yLabel = "";
  private size = { width: 400, height: 200 };
  private limits = { x: [0, 1], y: [0, 1] };
  /** The cursor is an element of its own: moving it does not draw the curves again. */
  private cursorLine = h("i", { class: "cursor", hidden: true });
  private drag: number | null = null;
  private told = 0;
  private later = 0;
  private static made = 0;
  private number = Chart.made++;

  constructor(
    private title: string,
    private seek: (x: number) => void,
    private remove?: (line: Line) => void,
  ) {
    this.heading = h("strong", {}, title);
    this.legend = h("div", { class: "legend" });
    this.holder = h("div", { class: "plot", tabindex: 0, role: "img", "aria-label": title,
      title: "Drag: move the cursor. Shift and drag, wheel, + and −: zoom. Double-click or 0: whole range" });
    const bar = h("div", { class: "chart-bar" }, this.heading, this.legend, h("span", { class: "space" }),
      h("button", { class: "small", title: "Whole range (double-click)", onclick: () => this.zoom(null) }, "All"),
      h("button", { class: "small", title: "Save as SVG", onclick: () => download(`${this.fileName()}.svg`, this.toSvg(), "image/svg+xml") }, "SVG"),
      h("button", { class: "small", title: "Save as PNG", onclick: () => this.savePng() }, "PNG"),
      h("button", { class: "small", title: "Save as CSV", onclick: () => download(`${this.fileName()}.csv`, this.toCsv(), "text/csv") }, "CSV"));
    this.element = h("section", { class: "chart" }, bar, this.holder);
    this.holder.addEventListener("pointerdown", (e) => {
      if (e.shiftKey) this.drag = this.at(e);
      else {
        this.seek(this.at(e));
        this.holder.setPointerCapture(e.pointerId);
        this.drag = NaN;
      }
    });
    this.holder.addEventListener("pointermove", (e) => {
      if (this.drag !== null && Number.isNaN(this.drag)) this.seek(this.at(e));
    });
    this.holder.addEventListener("pointerup", (e) => {
      if (this.drag !== null && !Number.isNaN(this.drag)) {
        const to = this.at(e);
        if (Math.abs(to - this.drag) > 1e-9) this.zoom([Math.min(to, this.drag), Math.max(to, this.drag)]);
      }
      this.drag = null;
    });
    this.holder.addEventListener("dblclick", () => this.zoom(null));
    this.holder.addEventListener("wheel", (e) => {
      e.preventDefault();
      const [low, high] = this.limits.x;
      const middle = this.at(e);
      const k = e.deltaY > 0 ? 1.25 : 0.8;
      this.zoom([middle + (low - middle) * k, middle + (high - middle) * k]);
    }, { passive: false });
    this.holder.addEventListener("keydown", (e) => {
      const [low, high] = this.limits.x;
      const step = (high - low) / 100;
      if (e.key === "ArrowLeft" || e.key === "ArrowRight") {
        e.stopPropagation();
        this.seek((this.cursor ?? low) + (e.key === "ArrowLeft" ? -step : step));
      } else if (["+", "=", "-", "0"].includes(e.key) && !e.ctrlKey && !e.metaKey) {
        e.stopPropagation();
        const middle = this.cursor !== null && this.cursor >= low && this.cursor <= high ? this.cursor : (low + high) / 2;
        const k = e.key === "-" ? 1.25 : 0.8;
        this.zoom(e.key === "0" ? null : [middle + (low - middle) * k, middle + (high - middle) * k]);
      }
    });
    new ResizeObserver(() => {
      const { width, height } = this.holder.getBoundingClientRect();
      if (width > 20 && height > 20) {
        this.size = { width, height };
        this.draw();
      }
    }).observe(this.holder);
  }

  set(lines: Line[], xLabel: string, yLabel: string, title = this.title, marks: Mark[] = []): void {
    if (xLabel !== this.xLabel) this.range = null;
    this.title = title;
    this.marks = marks;
    this.heading.textContent = this.heading.title = title;
    this.lines = lines;
    [this.xLabel, this.yLabel] = [xLabel, yLabel];
    this.draw();
  }

  /** The place of the cursor along x. */
  point(x: number | null): void {
    this.cursor = x;
    this.moveCursor();
  }

  get shown(): Line[] {
    return this.lines.filter((l) => !this.hidden.has(l.name));
  }

  private fileName = () => this.title.replace(/[^A-Za-z0-9_-]+/g, "_") || "curves";

  private zoom(range: [number, number] | null): void {
    this.range = range;
    this.draw();
  }

  private at(e: MouseEvent): number {
    const box = this.holder.getBoundingClientRect();
    const share = (e.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
    const [low, high] = this.limits.x;
    return low + Math.min(Math.max(share, 0), 1) * (high - low);
  }

  private measure(): void {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const l of this.lines) {
      const n = l.x.length;
      for (let i = 0; i < n; i++) if (Number.isFinite(l.x[i])) [x0, x1] = [Math.min(x0, l.x[i]), Math.max(x1, l.x[i])];
    }
    if (this.range) [x0, x1] = this.range;
    for (const l of this.shown)
      for (let i = 0; i < l.x.length; i++)
        if (l.x[i] >= x0 && l.x[i] <= x1 && Number.isFinite(l.y[i])) {
          const sd = l.sd && Number.isFinite(l.sd[i]) ? l.sd[i] : 0;
          [y0, y1] = [Math.min(y0, l.y[i] - sd), Math.max(y1, l.y[i] + sd)];
        }
    if (!(x1 > x0)) [x0, x1] = Number.isFinite(x0) ? [x0 - 0.5, x0 + 0.5] : [0, 1];
    if (!(y1 > y0)) [y0, y1] = Number.isFinite(y0) ? [y0 - 1, y0 + 1] : [0, 1];
    const room = 0.06 * (y1 - y0);
    this.limits = { x: [x0, x1], y: [y0 - room, y1 + room] };
  }

  private color(i: number): { stroke: string; dash: string } {
    i = this.lines[i]?.like ?? i;
    return { stroke: LINES[i % LINES.length], dash: DASHES[Math.floor(i / LINES.length) % DASHES.length] };
  }

  private svg(): SVGElement {
    this.measure();
    const { width, height } = this.size;
    const [x0, x1] = this.limits.x;
    const [y0, y1] = this.limits.y;
    const px = (x: number) => MARGIN.left + ((x - x0) / (x1 - x0)) * (width - MARGIN.left - MARGIN.right);
    const py = (y: number) => height - MARGIN.bottom - ((y - y0) / (y1 - y0)) * (height - MARGIN.top - MARGIN.bottom);
    const root = s("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": "system-ui, sans-serif", "font-size": 11 });
    for (const t of ticks(x0, x1, Math.max(4, width / 90))) {
      root.append(s("line", { x1: px(t), x2: px(t), y1: MARGIN.top, y2: height - MARGIN.bottom, class: "grid" }),
        s("text", { x: px(t), y: height - MARGIN.bottom + 14, "text-anchor": "middle", class: "axis" }, digits(t)));
    }
    for (const t of ticks(y0, y1, Math.max(2, height / 45))) {
      root.append(s("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: py(t), y2: py(t), class: "grid" }),
        s("text", { x: MARGIN.left - 6, y: py(t) + 4, "text-anchor": "end", class: "axis" }, digits(t)));
    }
    if (y0 < 0 && y1 > 0) root.append(s("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: py(0), y2: py(0), class: "zero" }));
    root.append(s("text", { x: (MARGIN.left + width) / 2, y: height - 5, "text-anchor": "middle", class: "axis" }, this.xLabel),
      s("text", { transform: `translate(12 ${(height - MARGIN.bottom) / 2 + 4}) rotate(-90)`, "text-anchor": "middle", class: "axis" }, this.yLabel));
    // Words about marks that would lie on each other are left out.
    let free = -Infinity;
    for (const m of this.marks.filter((m) => m.x >= x0 && m.x <= x1)) {
      root.append(s("line", { x1: px(m.x), x2: px(m.x), y1: MARGIN.top, y2: height - MARGIN.bottom, class: "mark" }));
      if (px(m.x) > free) {
        root.append(s("text", { x: px(m.x) + 3, y: MARGIN.top + 8, class: "axis", "font-size": 9 }, m.text));
        free = px(m.x) + 5 * m.text.length + 8;
      }
    }
    const id = `plot-${this.number}`;
    const clip = s("g", { "clip-path": `url(#${id})` },
      s("clipPath", { id }, s("rect", { x: MARGIN.left, y: 0, width: Math.max(width - MARGIN.left - MARGIN.right, 1), height })));
    this.lines.forEach((l, i) => {
      if (this.hidden.has(l.name) || !l.sd) return;
      const points: string[] = [];
      const at = (k: number, sign: number) => `${px(l.x[k]).toFixed(1)} ${py(l.y[k] + sign * l.sd![k]).toFixed(1)}`;
      const known = Array.from({ length: l.x.length }, (_, k) => k).filter((k) => Number.isFinite(l.y[k] + l.sd![k]));
      for (const k of known) points.push(at(k, 1));
      for (const k of known.reverse()) points.push(at(k, -1));
      const { stroke } = this.color(i);
      const edge = l.isNorm ? { stroke, "stroke-opacity": 0.75, "stroke-dasharray": "2 3" } : {};
      if (points.length > 2) clip.append(s("path", { d: `M${points.join("L")}Z`, fill: stroke, "fill-opacity": l.isNorm ? 0.1 : 0.2, ...edge, class: "band", "data-band": l.name }));
    });
    this.lines.forEach((l, i) => {
      if (this.hidden.has(l.name) || l.isNorm) return;
      const { stroke, dash } = this.color(i);
      // Of long lines, the least and the greatest number of each pixel.
      const n = l.x.length;
      const every = Math.max(1, Math.floor(n / (2 * width)));
      let d = "";
      let pen = false;
      for (let k = 0; k < n; k += every) {
        let [low, high] = [k, k];
        for (let m = k; m < Math.min(k + every, n); m++) {
          if (l.y[m] < l.y[low]) low = m;
          if (l.y[m] > l.y[high]) high = m;
        }
        for (const m of low === high ? [low] : [Math.min(low, high), Math.max(low, high)]) {
          const [x, y] = [l.x[m], l.y[m]];
          if (!Number.isFinite(x + y) || x < x0 - (x1 - x0) || x > x1 + (x1 - x0)) {
            pen = false;
            continue;
          }
          d += `${pen ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`;
          pen = true;
        }
      }
      clip.append(s("path", { d, fill: "none", stroke, "stroke-width": 1.8, "stroke-dasharray": dash, "stroke-linejoin": "round" }));
    });
    root.append(clip);
    return root;
  }

  private draw(): void {
    this.cursorLine.style.top = `${MARGIN.top}px`;
    this.cursorLine.style.bottom = `${MARGIN.bottom}px`;
    this.holder.replaceChildren(this.svg(), this.cursorLine);
    this.legend.replaceChildren(...this.named().map(([l, i]) => this.entry(l, i)));
    this.moveCursor();
  }

  /** Lines that the legend names, with their numbers: one band of those to compare with stands for all. */
  private named(): [Line, number][] {
    const all = this.lines.map((l, i): [Line, number] => [l, i]);
    return [...all.filter(([l]) => !l.isNorm), ...all.filter(([l]) => l.isNorm).slice(0, 1)];
  }

  private entry(l: Line, i: number): HTMLElement {
    const { stroke, dash } = this.color(i);
    const mark = s("svg", { width: 22, height: 8 }, sample(l, stroke, dash, 0, 4));
    const off = this.hidden.has(l.name);
    const button = h("button", { class: off ? "entry off" : "entry", "aria-pressed": String(!off), title: off ? "Show" : "Hide", onclick: () => {
      for (const { name } of l.isNorm ? this.lines.filter((o) => o.isNorm) : [l])
        if (off) this.hidden.delete(name);
        else this.hidden.add(name);
      this.draw();
    } });
    button.append(mark, h("span", {}, l.isNorm ? NORM : l.name), l.isNorm ? "" : h("output", { "data-line": i }, this.valueOf(l)));
    const row = h("span", { class: "entry-row" }, button);
    if (this.remove && !l.isNorm) row.append(tool("close", `Remove ${l.name}`, () => this.remove!(l), { class: "tool tiny" }));
    return row;
  }

  private moveCursor(): void {
    const [x0, x1] = this.limits.x;
    const c = this.cursor;
    const on = c !== null && c >= x0 && c <= x1;
    this.cursorLine.hidden = !on;
    const x = MARGIN.left + ((c! - x0) / (x1 - x0)) * (this.size.width - MARGIN.left - MARGIN.right);
    this.cursorLine.style.transform = `translateX(${x.toFixed(1)}px)`;
    // Numbers that change at every picture cannot be read.
    const now = performance.now();
    if (now - this.told < TELL_MS) {
      this.later ||= window.setTimeout(() => {
        this.later = 0;
        this.tell();
      }, TELL_MS);
      return;
    }
    this.tell();
  }

  /** Values at the cursor, in the legend. */
  private tell(): void {
    this.told = performance.now();
    this.lines.forEach((l, i) => {
      const out = this.legend.querySelector(`output[data-line="${i}"]`);
      if (out) out.textContent = this.valueOf(l);
    });
  }

  private valueOf(l: Line): string {
    return this.cursor === null ? "" : digits(valueAt(l, this.cursor), 4);
  }

  /** The picture alone, with colors of its own. */
  toSvg(): string {
    const root = this.svg() as SVGSVGElement;
    const style = s("style", {}, ".grid{stroke:#d8d8d8}.zero{stroke:#888}.axis{fill:#333}.mark{stroke:#999;stroke-dasharray:3 3}");
    // The legend stands above the curves, so that it covers none.
    const rows: SVGElement[] = [];
    let [x, y] = [MARGIN.left, 16];
    for (const [l, i] of this.named()) {
      if (this.hidden.has(l.name)) continue;
      const { stroke, dash } = this.color(i);
      const text = l.isNorm ? NORM : l.name;
      const width = 28 + LETTER * text.length + 14;
      if (x > MARGIN.left && x + width > this.size.width) [x, y] = [MARGIN.left, y + 16];
      rows.push(sample(l, stroke, dash, x, y - 4), s("text", { x: x + 28, y, fill: "#333" }, text));
      x += width;
    }
    const [width, height] = [this.size.width, this.size.height + y + 6];
    root.setAttribute("y", String(y + 6));
    const picture = s("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": "system-ui, sans-serif", "font-size": 11 },
      style, s("rect", { width: "100%", height: "100%", fill: "#fff" }), ...rows, root);
    return `<?xml version="1.0"?>\n${new XMLSerializer().serializeToString(picture)}`;
  }

  toCsv(): string {
    const shown = this.shown;
    const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const first = shown[0]?.x;
    const same = shown.every((l) => l.x === first || (l.x.length === first.length && Array.from(l.x).every((x, k) => x === first[k])));
    if (same && shown.length > 0) {
      const rows = [[this.xLabel, ...shown.flatMap((l) => (l.sd ? [l.name, `sd ${l.name}`] : [l.name]))].map(cell).join(",")];
      for (let k = 0; k < shown[0].x.length; k++) rows.push([shown[0].x[k], ...shown.flatMap((l) => (l.sd ? [l.y[k], l.sd[k]] : [l.y[k]]))].join(","));
      return rows.join("\n") + "\n";
    }
    const rows = [["line", this.xLabel, "value"].map(cell).join(",")];
    for (const l of shown) for (let k = 0; k < l.x.length; k++) rows.push([cell(l.name), l.x[k], l.y[k]].join(","));
    return rows.join("\n") + "\n";
  }

  private savePng(): void {
    const image = new Image();
    image.onload = () => {
      const { width, height } = image;
      const canvas = h("canvas", { width: 2 * width, height: 2 * height });
      const c = canvas.getContext("2d")!;
      c.scale(2, 2);
      c.drawImage(image, 0, 0);
      canvas.toBlob((b) => b && download(`${this.fileName()}.png`, b, "image/png"));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.toSvg())}`;
  }
}

/** How a line or a band looks, for a legend. */
function sample(l: Line, stroke: string, dash: string, x: number, y: number): SVGElement {
  return l.isNorm
    ? s("rect", { x: x + 0.5, y: y - 3.5, width: 21, height: 7, fill: stroke, "fill-opacity": 0.15, stroke, "stroke-dasharray": "2 3" })
    : s("line", { x1: x, x2: x + 22, y1: y, y2: y, stroke, "stroke-width": 3, "stroke-dasharray": dash });
}

/** What bands to compare with are called. */
const NORM = "normative bands";

/** Width of a letter of a legend in a picture, about. */
const LETTER = 6.2;

/** Times that differ by less are the same, as part of the range. */
const SAME = 1e-9;

/** Of a line, the number at a place, straight between two points; none beyond its ends. */
export function valueAt(l: Line, x: number): number {
  let [low, high] = [0, l.x.length - 1];
  if (high < 0) return NaN;
  while (high - low > 1) {
    const m = (low + high) >> 1;
    if (l.x[m] <= x) low = m;
    else high = m;
  }
  const reach = SAME * (l.x[l.x.length - 1] - l.x[0]);
  if (x < l.x[0] - reach || x > l.x[l.x.length - 1] + reach) return NaN;
  const span = l.x[high] - l.x[low];
  const t = span > 0 ? Math.min(Math.max((x - l.x[low]) / span, 0), 1) : 0;
  return l.y[low] + t * (l.y[high] - l.y[low]);
}
