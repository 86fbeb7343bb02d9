/**
 * Every AWS operation that the functions call. bundles.test.ts bundles this file with the plugins of the
 * functions and without them.
 */
import { Agent } from 'node:https';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import {
  ExecutionAlreadyExists,
  InvalidToken,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { promptQueueClient } from '../../../../lib/aws/wiring/aws-client-timeouts.ts';

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
    deleteItem: (TableName) => database.send(new DeleteItemCommand({ TableName, Key: key })),
    putItem: (TableName) => database.send(new PutItemCommand({ TableName, Item: key })),
    query: (TableName) =>
      database.send(
        new QueryCommand({
          TableName,
          ExpressionAttributeValues: { ':n': { N: '1' }, ':b': { BOOL: true } },
        }),
      ),
    updateItem: (TableName) =>
      database.send(new UpdateItemCommand({ TableName, Key: key, ReturnValues: 'ALL_NEW' })),
    encrypt: (KeyId) =>
      keys.send(new EncryptCommand({ KeyId, Plaintext: Buffer.from('text'), EncryptionContext: { a: 'b' } })),
    decrypt: (KeyId) => keys.send(new DecryptCommand({ KeyId, CiphertextBlob: Buffer.from('text') })),
    putObject: (Key) => objects.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: '{}' })),
    presignGetObject: (Key) =>
      getSignedUrl(objects, new GetObjectCommand({ Bucket: 'bucket', Key }), {
        signingDate: new Date(Date.UTC(2026, 0, 1)),
      }),
    getSecretValue: (SecretId) => secrets.send(new GetSecretValueCommand({ SecretId })),
    startExecution: (name) => machine.send(new StartExecutionCommand({ stateMachineArn: 'arn', name })),
    sendTaskSuccess: (taskToken) => machine.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })),
    sendMessage: (QueueUrl) => queue.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' })),
    sendMessageBatch: (QueueUrl) =>
      queue.send(new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: '0', MessageBody: '{}' }] })),
    sendTaskFailure: (taskToken) => machine.send(new SendTaskFailureCommand({ taskToken, error: 'E' })),
  };
};
