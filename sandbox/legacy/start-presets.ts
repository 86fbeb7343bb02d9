/** POST /api/v1/tasks: HTTP status and text. */
export const START_PRESETS = {
  jwtExpired: { status: 401, text: 'Jwt is expired' },
  temporarilyRestricted: {
    status: 403,
    text: 'Username/action pair has been temporarily restricted due to multiple failed authentication attempts',
  },
  forbidden: { status: 403, text: "You don't have sufficient permissions to perform this action" },
  processAlreadyRunning: { status: 429, text: 'Another request for this user is currently running' },
  notEnoughCredits: { status: 429, text: 'Request monthly quota reached (applies only to free plans)' },
} as const;
export type StartPreset = keyof typeof START_PRESETS;

export const START_PRESET_NAMES = Object.keys(START_PRESETS) as readonly StartPreset[];

export const isStartPreset = (name: string): name is StartPreset => Object.hasOwn(START_PRESETS, name);
