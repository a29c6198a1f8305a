/** Time: play, scrub, speed, loop, follow. */

import type { App } from "../app";
import { h, icon, seldom, tool } from "../dom";

/** Time between two changes of the clock while a motion plays, ms. */
const SELDOM_MS = 100;

export function timeline(app: App): HTMLElement {
  const { store, doc } = app;
  const play = tool("play", "Play or pause (space)", () => app.play(), { "data-do": "play" });
  const scrub = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time", "data-do": "scrub" });
  scrub.addEventListener("input", () => app.seek(Number(scrub.value)));
  const clock = h("output", { class: "clock" }, "");
  const speed = h("select", { "aria-label": "Speed", title: "Speed", onchange: () => store.set({ speed: Number(speed.value) }) }, ...[0.1, 0.25, 0.5, 1, 2].map((v) => h("option", { value: v }, `${v}×`)));
  speed.value = "1";
  const loop = tool("loop", "Loop (L)", () => store.set({ loop: !doc.loop }), { "aria-pressed": "true" });
  const follow = h("input", { type: "checkbox", "data-do": "follow", onchange: () => store.set({ follow: follow.checked }) });
  const bar = h("div", { class: "timeline" }, tool("first", "To the start (Home)", () => app.seek(-Infinity)), play, scrub, clock, speed, loop,
    h("label", { class: "check", title: "Follow the figure (F)" }, follow, "follow"));
  const ends = () => {
    const t = app.times;
    bar.hidden = !t;
    if (t && t.length > 0) [scrub.min, scrub.max] = [String(t[0]), String(t[t.length - 1])];
  };
  store.on(["motion", "measured"], ends);
  ends();
  const tell = () => {
    scrub.value = String(doc.time);
    clock.textContent = app.times ? `${doc.time.toFixed(3)} s` : "";
  };
  store.on(["time", "motion"], seldom(tell, () => (doc.playing ? SELDOM_MS : 0)));
  store.on(["playing"], () => play.replaceChildren(icon(doc.playing ? "pause" : "play")));
  store.on(["loop"], () => loop.setAttribute("aria-pressed", String(doc.loop)));
  store.on(["follow"], () => (follow.checked = doc.follow));
  return bar;
}
