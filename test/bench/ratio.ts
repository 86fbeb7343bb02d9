/** A figure that means the same on every machine: one thing against another, measured in the same run. */
export type Ratio = { readonly what: string; readonly ratio: number; readonly wanted?: string };
