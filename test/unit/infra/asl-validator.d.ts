// The package has no types of its own.
declare module 'asl-validator' {
  const validate: (definition: object) => { readonly isValid: boolean; readonly errorsText: () => string };
  export default validate;
}
