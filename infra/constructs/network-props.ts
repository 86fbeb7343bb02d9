import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';

// Apart from cosecha-function.ts, because the published types contain it, and no valibot.

/** Where the functions that call the provider run, for a provider that admits only known addresses. */
export type Network = {
  readonly vpc: IVpc;
  /** They need a way to the internet, such as a NAT gateway. Default: the private subnets with egress. */
  readonly subnets?: SubnetSelection | undefined;
  /** Default: a new group for each function, which allows all outbound traffic. */
  readonly securityGroups?: readonly ISecurityGroup[] | undefined;
};
