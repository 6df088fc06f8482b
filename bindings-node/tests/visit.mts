/** Visits a page as a user who consents: the browser of a program that is run for a test. */

import { TestUser } from './user-agent.mjs';

await new TestUser().open(process.argv[2] as string);
