// The smallest server: one tool, on standard input and output.

import Barewire
import Foundation

let greet = """
    {
        "name": "greet",
        "description": "Greet someone.",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    }
    """

func milliseconds() -> UInt64 {
    UInt64(Date().timeIntervalSince1970 * 1000)
}

let origin = milliseconds()
let seed = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
let server = try Server(config: ServerConfig(name: "hello", version: "1.0.0", seed: seed, clockOrigin: origin))
try server.addTool(definition: greet)
while try !server.isFinished() {
    let data = FileHandle.standardInput.availableData
    let now = milliseconds() - origin
    let events = data.isEmpty ? try server.receiveEof(now: now) : try server.receiveData(data: data, now: now)
    for case let .toolCalled(request, _, arguments, _) in events {
        let given = try JSONSerialization.jsonObject(with: Data((arguments ?? "{}").utf8)) as? [String: Any]
        let text = "Hello, \(given?["name"] as? String ?? "nobody")!"
        let result = ["content": [["type": "text", "text": text]]]
        let json = try JSONSerialization.data(withJSONObject: result)
        try server.respond(request: request, result: String(decoding: json, as: UTF8.self))
    }
    try FileHandle.standardOutput.write(contentsOf: server.dataToSend())
}
