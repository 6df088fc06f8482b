// The smallest client: starts the server that its arguments name and calls a tool of it.

import Barewire
import Foundation

let origin = Date()

func now() -> UInt64 {
    UInt64(Date().timeIntervalSince(origin) * 1000)
}

let child = Process()
let (input, output) = (Pipe(), Pipe())
child.executableURL = URL(fileURLWithPath: CommandLine.arguments[1])
child.arguments = Array(CommandLine.arguments.dropFirst(2))
child.standardInput = input
child.standardOutput = output
try child.run()

let seed = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
let client = try Client(config: ClientConfig(name: "hello", version: "1.0.0", seed: seed), now: now())
_ = try client.callTool(name: "greet", arguments: "{\"name\": \"world\"}", now: now())
while true {
    try input.fileHandleForWriting.write(contentsOf: client.dataToSend())
    if try client.isFinished() { break }
    let data = output.fileHandleForReading.availableData
    let events = data.isEmpty ? try client.receiveEof(now: now()) : try client.receiveData(data: data, now: now())
    for event in events {
        switch event {
        case let .ready(revision, _, _, _):
            print("speaks \(revision)")
        case let .responseReceived(_, result, _, _):
            print(result)
            try client.close()
        case let .requestFailed(_, error):
            print(error.message)
            try client.close()
        default:
            break
        }
    }
}
try input.fileHandleForWriting.close()
child.waitUntilExit()
