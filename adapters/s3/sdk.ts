/** What `s3Store` needs of an `S3Client` of `@aws-sdk/client-s3`. */
export interface S3ClientLike {
  send(command: never, options?: { abortSignal?: AbortSignal }): Promise<unknown>;
}

/** Of what `s3Store` makes a client when it is given none. For everything else make the client yourself. */
export interface S3Config {
  /** `https://…` of an S3-compatible service. AWS by default. */
  readonly endpoint?: string;
  /** From the environment (`AWS_REGION`) or the profile by default. R2 takes `auto`. */
  readonly region?: string;
  /** From the environment, the profile or the machine's role by default. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** Whether the bucket goes into the path, not the host name. By default where there is an `endpoint`. */
  readonly forcePathStyle?: boolean;
  /** How often a request is tried in all. The SDK's default is 3. */
  readonly maxAttempts?: number;
}

interface Place {
  Bucket: string;
  Key: string;
}

interface Part extends Place {
  UploadId: string;
}

/** Checksums that a service gave for a part, and wants back when the upload is completed. */
export interface PartChecksums {
  ChecksumCRC32?: string | undefined;
  ChecksumCRC32C?: string | undefined;
  ChecksumCRC64NVME?: string | undefined;
  ChecksumSHA1?: string | undefined;
  ChecksumSHA256?: string | undefined;
}

export interface UploadedPart extends PartChecksums {
  PartNumber: number;
  ETag: string | undefined;
}

/** What `s3Store` needs of the module `@aws-sdk/client-s3`: its command classes, and `S3Client` where it makes one. */
export interface S3Sdk {
  readonly S3Client: new (config: never) => S3ClientLike;
  readonly PutObjectCommand: new (input: Place & { Body: Uint8Array }) => object;
  readonly HeadObjectCommand: new (input: Place) => object;
  readonly GetObjectCommand: new (input: Place & { Range: string }) => object;
  readonly DeleteObjectCommand: new (input: Place) => object;
  readonly DeleteObjectsCommand: new (input: {
    Bucket: string;
    Delete: { Objects: { Key: string }[]; Quiet: boolean };
  }) => object;
  readonly ListObjectsV2Command: new (input: {
    Bucket: string;
    Prefix: string;
    EncodingType: 'url';
    ContinuationToken?: string;
  }) => object;
  readonly CreateMultipartUploadCommand: new (input: Place) => object;
  readonly UploadPartCommand: new (input: Part & { PartNumber: number; Body: Uint8Array }) => object;
  readonly CompleteMultipartUploadCommand: new (input: Part & { MultipartUpload: { Parts: UploadedPart[] } }) => object;
  readonly AbortMultipartUploadCommand: new (input: Part) => object;
}

/** What is read of the answers. */
export interface S3Answers {
  readonly head: { readonly ContentLength?: number };
  readonly get: { readonly Body?: { transformToByteArray(): Promise<Uint8Array> } };
  readonly create: { readonly UploadId?: string };
  readonly part: PartChecksums & { readonly ETag?: string };
  readonly deletes: { readonly Errors?: readonly { Key?: string; Code?: string; Message?: string }[] };
  readonly list: {
    readonly Contents?: readonly { readonly Key?: string; readonly Size?: number; readonly LastModified?: Date }[];
    readonly EncodingType?: string;
    readonly IsTruncated?: boolean;
    readonly NextContinuationToken?: string;
  };
}
