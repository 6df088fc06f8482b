'use strict';
/** What is to be started for a command, and with which variables: decided without touching the system. */
Object.defineProperty(exports, '__esModule', { value: true });
exports.childEnvironment = childEnvironment;
exports.windowsProgram = windowsProgram;
/** Variables that a child inherits. Anything else of the environment (keys, tokens) stays with the host. */
const INHERITED = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
const INHERITED_ON_WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'USERNAME',
  'USERPROFILE',
];
/** Extensions of programs, where the environment names none. */
const EXTENSIONS = '.COM;.EXE;.BAT;.CMD';
/**
 * The part of `own` that every child inherits, and what is added for this one.
 *
 * Values that begin with `()` are left out: old shells keep functions in them, and would run them.
 *
 * @internal
 */
function childEnvironment(own, added, isWindows) {
  const environment = {};
  for (const name of isWindows ? INHERITED_ON_WINDOWS : INHERITED) {
    const value = own[name];
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  for (const [name, value] of Object.entries(added)) {
    // Windows makes no difference between `Path` and `PATH`, and takes any of two.
    if (isWindows) delete environment[name.toUpperCase()];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
/**
 * What to start for `command` on Windows, which itself looks only for programs that end in `.exe`.
 *
 * A name without a folder is looked for in the folders of `PATH`, with each extension of `PATHEXT`, and a batch file,
 * such as `npx.cmd`, is run by the command interpreter.
 *
 * @throws TypeError for an argument that no batch file can be given.
 * @internal
 */
function windowsProgram(command, environment, exists) {
  const [name = '', ...args] = command;
  const file = find(name, environment, exists) ?? name;
  if (!/\.(bat|cmd)$/i.test(file)) return { file, args, isVerbatim: false };
  const line = [file, ...args].map(quoted).join(' ');
  const interpreter = variable(environment, 'COMSPEC') ?? 'cmd.exe';
  // Extensions on, as `quoted` needs them; no delayed expansion, which has no escape; no registry commands.
  return { file: interpreter, args: ['/e:ON', '/v:OFF', '/d', '/c', `"${line}"`], isVerbatim: true };
}
function variable(environment, name) {
  const found = Object.keys(environment).find((key) => key.toUpperCase() === name);
  return found === undefined ? undefined : environment[found];
}
function find(name, environment, exists) {
  const extensions = (variable(environment, 'PATHEXT') ?? EXTENSIONS)
    .split(';')
    .filter((text) => text !== '');
  const hasExtension = extensions.some((extension) => name.toUpperCase().endsWith(extension.toUpperCase()));
  const endings = hasExtension ? [''] : extensions.map((extension) => extension.toLowerCase());
  const hasFolder = /[\\/:]/.test(name);
  const folders = hasFolder ? [''] : (variable(environment, 'PATH') ?? '').split(';').map(folderOf);
  for (const folder of folders) {
    if (folder === '' && !hasFolder) continue;
    for (const ending of endings) {
      if (exists(folder + name + ending)) return folder + name + ending;
    }
  }
  return undefined;
}
function folderOf(entry) {
  const plain = entry.replaceAll('"', '').trim();
  return plain === '' || plain.endsWith('\\') ? plain : `${plain}\\`;
}
/**
 * An argument as the command interpreter hands it on to a batch file, and the batch file to a program.
 *
 * Within quotes only quotes and percent signs are special. A quote is written twice. A percent sign is followed by the
 * expansion of a variable to nothing, so that it begins no expansion of its own.
 */
function quoted(argument) {
  if (/[\r\n\0]/.test(argument)) {
    throw new TypeError('an argument of a batch file has no line breaks and no NUL');
  }
  const escaped = argument.replaceAll(/(\\*)("|$)/g, (_, slashes, quote) =>
    quote === '' ? slashes + slashes : `${slashes}${slashes}""`,
  );
  return `"${escaped.replaceAll('%', '%%cd:~,%')}"`;
}
