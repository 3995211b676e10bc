import { page } from './requirement.js';

export const PATTERNS = page('basic/patterns/index', 'PAT', [[1, 'overview', 'server', 'A server sends no requests.']]);

export const CANCELLATION = page('basic/patterns/cancellation', 'CANC', [
  [1, 'cancellation', 'stdio', 'A subscription that the server ends is told by notifications/cancelled (schema: on stdio).'],
  [2, 'cancellation', 'server', 'A server sends notifications/cancelled for nothing else.'],
  [3, 'transport-specific-cancellation', 'server', 'A client that disconnects has cancelled its request.'],
  [4, 'transport-specific-cancellation', 'stdio', 'A client on stdio cancels by notifications/cancelled.'],
  [5, 'behavior-requirements', 'client', 'Only open requests of one’s own are cancelled.'],
  [6, 'behavior-requirements', 'stdio', 'What a server cancels is a subscriptions/listen request.'],
  [7, 'timing-considerations', 'server', 'A cancellation that comes too late does no harm.'],
]);

export const MRTR = page('basic/patterns/mrtr', 'MRTR', [
  [1, 'multi-round-trip-requests', 'server', 'What a server asks of a client goes by this pattern.'],
  [2, 'multi-round-trip-requests', 'client', 'Every request has the required fields of _meta.'],
  [3, 'inputrequiredresult', 'client', 'requestState is neither read nor changed.'],
  [4, 'supported-requests', 'server', 'Only prompts/get, resources/read and tools/call are answered with input_required.'],
  [5, 'server-requirements-basic-workflow', 'server', 'Keys of inputRequests are unique in a request.'],
  [6, 'server-requirements-basic-workflow', 'server', 'Each is an elicitation, a sampling or a roots request.'],
  [7, 'server-requirements-basic-workflow', 'server', 'requestState is taken for what an attacker sent.'],
  [8, 'server-requirements-basic-workflow', 'server', 'Its integrity is protected.'],
  [9, 'server-requirements-basic-workflow', 'server', 'A state that does not verify is refused.'],
  [10, 'server-requirements-basic-workflow', 'author', 'What may be done once is counted by the server.'],
  [11, 'server-requirements-basic-workflow', 'server', 'input_required has inputRequests, requestState or both.'],
  [12, 'server-requirements-basic-workflow', 'server', 'Nothing is asked that the client did not declare.'],
  [13, 'server-requirements-basic-workflow', 'server', 'A client without elicitation is never asked to elicit.'],
  [14, 'server-requirements-basic-workflow', 'server', 'A client may never come back, or come back without an answer.'],
  [15, 'client-requirements-basic-workflow', 'client', 'Inputs are made before the request is repeated.'],
  [16, 'client-requirements-basic-workflow', 'client', 'requestState is echoed as it was.'],
  [17, 'client-requirements-basic-workflow', 'client', 'Nothing is assumed of it.'],
  [18, 'client-requirements-basic-workflow', 'client', 'Without one none is sent.'],
  [19, 'client-requirements-basic-workflow', 'client', 'The repeated request has another id.'],
  [20, 'client-requirements-basic-workflow', 'client', 'Both fields are for the repeated request alone.'],
  [21, 'security-considerations', 'server', 'requestState is validated.'],
]);

export const PROGRESS = page('basic/patterns/progress', 'PROG', [
  [1, 'progress-flow', 'client', 'A progress token is a string or an integer.'],
  [2, 'progress-flow', 'client', 'Tokens of open requests are unique.'],
  [3, 'progress-flow', 'server', 'Progress grows with each notification.'],
  [4, 'behavior-requirements', 'server', 'Only tokens of an open request, for work under way, are named.'],
  [5, 'implementation-notes', 'server', 'Progress stops when the request is done.'],
]);

export const SUBSCRIPTIONS = page('basic/patterns/subscriptions', 'SUBS', [
  [1, 'opening-a-stream', 'server', 'Nothing is sent that was not asked for.'],
  [2, 'acknowledgment', 'server', 'The acknowledgement is the first message and has the subscription’s id.'],
  [3, 'acknowledgment', 'server', 'No notification of the subscription comes before it.'],
  [4, 'receiving-notifications', 'stdio', 'A client tells subscriptions apart by their id.'],
  [5, 'graceful-closure', 'stdio', 'A client subscribes anew on a new connection.'],
]);
