/** One request on its way through a handler: its questions, and how it waits, resumes and ends. */
export {};
