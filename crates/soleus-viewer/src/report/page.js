"use strict";
(function () {
  // Numbers of sixteen bits, low byte first, from base64.
  function words(text) {
    const bytes = atob(text), out = new Uint16Array(bytes.length / 2);
    for (let i = 0; i < out.length; i++) out[i] = bytes.charCodeAt(2 * i) | bytes.charCodeAt(2 * i + 1) << 8;
    return out;
  }
  // Rotation matrix, row by row, of a quaternion w, x, y, z.
  function matrix(w, x, y, z) {
    const n = 2 / (w * w + x * x + y * y + z * z);
    return [
      1 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y),
      n * (x * y + w * z), 1 - n * (x * x + z * z), n * (y * z - w * x),
      n * (x * z - w * y), n * (y * z + w * x), 1 - n * (x * x + y * y)];
  }
  function turn(m, p) {
    return [m[0] * p[0] + m[1] * p[1] + m[2] * p[2], m[3] * p[0] + m[4] * p[1] + m[5] * p[2],
      m[6] * p[0] + m[7] * p[1] + m[8] * p[2]];
  }
  function add(a, b) { return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]; }
  function rgb(c, k, o) {
    return "rgba(" + Math.min(255, c[0] * k | 0) + "," + Math.min(255, c[1] * k | 0) + "," + Math.min(255, c[2] * k | 0) + "," + o + ")";
  }
  const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // ---- Animated figures ----

  function Figure(root) {
    const scene = JSON.parse(document.getElementById(root.dataset.scene).textContent);
    const canvas = root.querySelector("canvas"), ctx = canvas.getContext("2d");
    const find = (what) => root.querySelector("[data-do=" + what + "]");
    const slider = find("frame"), button = find("play"), speed = find("speed"), output = root.querySelector("output");
    const count = scene.t.length, nb = scene.bodies.length;
    const pose = words(scene.pose), path = words(scene.path), arrow = words(scene.arrow);
    const at = (a, i) => [0, 1, 2].map((k) => scene.low[k] + scene.step[k] * a[i + k]);
    for (const s of scene.shapes) {
      if (!s.v) continue;
      const v = words(s.v);
      s.points = [];
      for (let i = 0; i < v.length; i += 3) s.points.push([0, 1, 2].map((k) => s.low[k] + s.step[k] * v[i + k]));
      s.faces = words(s.f);
    }
    // Corners of the box around a shape, in its body.
    for (const s of scene.shapes) {
      const reach = s.e ? Math.max(...s.e.slice(7, 10)) : 0, around = s.e ? [s.e.slice(0, 3)] : s.points;
      const ends = [[Math.min, -reach], [Math.max, reach]].map(([end, by]) =>
        [0, 1, 2].map((k) => around.reduce((x, p) => end(x, p[k]), end === Math.min ? Infinity : -Infinity) + by));
      s.corners = around.length === 0 ? [] : [0, 1, 2, 3, 4, 5, 6, 7].map((c) => [0, 1, 2].map((k) => ends[c >> k & 1][k]));
    }
    // Paths have changing numbers of points: where each frame begins.
    const start = [0];
    for (let f = 0, i = 0; f < count; f++) {
      for (let k = 0; k < scene.paths.length; k++) i += 2 + 3 * path[i];
      start.push(i);
    }
    function bodies(f) {
      const list = [];
      for (let i = 7 * f * nb; i < 7 * (f + 1) * nb; i += 7) {
        const q = [3, 4, 5, 6].map((k) => (pose[i + k] << 16 >> 16) / 32767);
        list.push({ p: at(pose, i), R: matrix(...q) });
      }
      return list;
    }
    // Middle of each frame, and how far things are from it.
    const middles = [];
    let radius = 0.1;
    for (let f = 0; f < count; f++) {
      const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
      const grow = (p) => p.forEach((x, k) => { low[k] = Math.min(low[k], x); high[k] = Math.max(high[k], x); });
      const body = bodies(f);
      for (let b = 1; b < nb; b++) grow(body[b].p);
      for (const s of scene.shapes) if (s.b > 0 && s.l === "body") for (const c of s.corners) grow(add(body[s.b].p, turn(body[s.b].R, c)));
      for (const m of scene.markers) grow(add(body[m[0]].p, turn(body[m[0]].R, m.slice(1, 4))));
      for (const b of scene.bones) grow(add(body[b[0]].p, turn(body[b[0]].R, b.slice(4, 7))));
      for (let k = 0, i = start[f]; k < scene.paths.length; k++) {
        for (let n = 0; n < path[i]; n++) grow(at(path, i + 2 + 3 * n));
        i += 2 + 3 * path[i];
      }
      if (low[0] > high[0]) grow([0, 0, 0]);
      middles.push(low.map((x, k) => (x + high[k]) / 2));
      radius = Math.max(radius, Math.hypot(...low.map((x, k) => (high[k] - x) / 2)));
    }
    const all = [0, 1, 2].map((k) => [Math.min(...middles.map((m) => m[k])), Math.max(...middles.map((m) => m[k]))]);
    const still = all.map((r) => (r[0] + r[1]) / 2);
    const travel = Math.hypot(...all.map((r) => (r[1] - r[0]) / 2));

    const view = { yaw: 20, pitch: 8, zoom: 1, pan: [0, 0] };
    let frame = 0, time = scene.t[0] || 0, playing = false, last = 0, hits = [], pointer = null;
    const layer = (name) => root.querySelector("[data-layer=" + name + "]").checked;

    function draw() {
      const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
      if (canvas.width !== Math.round(w * ratio)) canvas.width = Math.round(w * ratio);
      if (canvas.height !== Math.round(h * ratio)) canvas.height = Math.round(h * ratio);
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, w, h);
      const follow = layer("follow"), middle = follow ? middles[frame] : still;
      const scale = view.zoom * 0.45 * Math.min(w, h) / (follow ? radius : radius + travel);
      const y = view.yaw * Math.PI / 180, p = view.pitch * Math.PI / 180;
      // Right, up and towards the reader.
      const V = [Math.cos(y), 0, -Math.sin(y), -Math.sin(y) * Math.sin(p), Math.cos(p), -Math.cos(y) * Math.sin(p),
        Math.sin(y) * Math.cos(p), Math.sin(p), Math.cos(y) * Math.cos(p)];
      const see = (q) => {
        const s = turn(V, [q[0] - middle[0], q[1] - middle[1], q[2] - middle[2]]);
        return [w / 2 + view.pan[0] + scale * s[0], h / 2 + view.pan[1] - scale * s[1], s[2]];
      };
      const body = bodies(frame);
      const place = (b, q) => add(body[b].p, turn(body[b].R, q));
      const items = [];
      hits = [];
      if (scene.floor !== null) floor(see, middle, follow ? radius : radius + travel);
      for (const s of scene.shapes) if (layer(s.l)) shape(s, body[s.b], see, V, scale, items);
      if (layer("body")) for (const b of scene.bones) {
        const a = see(place(b[0], b.slice(1, 4))), c = see(place(b[0], b.slice(4, 7)));
        items.push([(a[2] + c[2]) / 2, () => line([a, c], theme("--soft"), 2)]);
      }
      if (layer("path")) for (let k = 0, i = start[frame]; k < scene.paths.length; k++) {
        const n = path[i], on = path[i + 1] / 1000, points = [];
        for (let j = 0; j < n; j++) points.push(see(at(path, i + 2 + 3 * j)));
        i += 2 + 3 * n;
        const color = on > 1 ? "rgb(181,48,42)" : "rgb(" + (50 + 175 * on | 0) + "," + (90 - 60 * on | 0) + "," + (190 - 155 * on | 0) + ")";
        for (let j = 1; j < n; j++) {
          const a = points[j - 1], c = points[j];
          // Muscles lie on bodies: a little towards the reader, they are not cut by them.
          items.push([(a[2] + c[2]) / 2 + 0.03, () => line([a, c], color, on > 1 ? 2.5 : 2 + 2.5 * on)]);
          hits.push([a, c, scene.paths[k] + (on > 1 ? "" : " " + on.toFixed(2))]);
        }
      }
      if (layer("marker")) for (const m of scene.markers) {
        const a = see(place(m[0], m.slice(1, 4)));
        items.push([a[2] + 0.05, () => dot(a, 3, "#cc79a7")]);
        hits.push([a, a, m[4]]);
      }
      if (layer("arrow")) for (let k = 0, i = 6 * frame * scene.arrows.length; k < scene.arrows.length; k++, i += 6) {
        const a = see(at(arrow, i)), c = see(at(arrow, i + 3));
        if (Math.hypot(c[0] - a[0], c[1] - a[1]) > 2) items.push([Infinity, () => head(a, c)]);
      }
      items.sort((a, b) => a[0] - b[0]);
      for (const item of items) item[1]();
      label();
    }
    function line(points, color, width) {
      ctx.strokeStyle = color; ctx.lineWidth = width; ctx.lineCap = ctx.lineJoin = "round";
      ctx.beginPath();
      points.forEach((q, i) => i ? ctx.lineTo(q[0], q[1]) : ctx.moveTo(q[0], q[1]));
      ctx.stroke();
    }
    function dot(q, r, color) { ctx.fillStyle = color; ctx.beginPath(); ctx.arc(q[0], q[1], r, 0, 7); ctx.fill(); }
    function head(a, c) {
      const angle = Math.atan2(c[1] - a[1], c[0] - a[0]), side = (s) => [c[0] - 9 * Math.cos(angle + s), c[1] - 9 * Math.sin(angle + s)];
      line([a, c], "#009e73", 3);
      line([side(0.45), c, side(-0.45)], "#009e73", 3);
    }
    function floor(see, middle, size) {
      const step = size > 20 ? 5 : size > 4 ? 1 : 0.25, n = Math.ceil(size / step), color = theme("--line");
      const x0 = Math.round(middle[0] / step) * step, z0 = Math.round(middle[2] / step) * step, y = scene.floor;
      for (let i = -n; i <= n; i++) {
        line([see([x0 + i * step, y, z0 - n * step]), see([x0 + i * step, y, z0 + n * step])], color, 1);
        line([see([x0 - n * step, y, z0 + i * step]), see([x0 + n * step, y, z0 + i * step])], color, 1);
      }
    }
    function shape(s, body, see, V, scale, items) {
      if (s.e) {
        // The outline of an ellipsoid is an ellipse; S is the sum of the squares of its projected half axes.
        const e = s.e, R = matrix(e[3], e[4], e[5], e[6]), c = see(add(body.p, turn(body.R, e.slice(0, 3))));
        let xx = 0, xy = 0, yy = 0;
        for (let k = 0; k < 3; k++) {
          const a = turn(V, turn(body.R, [R[k] * e[7 + k], R[3 + k] * e[7 + k], R[6 + k] * e[7 + k]]));
          xx += a[0] * a[0]; xy -= a[0] * a[1]; yy += a[1] * a[1];
        }
        const m = (xx + yy) / 2, d = Math.hypot((xx - yy) / 2, xy), angle = Math.atan2(xy, (xx - yy) / 2) / 2;
        const long = scale * Math.sqrt(m + d), wide = scale * Math.sqrt(Math.max(m - d, 0));
        items.push([c[2], () => {
          const g = ctx.createRadialGradient(c[0] - long / 3, c[1] - long / 3, 0, c[0], c[1], long * 1.1 + 1e-6);
          g.addColorStop(0, rgb(s.c, 1.1, s.o)); g.addColorStop(1, rgb(s.c, 0.65, s.o));
          ctx.fillStyle = g; ctx.beginPath(); ctx.ellipse(c[0], c[1], long, wide, angle, 0, 7); ctx.fill();
        }]);
        return;
      }
      const q = s.points.map((v) => see(add(body.p, turn(body.R, v)))), f = s.faces;
      for (let i = 0; i < f.length; i += 3) {
        const a = q[f[i]], b = q[f[i + 1]], c = q[f[i + 2]];
        const ux = b[0] - a[0], uy = b[1] - a[1], uz = (b[2] - a[2]) * scale, vx = c[0] - a[0], vy = c[1] - a[1], vz = (c[2] - a[2]) * scale;
        const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        // On the screen y points down, so faces that look at the reader turn clockwise.
        if (nz >= 0) continue;
        const light = 0.72 + 0.38 * (0.3 * nx + 0.5 * ny - 0.8 * nz) / Math.hypot(nx, ny, nz);
        items.push([(a[2] + b[2] + c[2]) / 3, () => {
          ctx.fillStyle = ctx.strokeStyle = rgb(s.c, light, s.o);
          ctx.lineWidth = 0.5; ctx.beginPath(); ctx.moveTo(a[0], a[1]); ctx.lineTo(b[0], b[1]); ctx.lineTo(c[0], c[1]);
          ctx.closePath(); ctx.fill(); if (s.o > 0.5) ctx.stroke();
        }]);
      }
    }
    // The name of what the pointer is on.
    function label() {
      if (!pointer) return;
      let best = 8, name = null;
      for (const [a, b, text] of hits) {
        const dx = b[0] - a[0], dy = b[1] - a[1], l = dx * dx + dy * dy;
        const t = l ? Math.max(0, Math.min(1, ((pointer[0] - a[0]) * dx + (pointer[1] - a[1]) * dy) / l)) : 0;
        const d = Math.hypot(a[0] + t * dx - pointer[0], a[1] + t * dy - pointer[1]);
        if (d < best) { best = d; name = text; }
      }
      if (name === null) return;
      ctx.font = "13px sans-serif";
      const w = ctx.measureText(name).width, x = Math.min(pointer[0] + 12, canvas.clientWidth - w - 12), y = pointer[1] - 12;
      ctx.fillStyle = theme("--paper"); ctx.fillRect(x - 5, y - 14, w + 10, 20);
      ctx.fillStyle = theme("--ink"); ctx.fillText(name, x, y);
    }

    function show(f) {
      frame = Math.max(0, Math.min(count - 1, f));
      slider.value = frame;
      output.textContent = scene.t[frame].toFixed(3) + " s";
      draw();
      cursors(scene.t[frame]);
    }
    function seek(t) {
      let f = 0;
      while (f < count - 1 && scene.t[f + 1] <= t + 1e-9) f++;
      time = t;
      show(f);
    }
    function play(on) {
      playing = on && count > 1;
      button.textContent = playing ? "Pause" : "Play";
      last = 0;
      if (playing) requestAnimationFrame(step);
    }
    function step(now) {
      if (!playing) return;
      if (last) time += (now - last) / 1000 * Number(speed.value);
      last = now;
      if (time > scene.t[count - 1] || time < scene.t[0]) time = scene.t[0];
      seek(time);
      requestAnimationFrame(step);
    }
    slider.max = count - 1;
    slider.addEventListener("input", () => { play(false); time = scene.t[slider.value]; show(Number(slider.value)); });
    button.addEventListener("click", () => play(!playing));
    root.addEventListener("change", draw);
    for (const b of root.querySelectorAll("[data-view]")) b.addEventListener("click", () => {
      [view.yaw, view.pitch] = b.dataset.view.split(",").map(Number);
      view.pan = [0, 0]; view.zoom = 1; draw();
    });
    const held = new Map();
    canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); held.set(e.pointerId, [e.clientX, e.clientY]); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => held.delete(e.pointerId));
    canvas.addEventListener("pointerleave", () => { pointer = null; draw(); });
    canvas.addEventListener("pointermove", (e) => {
      const r = canvas.getBoundingClientRect(), old = held.get(e.pointerId);
      pointer = [e.clientX - r.left, e.clientY - r.top];
      if (old) {
        const dx = e.clientX - old[0], dy = e.clientY - old[1];
        if (held.size > 1) {
          // Two fingers: the distance to the other zooms.
          const other = [...held].find(([id]) => id !== e.pointerId)[1];
          const far = (q) => Math.hypot(q[0] - other[0], q[1] - other[1]) + 1;
          zoom(far([e.clientX, e.clientY]) / far(old));
        } else if (e.shiftKey || e.buttons & 6) { view.pan[0] += dx; view.pan[1] += dy; } else orbit(-0.4 * dx, 0.4 * dy);
        held.set(e.pointerId, [e.clientX, e.clientY]);
      }
      draw();
    });
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(-0.0015 * e.deltaY)); draw(); }, { passive: false });
    function orbit(yaw, pitch) { view.yaw += yaw; view.pitch = Math.max(-89.9, Math.min(89.9, view.pitch + pitch)); }
    function zoom(k) { view.zoom = Math.max(0.1, Math.min(50, view.zoom * k)); }
    canvas.addEventListener("keydown", (e) => {
      const keys = {
        ArrowLeft: () => orbit(-5, 0), ArrowRight: () => orbit(5, 0), ArrowUp: () => orbit(0, 5), ArrowDown: () => orbit(0, -5),
        "+": () => zoom(1.15), "=": () => zoom(1.15), "-": () => zoom(1 / 1.15), " ": () => play(!playing),
        ",": () => { play(false); show(frame - 1); time = scene.t[frame]; }, ".": () => { play(false); show(frame + 1); time = scene.t[frame]; },
      };
      if (keys[e.key]) { e.preventDefault(); keys[e.key](); draw(); }
    });
    // Switches of what is not there are not shown.
    const there = { path: scene.paths.length, marker: scene.markers.length, arrow: scene.arrows.length, follow: travel > 0.2 };
    for (const s of scene.shapes) there[s.l] = 1;
    there.body = there.body || scene.bones.length;
    for (const box of root.querySelectorAll("[data-layer]")) if (!there[box.dataset.layer]) box.parentNode.hidden = true;
    root.querySelector("[data-layer=follow]").checked = travel > radius / 2;
    root.querySelector(".still").hidden = true;
    canvas.hidden = false;
    for (const c of root.querySelectorAll(".controls")) c.hidden = false;
    if (count < 2) for (const c of [slider, button, output, speed.parentNode]) c.hidden = true;
    new ResizeObserver(draw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    show(0);
    play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
    this.seek = (t) => { play(false); seek(t); };
  }

  // ---- Plots: values under the pointer, and the time of the figure ----

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
    if (timed) svg.addEventListener("click", (e) => {
      const r = svg.getBoundingClientRect(), px = (e.clientX - r.left) * svg.viewBox.baseVal.width / r.width;
      if (px >= left && px <= right) figures.forEach((f) => f.seek(toX(px)));
    });
    return (t) => { if (timed) bar(mark, fromX(t)); };
  });
  function cursors(t) { plots.forEach((p) => p(t)); }
  const figures = [...document.querySelectorAll("figure.animation")].map((root) => new Figure(root));
})();
