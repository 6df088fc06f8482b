/** What is started for a command: the pure part. */

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly isVerbatim: boolean;
}

interface CommandModule {
  windowsProgram(
    command: readonly string[],
    environment: Readonly<Record<string, string | undefined>>,
    exists: (path: string) => boolean,
  ): Program;
  childEnvironment(own: object, added: object, isWindows: boolean): object;
}

// Not exported by the package: taken from where it is compiled to.
const require = createRequire(import.meta.url);
const { childEnvironment, windowsProgram }: CommandModule = require('../../esm/command.mjs');

const ENVIRONMENT = { Path: 'C:\\empty;"C:\\Program Files\\nodejs"', PATHEXT: '.COM;.EXE;.BAT;.CMD' };

function on(...files: string[]) {
  return (path: string) => files.includes(path);
}

test('a program is found by the extensions, in the order of the folders', () => {
  const file = 'C:\\Program Files\\nodejs\\node.exe';
  const found = windowsProgram(['node', 'a b'], ENVIRONMENT, on(file));
  assert.deepEqual(found, { file, args: ['a b'], isVerbatim: false });
});

test('a batch file is run by the command interpreter', () => {
  const file = 'C:\\Program Files\\nodejs\\npx.cmd';
  const found = windowsProgram(['npx', '-y', 'a b'], ENVIRONMENT, on(file));
  assert.equal(found.file, 'cmd.exe');
  assert.equal(found.isVerbatim, true);
  assert.deepEqual(found.args, ['/e:ON', '/v:OFF', '/d', '/c', `""${file}" "-y" "a b""`]);
});

test('the interpreter is the one that the environment names', () => {
  const environment = { ...ENVIRONMENT, ComSpec: 'D:\\cmd.exe' };
  assert.equal(windowsProgram(['C:\\a.bat'], environment, on('C:\\a.bat')).file, 'D:\\cmd.exe');
});

test('arguments of batch files cannot leave their quotes', () => {
  const line = (argument: string) => windowsProgram(['C:\\a.bat', argument], {}, on('C:\\a.bat')).args.at(-1);
  assert.equal(line('a & calc'), '""C:\\a.bat" "a & calc""');
  assert.equal(line('a" & calc "'), '""C:\\a.bat" "a"" & calc """"');
  assert.equal(line('\\"'), '""C:\\a.bat" "\\\\""""');
  assert.equal(line('C:\\folder\\'), '""C:\\a.bat" "C:\\folder\\\\""');
  assert.equal(line('%PATH%'), '""C:\\a.bat" "%%cd:~,%PATH%%cd:~,%""');
  for (const bad of ['a\nb', 'a\rb', 'a\0b']) assert.throws(() => line(bad), TypeError);
});

test('a folder in the name is taken at its word, and the current folder is not searched', () => {
  assert.equal(windowsProgram(['.\\tool'], ENVIRONMENT, on('.\\tool.exe')).file, '.\\tool.exe');
  assert.equal(windowsProgram(['tool'], { PATH: ';C:\\x' }, on('tool.exe', 'tool')).file, 'tool');
  assert.equal(windowsProgram(['none'], ENVIRONMENT, on()).file, 'none');
});

test('children inherit little, and what is added for them', () => {
  const own = { PATH: '/bin', HOME: '/home', API_KEY: 'secret', TERM: '() { evil; }' };
  assert.deepEqual(childEnvironment(own, { EXTRA: '1', HOME: undefined }, false), {
    PATH: '/bin',
    HOME: '/home',
    EXTRA: '1',
  });
  assert.deepEqual(childEnvironment({ PATH: 'a', TEMP: 't' }, { Path: 'b' }, true), { TEMP: 't', Path: 'b' });
});
