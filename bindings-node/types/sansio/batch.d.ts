/**
 * What a call of the addon tells, as one text: everything that stays JSON text, one piece after the other, a line end,
 * and then a JSON array with a row for each thing told. A row names its pieces by their lengths, in order.
 */
export {};
