/** "header `Authorization: Bearer <…>`", for a session token and for a Task Token alike. */
export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
