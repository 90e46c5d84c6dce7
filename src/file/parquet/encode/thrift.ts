import type { ByteBuffer } from './byte-buffer.ts';
import { encodeUtf8 } from './utf8.ts';

/** Types of Thrift's compact protocol. */
const compact = { true: 1, false: 2, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

/**
 * Thrift's compact protocol, as far as Parquet's headers and footers need it. Fields of one struct come in the order of their
 * ids; integers are safe integers.
 */
export class ThriftWriter {
  readonly #out: ByteBuffer;
  #lastField = 0;
  readonly #outer: number[] = [];

  constructor(out: ByteBuffer) {
    this.#out = out;
  }

  bool(id: number, value: boolean): void {
    this.#field(id, value ? compact.true : compact.false);
  }

  int32(id: number, value: number): void {
    this.#integer(id, compact.i32, value);
  }

  int64(id: number, value: number): void {
    this.#integer(id, compact.i64, value);
  }

  /** In one go: most of headers and footers are integers. */
  #integer(id: number, type: number, value: number): void {
    const out = this.#out;
    out.reserve(10);
    const { bytes } = out;
    let { length } = out;
    bytes[length++] = ((id - this.#lastField) << 4) | type;
    this.#lastField = id;
    let rest = value >= 0 ? value * 2 : value * -2 - 1;
    for (; rest > 0x7fffffff; rest = Math.floor(rest / 128)) bytes[length++] = (rest % 128) | 128;
    for (; rest > 127; rest >>>= 7) bytes[length++] = (rest & 127) | 128;
    bytes[length++] = rest;
    out.length = length;
  }

  binary(id: number, bytes: Uint8Array): void {
    this.#field(id, compact.binary);
    this.#out.varint(bytes.length);
    this.#out.append(bytes);
  }

  string(id: number, text: string): void {
    this.binary(id, encodeUtf8(text));
  }

  /** A struct as a field: `write` writes its fields. */
  struct(id: number, write?: () => void): void {
    this.#field(id, compact.struct);
    this.element(write);
  }

  /** Fields that were written elsewhere, up to that with the id `last`. */
  fields(bytes: Uint8Array, last: number): void {
    this.#out.append(bytes);
    this.#lastField = last;
  }

  /** A struct as an element of a list, or as the whole message. */
  element(write?: () => void): void {
    this.#outer.push(this.#lastField);
    this.#lastField = 0;
    write?.();
    this.#byte(0);
    this.#lastField = this.#outer.pop()!;
  }

  structs<T>(id: number, items: readonly T[], write: (item: T) => void): void {
    this.#list(id, compact.struct, items.length);
    for (const item of items) this.element(() => write(item));
  }

  strings(id: number, items: readonly string[]): void {
    this.#list(id, compact.binary, items.length);
    for (const item of items) {
      const bytes = encodeUtf8(item);
      this.#out.varint(bytes.length);
      this.#out.append(bytes);
    }
  }

  binaries(id: number, items: readonly Uint8Array[]): void {
    this.#list(id, compact.binary, items.length);
    for (const bytes of items) {
      this.#out.varint(bytes.length);
      this.#out.append(bytes);
    }
  }

  int32s(id: number, items: readonly number[]): void {
    this.#list(id, compact.i32, items.length);
    for (const item of items) this.#zigzag(item);
  }

  int64s(id: number, items: readonly number[]): void {
    this.#list(id, compact.i64, items.length);
    for (const item of items) this.#zigzag(item);
  }

  bools(id: number, items: readonly boolean[]): void {
    this.#list(id, compact.true, items.length);
    for (const item of items) this.#byte(item ? compact.true : compact.false);
  }

  #list(id: number, type: number, count: number): void {
    this.#field(id, compact.list);
    if (count < 15) this.#byte((count << 4) | type);
    else {
      this.#byte(0xf0 | type);
      this.#out.varint(count);
    }
  }

  #field(id: number, type: number): void {
    this.#byte(((id - this.#lastField) << 4) | type);
    this.#lastField = id;
  }

  #zigzag(value: number): void {
    this.#out.varint(value >= 0 ? value * 2 : value * -2 - 1);
  }

  #byte(value: number): void {
    this.#out.reserve(1);
    this.#out.bytes[this.#out.length++] = value;
  }
}
