import { TypeRegistry } from '@smithy/core/schema';

/** The schema of an error as clients have it: a list of which the second element is the service's namespace. */
type ErrorSchema = Parameters<TypeRegistry['registerError']>[0] & { readonly 1: string };
type ErrorClass = Parameters<TypeRegistry['registerError']>[1];

/** What a client of the SDK does with each of its errors as it loads, as a value: what nobody asks for can be left out. */
export const registerError = <C extends ErrorClass>(schema: ErrorSchema, errorClass: C): C => {
  TypeRegistry.for(schema[1]).registerError(schema, errorClass);
  return errorClass;
};
