/** `npm run check`: the static checks of `npm test`, all of them or those whose name contains an argument. */
import { CHECKS } from './checks.ts';

const wanted = process.argv.slice(2);
let failed = 0;
for (const check of CHECKS) {
  if (wanted.length > 0 && !wanted.some((word) => check.name.includes(word))) continue;
  const began = performance.now();
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  try {
    const note = await check.run();
    console.log(`ok    ${check.name} (${seconds()})${note ? `: ${note}` : ''}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${check.name} (${seconds()})\n${error instanceof Error ? error.message : error}`);
  }
}
process.exitCode = failed > 0 ? 1 : 0;
