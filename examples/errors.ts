/** A bad value is refused before anything is uploaded, and the error says where it stood. */
import { isLakeError, t } from 'edgemere';
import { memoryLake } from 'edgemere/memory';

await using lake = await memoryLake();
const readings = await lake.createTable('readings', { sensor: t.uint8().notNull(), celsius: t.decimal(4, 1) });
try {
  await readings.insert([
    { sensor: 1, celsius: '21.5' },
    { sensor: 256, celsius: '21.6' },
  ]);
} catch (error) {
  if (!isLakeError(error, 'INVALID_VALUE')) throw error;
  const { table, column, row, value } = error.context;
  console.log(table, column, row, value); // readings sensor 1 256
}
console.log(await readings.files()); // []
