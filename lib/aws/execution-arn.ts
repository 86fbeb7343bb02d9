/** The execution that a machine made of an extraction: its name is the extractionId. */
export const executionArn = (stateMachineArn: string, extractionId: string): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${extractionId}`;
