/**
 * Loaded before the tests (bunfig.toml). Property tests draw the same examples each time, so that a change is what made a test fail.
 * `EDGEMERE_TEST_SEED=random`, or a number, draws others.
 */
import fc from 'fast-check';

const seed = process.env['EDGEMERE_TEST_SEED'] ?? '1';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });
