"use strict";
(function () {
  // Plots and figures tell each other the time.
  const page = window.soleusPage = { cursors: (t) => plots.forEach((p) => p(t)), figures: [] };

  // Plots: values under the pointer, and the time of the figure.

  const plots = [...document.querySelectorAll("svg.plot")].map((svg) => {
    const [left, right, x0, x1, bottom, top, y0, y1] = svg.dataset.axes.split(" ").map(Number);
    const make = (tag, name) => {
      const e = document.createElementNS(svg.namespaceURI, tag);
      e.setAttribute("class", name);
      svg.appendChild(e);
      return e;
    };
    const mark = make("path", "cursor"), hover = make("path", "cursor"), readout = make("text", "readout");
    const toX = (px) => x0 + (px - left) / (right - left) * (x1 - x0);
    const fromX = (x) => left + (x - x0) / (x1 - x0) * (right - left);
    const bar = (e, px) => e.setAttribute("d", px >= left && px <= right ? "M" + px + " " + top + "V" + bottom : "");
    const digits = (v) => Number(v.toPrecision(4)).toString();
    let lines = null;
    svg.addEventListener("pointermove", (e) => {
      const r = svg.getBoundingClientRect(), px = (e.clientX - r.left) * svg.viewBox.baseVal.width / r.width;
      readout.replaceChildren();
      bar(hover, px);
      if (px < left || px > right) return;
      lines = lines || [...svg.querySelectorAll(".line")].map((l) => ({
        name: l.dataset.name,
        points: l.getAttribute("d").split(/[MLh]/).map((q) => q.split(" ").map(Number)).filter((q) => q.length === 2),
      }));
      const rows = [digits(toX(px))];
      for (const l of lines.slice(0, 12)) {
        let best = null;
        for (const q of l.points) if (!best || Math.abs(q[0] - px) < Math.abs(best[0] - px)) best = q;
        if (best && Math.abs(best[0] - px) < 20) rows.push(l.name + " " + digits(y0 + (best[1] - bottom) / (top - bottom) * (y1 - y0)));
      }
      const late = px > (left + right) / 2;
      readout.setAttribute("text-anchor", late ? "end" : "start");
      rows.forEach((text, i) => {
        const t = document.createElementNS(svg.namespaceURI, "tspan");
        t.setAttribute("x", px + (late ? -8 : 8));
        t.setAttribute("y", top + 14 + 14 * i);
        t.textContent = text;
        readout.appendChild(t);
      });
    });
    svg.addEventListener("pointerleave", () => { readout.replaceChildren(); hover.setAttribute("d", ""); });
    const timed = svg.classList.contains("over-time");
    // The abscissa is time, or a cycle from t0 to t1.
    const [t0, t1] = svg.dataset.cycle ? svg.dataset.cycle.split(" ").map(Number) : [x0, x1];
    const timeOf = (x) => t0 + (x - x0) / (x1 - x0) * (t1 - t0);
    const placeOf = (t) => x0 + (t - t0) / (t1 - t0) * (x1 - x0);
    if (timed) svg.addEventListener("click", (e) => {
      const r = svg.getBoundingClientRect(), px = (e.clientX - r.left) * svg.viewBox.baseVal.width / r.width;
      if (px >= left && px <= right) page.figures.forEach((f) => f.seek(timeOf(toX(px))));
    });
    return (t) => { if (timed) bar(mark, fromX(placeOf(t))); };
  });

  // The program that draws figures comes compressed; a reader without it sees the still picture.
  const packed = document.getElementById("soleus-figure");
  if (packed && window.DecompressionStream) {
    const bytes = Uint8Array.from(atob(packed.textContent), (c) => c.charCodeAt(0));
    const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    new Response(text).text().then((program) => {
      const script = document.createElement("script");
      script.textContent = program;
      document.body.appendChild(script);
    });
  }
})();
