/** The clock that all machines of the process are told the time by. */
export {};
