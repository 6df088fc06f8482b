# The smallest server: one tool, on standard input and output.

require "barewire"
require "json"
require "securerandom"

GREET = <<~JSON
  {
    "name": "greet",
    "description": "Greet someone.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
  }
JSON

def milliseconds(clock)
  Process.clock_gettime(clock, :millisecond)
end

origin = milliseconds(Process::CLOCK_MONOTONIC)
server = Barewire::Server.new(
  Barewire::ServerConfig.new(
    name: "hello", version: "1.0.0", seed: SecureRandom.bytes(32), clock_origin: milliseconds(Process::CLOCK_REALTIME)
  )
)
server.add_tool(GREET)
until server.is_finished
  data = begin
    $stdin.readpartial(65_536)
  rescue EOFError
    nil
  end
  now = milliseconds(Process::CLOCK_MONOTONIC) - origin
  events = data ? server.receive_data(data, now) : server.receive_eof(now)
  events.each do |event|
    next unless event.tool_called?

    text = "Hello, #{JSON.parse(event.arguments)["name"]}!"
    server.respond(event.request, JSON.generate(content: [{ type: "text", text: text }]))
  end
  $stdout.write(server.data_to_send)
  $stdout.flush
end
