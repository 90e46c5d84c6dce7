import type { ObjectStore } from 'edgemere';
import { CommandError } from './errors.ts';

/**
 * The store of `s3://` paths, with the settings that AWS tools take from the environment, and the endpoint from
 * S3_ENDPOINT or AWS_ENDPOINT_URL_S3. Its client is loaded only here.
 */
export async function openS3(env: NodeJS.ProcessEnv): Promise<ObjectStore> {
  const [{ s3Store }, { S3Client }] = await Promise.all([import('edgemere/s3'), loadClient()]);
  const endpoint = env['S3_ENDPOINT'] || env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'];
  const client = new S3Client({
    region: env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1',
    ...(endpoint ? { endpoint: withScheme(endpoint), forcePathStyle: env['S3_FORCE_PATH_STYLE'] !== 'false' } : {}),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return s3Store({ client });
}

async function loadClient(): Promise<typeof import('@aws-sdk/client-s3')> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (cause) {
    throw new CommandError('s3:// needs the package @aws-sdk/client-s3: npm install @aws-sdk/client-s3', { cause });
  }
}

function withScheme(endpoint: string): string {
  return /^https?:\/\//.test(endpoint) ? endpoint : `https://${endpoint}`;
}
