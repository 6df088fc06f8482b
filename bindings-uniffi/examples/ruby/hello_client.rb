# The smallest client: starts the server that its arguments name and calls a tool of it.

require "barewire"
require "json"
require "securerandom"

ORIGIN = Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond) - ORIGIN
end

IO.popen(ARGV, "r+b") do |child|
  config = Barewire::ClientConfig.new(name: "hello", version: "1.0.0", seed: SecureRandom.bytes(32))
  client = Barewire::Client.new(config, now)
  client.call_tool("greet", '{"name": "world"}', now)
  loop do
    child.write(client.data_to_send)
    child.flush
    break if client.is_finished

    data = begin
      child.readpartial(65_536)
    rescue EOFError
      nil
    end
    events = data ? client.receive_data(data, now) : client.receive_eof(now)
    events.each do |event|
      if event.ready?
        puts "speaks #{event.revision}"
      elsif event.response_received?
        puts JSON.parse(event.result)["content"].map { |block| block["text"] }
        client.close
      elsif event.request_failed?
        puts event.error.message
        client.close
      end
    end
  end
  child.close_write
end
