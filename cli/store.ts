import type { ListedObject, ObjectOpenOptions, ObjectReader, ObjectStore, ObjectWriter, StoreOptions } from 'edgemere';
import { localStore } from 'edgemere/local';
import { openS3 } from './s3.ts';

/** Files and S3 objects by their location: which of them a lake uses, its catalog says, after it is opened. */
export class LocationStore implements ObjectStore {
  readonly name = 'files and s3';
  readonly #local = localStore();
  readonly #env: NodeJS.ProcessEnv;
  #s3: Promise<ObjectStore> | undefined;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  async open(location: string, options?: ObjectOpenOptions): Promise<ObjectReader> {
    return (await this.#storeOf(location)).open(location, options);
  }

  async create(location: string, options?: StoreOptions): Promise<ObjectWriter> {
    return (await this.#storeOf(location)).create(location, options);
  }

  async delete(locations: readonly string[], options?: StoreOptions): Promise<void> {
    const [remote, local] = [locations.filter(isS3), locations.filter((location) => !isS3(location))];
    if (local.length > 0) await this.#local.delete(local, options);
    if (remote.length > 0) await (await this.#storeOf(remote[0]!)).delete(remote, options);
  }

  async *list(prefix: string, options?: StoreOptions): AsyncGenerator<ListedObject> {
    yield* (await this.#storeOf(prefix)).list(prefix, options);
  }

  async #storeOf(location: string): Promise<ObjectStore> {
    if (!isS3(location)) return this.#local;
    this.#s3 ??= openS3(this.#env);
    return this.#s3;
  }
}

function isS3(location: string): boolean {
  return location.startsWith('s3://');
}
