/** "header `Authorization: Bearer <…>`", for a session token or a Task Token. */
export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
