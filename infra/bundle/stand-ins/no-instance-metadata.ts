/** Replaces the question to EC2 for its region. Lambda sets AWS_REGION. */
export const getInstanceMetadataRegion = async (): Promise<undefined> => undefined;
