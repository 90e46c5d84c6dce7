/**
 * What every catalog and every store must do, as cases that run under any test framework and in any runtime.
 *
 * @module
 */
export { CaseFailure, type ConformanceCase } from './case.ts';
export { type CatalogTarget, catalogCases } from './catalog.ts';
export { type LakeTarget, lakeCases } from './lake.ts';
export { type StorageTarget, storageCases } from './storage.ts';
