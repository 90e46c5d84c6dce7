import { type CatalogStore, type CommitBatch, type CommitOutcome, LakeError } from '../../src/index.ts';

/** A catalog whose commits can be held up on their way, as by a network that delivers after the connection is given up. */
export interface HeldCommits {
  readonly catalog: CatalogStore;
  /** The next commit fails as unknown, and is held; with `breaks` nothing gets through after it until `connect`. */
  hold(breaks?: boolean): void;
  connect(): void;
  /** Batches that were held, oldest first. */
  readonly held: CommitBatch[];
  /** Delivers a batch that was held. */
  deliver(batch: CommitBatch): Promise<CommitOutcome>;
}

export function heldCommits(catalog: CatalogStore): HeldCommits {
  let [isHeld, breaks, isConnected] = [false, false, true];
  const held: CommitBatch[] = [];
  return {
    catalog: new Proxy(catalog, {
      get(store, name) {
        const value = Reflect.get(store, name, store);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (name === Symbol.asyncDispose || (isConnected && !(name === 'commit' && isHeld)))
            return value.apply(store, args);
          const error = isConnected
            ? new LakeError('COMMIT_UNKNOWN', 'the connection broke')
            : new LakeError('CATALOG_UNAVAILABLE', 'no connection', { retryable: true });
          if (isConnected) {
            held.push(args[0] as CommitBatch);
            [isHeld, isConnected] = [false, !breaks];
          }
          if (name === 'readSnapshots') throw error;
          return Promise.reject(error);
        };
      },
    }),
    hold(thenBreaks = false) {
      [isHeld, breaks] = [true, thenBreaks];
    },
    connect() {
      isConnected = true;
    },
    held,
    deliver: (batch) => catalog.commit(batch),
  };
}
