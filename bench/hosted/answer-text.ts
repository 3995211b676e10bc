/** What every hosted contender answers to the call, so that all write as many bytes. */
export const ANSWER_TEXT = 'Seattle: light rain, 11 to 14 degrees, wind from the south-west at 4 metres a second; drier from Thursday on.';
