/** Messages to an engine: JSON and a block of bytes; see crates/soleus-studio/src/message.rs. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A list of numbers in the block. */
export type Place = { f32: [number, number] } | { f64: [number, number] } | { u32: [number, number] } | { u8: [number, number] };

/** Files that travel with a message. */
export interface NamedBytes {
  name: string;
  bytes: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A message as bytes. */
export function write(value: object, block: Uint8Array = new Uint8Array()): Uint8Array {
  let json = encoder.encode(JSON.stringify(value));
  const padding = (8 - ((4 + json.length) % 8)) % 8;
  const bytes = new Uint8Array(4 + json.length + padding + block.length);
  new DataView(bytes.buffer).setUint32(0, json.length + padding, true);
  bytes.set(json, 4);
  bytes.fill(32, 4 + json.length, 4 + json.length + padding);
  bytes.set(block, 4 + json.length + padding);
  return bytes;
}

/** Its parts again; the block is a copy that nobody else changes. */
export function read(bytes: Uint8Array): { value: any; block: ArrayBuffer } {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const value = JSON.parse(decoder.decode(bytes.subarray(4, 4 + length)));
  return { value, block: bytes.slice(4 + length).buffer as ArrayBuffer };
}

/** Several files as one block, and where they are in it. */
export function packed(files: NamedBytes[]): { list: object[]; block: Uint8Array } {
  let at = 0;
  const list = files.map((f) => {
    const place = { name: f.name, bytes: { u8: [at, f.bytes.length] } };
    at += f.bytes.length;
    return place;
  });
  const block = new Uint8Array(at);
  at = 0;
  for (const f of files) {
    block.set(f.bytes, at);
    at += f.bytes.length;
  }
  return { list, block };
}

/** An answer: its JSON, and the numbers that it speaks of. */
export class Answer {
  constructor(
    readonly value: any,
    readonly block: ArrayBuffer,
  ) {}

  f32(place: any): Float32Array {
    return new Float32Array(this.block, place.f32[0], place.f32[1]);
  }
  f64(place: any): Float64Array {
    return new Float64Array(this.block, place.f64[0], place.f64[1]);
  }
  u32(place: any): Uint32Array {
    return new Uint32Array(this.block, place.u32[0], place.u32[1]);
  }
  bytes(place: any): Uint8Array {
    return new Uint8Array(this.block, place.u8[0], place.u8[1]);
  }
}

/** What an engine says instead of an answer. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly kind: string,
    readonly diagnostics: any[],
  ) {
    super(message);
  }
}
