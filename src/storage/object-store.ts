/** Options that every call of an {@link ObjectStore} takes. */
export interface StoreOptions {
  /**
   * Stops the call; it then rejects with `signal.reason`. What `open` and `create` return goes on obeying it: slices,
   * writes and `close` reject with the reason once it has fired.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Options for {@link ObjectStore.open}. */
export interface OpenOptions extends StoreOptions {
  /**
   * The object's length in bytes where the caller knows it: the store then asks for nothing before the first slice, and
   * a location that isn't there is NOT_FOUND only then.
   */
  readonly byteLength?: number | undefined;
}

/** An open object. Structurally a hyparquet `AsyncBuffer`. It holds no resource that would have to be closed. */
export interface ObjectReader {
  readonly byteLength: number;
  /**
   * Bytes `start` (inclusive) to `end` (exclusive; the object's end by default). Never fewer than asked for: a range past
   * the object's end is CORRUPT. A range that runs backwards or is not made of whole numbers from 0 is INVALID_ARGUMENT.
   */
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

/**
 * An object being written. It becomes visible as a whole when `close` resolves, and not before; after `abort`, or a
 * failed `close`, nothing of it is visible and the store has been asked to remove what it held. After a failed `write`
 * the caller aborts. A writer that has ended rejects `write` and `close` with CLOSED.
 */
export interface ObjectWriter {
  /**
   * Takes `bytes` over: the caller must not change them afterwards. Resolves when more may be written (back-pressure).
   * Bytes land in the order of the calls, awaited or not.
   */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
  /**
   * Ends the writer without an object. Safe to call at any time, more than once, and after a failed `write` or `close`;
   * it never rejects. After a `close` that resolved it does nothing.
   */
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
  /**
   * Begins an object. Nothing need be sent before the first `write`, and a small object is one request in all. An object
   * that is there already stays as it is until `close`, which replaces it as a whole.
   */
  create(location: string, options?: StoreOptions): Promise<ObjectWriter>;
  /**
   * Deletes objects. A location that is already gone is not an error. All are tried; the first failure is thrown
   * afterwards.
   */
  delete(locations: readonly string[], options?: StoreOptions): Promise<void>;
  /**
   * Objects whose location begins with `prefix` (a string, which need not end at a slash), in no particular order.
   * Includes what dead writers left under a temporary name, see {@link TEMPORARY_SUFFIX}.
   */
  list(prefix: string, options?: StoreOptions): AsyncIterable<ListedObject>;
}

/**
 * How the names end under which a store without atomic writes holds an unfinished object. A file that ends so and is
 * older than any write may take is a dead writer's.
 */
export const TEMPORARY_SUFFIX: string = '.edgemere-tmp';
