/**
 * How the compiled modules (in the folder `MODULES`) become the files of the package.
 *
 * Few files: Node pays for each it loads, and a server is started anew for each client. One set of classes: the files
 * for `import` take their objects from those for `require`. They list the names, because Node would have to search the
 * sources for them.
 */

const { MODULES } = process.env;
const entries = { index: 'index', stdio: 'stdio', http: 'http', sansio: 'sansio/index', auth: 'auth/index' };
const input = Object.fromEntries(
  Object.entries(entries).map(([name, module]) => [name, `${MODULES}/${module}.js`]),
);

/** Loaded by tests on its own. */
const ALONE = 'command';

/** All that is loaded with `id`. */
function loadedWith(id, getModuleInfo, found = new Set()) {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of getModuleInfo(id).importedIds) loadedWith(imported, getModuleInfo, found);
  return found;
}

/** What every program loads that uses more than the floor without I/O is one file. */
function manualChunks(id, { getModuleInfo }) {
  if (id === `${MODULES}/${ALONE}.js`) return ALONE;
  const { isEntry } = getModuleInfo(id);
  const isShared = [input.index, input.stdio].some((entry) => loadedWith(entry, getModuleInfo).has(id));
  return isShared && !isEntry ? 'core' : undefined;
}

function importable() {
  return {
    name: 'importable',
    generateBundle(_, files) {
      for (const { isEntry, name, exports } of Object.values(files)) {
        if (!isEntry) continue;
        const names = exports.join(', ');
        const source = `import { createRequire } from 'node:module';
export const { ${names} } = createRequire(import.meta.url)('../dist/${name}.js');
`;
        this.emitFile({ type: 'asset', fileName: `esm/${name}.mjs`, source });
      }
    },
  };
}

export default {
  input,
  external: /^(node:|jose$)/,
  plugins: [importable()],
  output: {
    dir: '.',
    format: 'cjs',
    entryFileNames: 'dist/[name].js',
    chunkFileNames: 'dist/[name].js',
    minifyInternalExports: false,
    externalLiveBindings: false,
    manualChunks,
  },
};
