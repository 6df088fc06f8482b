/**
 * How the compiled modules (in the folder `MODULES`) become the files of the package.
 *
 * Few files: Node pays for each it loads, and a server is started anew for each client. One set of classes: the files
 * for `require` give what those for `import` have.
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

function requirable() {
  return {
    name: 'requirable',
    generateBundle(_, files) {
      for (const { isEntry, name } of Object.values(files)) {
        if (!isEntry) continue;
        const source = `'use strict';\n\nmodule.exports = require('../esm/${name}.mjs');\n`;
        this.emitFile({ type: 'asset', fileName: `dist/${name}.js`, source });
      }
    },
  };
}

export default {
  input,
  external: /^(node:|jose$)/,
  plugins: [requirable()],
  output: {
    dir: '.',
    format: 'es',
    entryFileNames: 'esm/[name].mjs',
    chunkFileNames: 'esm/[name].mjs',
    minifyInternalExports: false,
    manualChunks,
  },
};
