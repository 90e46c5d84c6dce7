/** Options that every call of an {@link ObjectStore} takes. */
export interface StoreOptions {
  /** Stops the call; it then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for {@link ObjectStore.open}. */
export interface OpenOptions extends StoreOptions {
  /** The object's length in bytes where the caller knows it: the store then asks for nothing before the first slice. */
  readonly byteLength?: number | undefined;
}

/** An open object. Structurally a hyparquet `AsyncBuffer`. */
export interface ObjectReader {
  readonly byteLength: number;
  /** Bytes `start` (inclusive) to `end` (exclusive; the object's end by default). Never fewer than asked for: that is CORRUPT. */
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

/**
 * An object being written. It becomes visible as a whole when `close` resolves, and not before; after `abort`, or a
 * failed `close`, nothing of it is visible and the store has been asked to remove what it held.
 */
export interface ObjectWriter {
  /** Takes `bytes` over: the caller must not change them afterwards. Resolves when more may be written (back-pressure). */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
  /** Ends the writer without an object. Safe to call at any time, more than once, and after a failed `write` or `close`. */
  abort(): Promise<void>;
}

/** An object as {@link ObjectStore.list} reports it. */
export interface ListedObject {
  readonly location: string;
  readonly byteLength: number;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
}

/**
 * Where data files live. A location is absolute in the store's own terms: a file path, `s3://bucket/key`, or any string
 * for a store in memory. Locations are opaque byte for byte: no store decodes, normalises or re-encodes them.
 *
 * Errors: NOT_FOUND for a location that isn't there, ACCESS_DENIED, INVALID_ARGUMENT for a location outside the store,
 * STORE_UNAVAILABLE (retryable) for everything that may pass.
 */
export interface ObjectStore {
  readonly name: string;
  open(location: string, options?: OpenOptions): Promise<ObjectReader>;
  /** Begins an object. Nothing need be sent before the first `write`, and a small object is one request in all. */
  create(location: string, options?: StoreOptions): Promise<ObjectWriter>;
  /** Deletes objects. A location that is already gone is not an error. */
  delete(locations: readonly string[], options?: StoreOptions): Promise<void>;
  /** Objects whose location begins with `prefix`, in no particular order. */
  list(prefix: string, options?: StoreOptions): AsyncIterable<ListedObject>;
}
