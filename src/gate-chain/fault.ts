/** Says in words for the log why something that a gate returned is not a decision. Never told to the client. */
export class DecisionFault extends Error {
  override readonly name = 'DecisionFault';
}
