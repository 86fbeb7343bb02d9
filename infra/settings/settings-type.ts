import type { InferInput } from 'valibot';
import type { SettingsSchema } from './settings.ts';

/** The settings of a deployment. The package has a type with their descriptions in this place (tools/package/generate-settings-type.ts). */
export type CosechaSettings = InferInput<SettingsSchema>;
