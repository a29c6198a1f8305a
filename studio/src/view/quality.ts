/** How many pixels a picture gets: fewer while something moves and the machine is slow, all of them when it stands still. */

/** A picture in motion may take so long, ms: 20 of them in a second leave room for the rest of the page. */
const WANTED_MS = 40;
/** A picture that took less, ms, may get more pixels. */
const QUICK_MS = 22;
/** Pictures in a row before the number of pixels changes. */
const IN_A_ROW = 4;
const LEAST = 0.4;
/** So long nothing may move before a fine picture is drawn, ms. */
const STILL_MS = 220;
/** Pixels of a fine picture without a graphics card. */
const MOST_PIXELS = 2.2e6;

export class Quality {
  /** Whether a program draws, and not a graphics card. */
  readonly isSoftware: boolean;
  private moved = 0;
  private last = 0;
  private slow = 0;
  private quick = 0;
  private inMotion: number;
  private best = 1;
  isFine = true;

  constructor() {
    this.isSoftware = drawnByProgram();
    this.inMotion = this.isSoftware ? 0.75 : Math.min(window.devicePixelRatio, 2);
    this.best = Math.min(window.devicePixelRatio, 2);
  }

  /** Pixels drawn for each of the page. */
  get ratio(): number {
    return this.isFine ? this.best : this.inMotion;
  }

  resize(width: number, height: number): void {
    const device = Math.min(window.devicePixelRatio, 2);
    // Without smooth edges by the card, a still picture is drawn larger than it is shown.
    this.best = this.isSoftware ? Math.min(2, Math.max(device, Math.sqrt(MOST_PIXELS / (width * height)))) : device;
  }

  /** A picture of something that moves. */
  moving(now: number): void {
    const took = now - this.last;
    this.last = now;
    // The first after a pause says nothing about how long pictures take.
    if (took < 400 && this.moved > 0) {
      this.slow = took > WANTED_MS ? this.slow + 1 : 0;
      this.quick = took < QUICK_MS ? this.quick + 1 : 0;
      const most = this.isSoftware ? 1 : Math.min(window.devicePixelRatio, 2);
      if (this.slow >= IN_A_ROW && this.inMotion > LEAST) {
        this.inMotion = Math.max(LEAST, this.inMotion * 0.85);
        this.slow = 0;
      } else if (this.quick >= 12 * IN_A_ROW && this.inMotion < most) {
        this.inMotion = Math.min(most, this.inMotion * 1.1);
        this.quick = 0;
      }
    }
    this.moved = now;
    this.isFine = !this.isSoftware && this.inMotion >= 0.9 * this.best;
  }

  /** Whether all stands still now and a fine picture is due. */
  settle(now: number): boolean {
    if (this.moved === 0 || now - this.moved < STILL_MS) return false;
    this.moved = 0;
    const due = !this.isFine;
    this.isFine = true;
    return due;
  }

  fine(): void {
    this.isFine = true;
  }
}

function drawnByProgram(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
