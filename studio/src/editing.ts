/** Changes of the model, with a history: numbers, parts that are added and removed, points that are moved by hand. */

import type { App } from "./app";
import { base, stem } from "./dom";
import type { Answer } from "./engine/message";
import type { Edit } from "./store";
import type { Handle } from "./view/handles";

export class Editor {
  private busy = false;
  private next: (() => Promise<void>) | null = null;
  /** Text of the place before the handle that is held was moved. */
  private before: string | null | undefined = undefined;

  constructor(private app: App) {
    const handles = app.figure.handles;
    handles.onMove = (handle, station, done) => this.moved(handle, station.toArray(), done);
    handles.onClick = (handle) => app.store.set({ selection: handle.path });
    app.store.on(["selection", "model"], () => void this.showHandles());
  }

  /** The last change that a saved file has. */
  private last: Edit | null = null;

  /** The model was saved, or another one is open. */
  saved(): void {
    const { doc } = this.app;
    this.last = doc.edits[doc.done - 1] ?? null;
  }

  /** Whether there are changes that no saved file has. */
  get isUnsaved(): boolean {
    const { doc } = this.app;
    return (doc.edits[doc.done - 1] ?? null) !== this.last;
  }

  private remember(edit: Edit): void {
    const { doc, store } = this.app;
    const edits = [...doc.edits.slice(0, doc.done), edit];
    store.set({ edits, done: edits.length });
  }

  /** Changes a property; what was there before goes into the history. */
  async edit(path: string, name: string, text: string | null): Promise<void> {
    const before = await this.set(path, name, text);
    if (before !== undefined) this.remember({ path, name, before, after: text });
  }

  private async set(path: string, name: string, text: string | null): Promise<string | null | undefined> {
    const a = await this.ask("set", { path, name, text });
    return a ? a.value.before : undefined;
  }

  /** Asks the engine for a changed model, and shows it. */
  private async ask(method: string, fields: object): Promise<Answer | null> {
    const m = this.app.doc.model;
    if (!m) return null;
    try {
      const a = await this.app.call(method, { model: m.id, ...fields });
      await this.app.modelChanged({ ...a.value.model, id: m.id });
      return a;
    } catch (e) {
      this.app.fail(e);
      return null;
    }
  }

  /** Adds a part, or another one like a component; it is chosen. */
  async add(fields: { part?: object; like?: string; marker?: object }, text: string): Promise<boolean> {
    const a = await this.ask("add", fields);
    if (!a) return false;
    this.remember({ text, before: a.value.version[0], after: a.value.version[1] });
    if (a.value.path) this.app.store.set({ selection: a.value.path });
    return true;
  }

  /** Takes a component out. */
  async remove(path: string): Promise<void> {
    const a = await this.ask("remove", { path });
    if (!a) return;
    this.remember({ text: `removed ${base(path)}`, before: a.value.version[0], after: a.value.version[1] });
    this.app.store.set({ selection: null });
  }

  private async go(e: Edit | undefined, back: boolean): Promise<boolean> {
    if (!e) return false;
    if ("name" in e) return (await this.set(e.path, e.name, back ? e.before : e.after)) !== undefined;
    return (await this.ask("restore", { version: back ? e.before : e.after })) !== null;
  }

  async undo(): Promise<void> {
    const { doc, store } = this.app;
    if (await this.go(doc.edits[doc.done - 1], true)) store.set({ done: doc.done - 1 });
  }

  async redo(): Promise<void> {
    const { doc, store } = this.app;
    if (await this.go(doc.edits[doc.done], false)) store.set({ done: doc.done + 1 });
  }

  /** The history in words. */
  lines(): string[] {
    const { doc } = this.app;
    return doc.edits.slice(0, doc.done).map((e) => ("name" in e ? `${e.path}  ${e.name}: ${e.before ?? "(default)"} → ${e.after ?? "(default)"}` : e.text));
  }

  /** The name that the changed model gets. */
  changedName(): string {
    const f = this.app.doc.model?.file ?? "model.osim";
    return this.app.doc.done > 0 ? `${f.slice(0, f.length - base(f).length)}${stem(f)}_changed.osim` : f;
  }

  /** Points of the muscle that is chosen and the wrap objects it knows, to be taken hold of. */
  private async showHandles(): Promise<void> {
    const { doc, engine, figure } = this.app;
    const path = doc.selection;
    if (!doc.model || !path || !engine.computes) return figure.handles.set([], null);
    try {
      const a = await engine.call("handles", { model: doc.model.id, path });
      if (doc.selection === path) figure.handles.set(a.value.handles, figure.bodies);
    } catch {
      figure.handles.set([], null);
    }
  }

  /** While a handle is moved the last place wins; the history gets one entry when it is let go. */
  private moved(handle: Handle, station: number[], done: boolean): void {
    this.next = async () => {
      const m = this.app.doc.model;
      if (!m) return;
      const a = await this.app.engine.call("move", { model: m.id, path: handle.path, property: handle.property, body: handle.body, frame: handle.frame, station });
      if (this.before === undefined) this.before = a.value.before;
      await this.app.modelChanged({ ...a.value.model, id: m.id }, !done && handle.kind === "point");
      if (done) {
        this.remember({ path: handle.path, name: handle.property, before: this.before ?? null, after: a.value.after });
        this.before = undefined;
      }
    };
    if (this.busy) return;
    this.busy = true;
    void (async () => {
      while (this.next) {
        const work = this.next;
        this.next = null;
        try {
          await work();
        } catch (e) {
          this.before = undefined;
          this.app.fail(e);
        }
      }
      this.busy = false;
    })();
  }
}
