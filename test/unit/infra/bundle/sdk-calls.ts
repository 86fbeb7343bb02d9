/**
 * An operation of each AWS client that the functions have, and every error whose class they import. bundles.test.ts bundles this
 * file with the plugins of the functions and without them, which change clients, not operations.
 */
import { Agent } from 'node:https';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import {
  ExecutionAlreadyExists,
  InvalidToken,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { promptQueueClient } from '#lib/aws/wiring/aws-client-timeouts.ts';

/** The errors whose classes the code imports. */
export const named: Readonly<Record<string, unknown>> = {
  ConditionalCheckFailedException,
  ResourceNotFoundException,
  ExecutionAlreadyExists,
  InvalidToken,
  TaskDoesNotExist,
  TaskTimedOut,
};

/** Each operation, called with a word. The request contains the word, by which the server chooses its answer. */
export type Calls = Readonly<Record<string, (word: string) => Promise<unknown>>>;

/** `ca` is the certificate, in PEM, of the server at AWS_ENDPOINT_URL. */
export const callsWith = (ca: string): Calls => {
  const options = { maxAttempts: 2, requestHandler: { httpsAgent: new Agent({ ca, keepAlive: false }) } };
  const database = new DynamoDBClient(options);
  const keys = new KMSClient(options);
  const objects = new S3Client({ ...options, forcePathStyle: true });
  const secrets = new SecretsManagerClient(options);
  const machine = new SFNClient(options);
  const queue = new SQSClient({ ...promptQueueClient, ...options });
  const key = { id: { S: 'one' } };
  return {
    getItem: (TableName) => database.send(new GetItemCommand({ TableName, Key: key })),
    updateItem: (TableName) =>
      database.send(new UpdateItemCommand({ TableName, Key: key, ReturnValues: 'ALL_NEW' })),
    encrypt: (KeyId) =>
      keys.send(new EncryptCommand({ KeyId, Plaintext: Buffer.from('text'), EncryptionContext: { a: 'b' } })),
    putObject: (Key) => objects.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: '{}' })),
    presignGetObject: (Key) =>
      getSignedUrl(objects, new GetObjectCommand({ Bucket: 'bucket', Key }), {
        signingDate: new Date(Date.UTC(2026, 0, 1)),
      }),
    getSecretValue: (SecretId) => secrets.send(new GetSecretValueCommand({ SecretId })),
    startExecution: (name) => machine.send(new StartExecutionCommand({ stateMachineArn: 'arn', name })),
    sendTaskSuccess: (taskToken) => machine.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })),
    sendMessage: (QueueUrl) => queue.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' })),
  };
};
