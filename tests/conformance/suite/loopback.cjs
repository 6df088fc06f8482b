// Preloaded into the suite. Its mock servers listen without a host, which node takes for every interface of the
// machine; here they get the loopback address. The hook is the step that binds, because the mocks ask for their
// port as soon as `listen` returns, and naming a host in `listen` would put the binding off until a later turn.
"use strict";

const { Server } = require("node:net");

const bind = Server.prototype._listen2;

Server.prototype._listen2 = function (host, port, family, backlog, descriptor, ...rest) {
  const everywhere = !host && port >= 0 && typeof descriptor !== "number";
  const place = everywhere ? ["127.0.0.1", port, 4] : [host, port, family];
  return bind.call(this, ...place, backlog, descriptor, ...rest);
};
