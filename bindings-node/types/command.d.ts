/** What is to be started for a command, and with which variables: decided without touching the system. */
/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;
