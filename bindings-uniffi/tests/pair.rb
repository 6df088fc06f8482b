# A client and a server in one process: each step as a line, the same in every language.
#
# usage: pair.rb [REVISION]; without one, both sides speak all revisions.

require "barewire"

COFFEE = '{"name": "coffee", "inputSchema": {"type": "object"}}'
TEA = '{"name": "tea", "inputSchema": {"type": "object"}}'
SUGAR = '{"message": "Sugar?", "requestedSchema": ' \
        '{"type": "object", "properties": {"sugar": {"type": "boolean"}}, "required": ["sugar"]}}'
ANSWER = '{"action":"accept","content":{"sugar":true}}'

SERVER = Barewire::Server.new(
  Barewire::ServerConfig.new(
    name: "kitchen", version: "1", seed: "\0" * 32, clock_origin: 0, revisions: ARGV.empty? ? nil : ARGV
  )
)
CLIENT = Barewire::Client.new(
  Barewire::ClientConfig.new(
    name: "guest", version: "1", seed: "\1" * 32, capabilities: '{"elicitation":{}}'
  ), 0
)

# Say how a call fails. The errors have no class of their own above them.
def refused(what)
  yield
rescue StandardError => e
  code = e.respond_to?(:code) ? e.code : 0
  puts "#{what}: #{e.class.name.split("::").last} #{code}: #{e.explanation}"
end

# Act as the kitchen.
def serve(event)
  if event.tool_called?
    cook(event)
  elsif event.subscription_opened?
    puts "server: watched, tools #{event.filter.tools}"
  elsif event.message_discarded?
    puts "server: discarded #{event.violation} #{event.bytes.unpack1("H*")}"
  elsif event.drained?
    puts "server: drained, abandoned #{event.abandoned.size}"
  elsif event.disconnected?
    puts "server: disconnected #{event.reason.code}"
  end
end

def cook(event)
  context = event.context
  if context.input_answers.empty?
    puts "server: #{event.name} #{event.arguments}, round #{context.round}"
    sent = SERVER.progress(event.request, 1.0, 2.0, "grinding")
    puts "server: progress sent #{sent}"
    question = Barewire::InputQuestion.new(key: "sugar", kind: Barewire::InputKind::ELICITATION, params: SUGAR)
    SERVER.require_input(event.request, [question], 0, '{"cup":7}')
  else
    answer = context.input_answers.first
    puts "server: answer #{answer.key} #{answer.result}, state #{context.state}"
    SERVER.respond(event.request, '{"content":[{"type":"text","text":"coffee"}]}')
  end
end

# Act as the guest.
def listen(event)
  if event.ready?
    puts "client: ready #{event.revision}, #{event.capabilities.declared.join(",")}"
  elsif event.progress_received?
    puts "client: progress #{event.progress.to_i}/#{event.total.to_i} #{event.message}"
  elsif event.input_required?
    asked = event.inputs.first
    kind = asked.kind == Barewire::InputKind::ELICITATION ? "elicitation" : "something else"
    puts "client: asked for #{kind}, round #{event.round}"
    CLIENT.provide_input(asked.input, ANSWER, 0)
  elsif event.response_received?
    puts "client: result #{event.result.include?("coffee") ? "coffee" : event.result}"
  elsif event.request_failed?
    puts "client: failed #{event.error.code}, rpc #{event.error.kind == Barewire::FailureKind::RPC}"
  elsif event.subscription_acknowledged?
    puts "client: watches, tools #{event.honoured.tools}"
  elsif event.list_changed?
    puts "client: changed, tools #{event.kind == Barewire::ListKind::TOOLS}"
  elsif event.disconnected?
    puts "client: disconnected #{event.reason.code}"
  end
end

# Pass bytes to and fro until there are none.
def run
  loop do
    to_server = CLIENT.data_to_send
    to_client = SERVER.data_to_send
    (to_server.empty? ? SERVER.events : SERVER.receive_data(to_server, 0)).each { |event| serve(event) }
    (to_client.empty? ? CLIENT.events : CLIENT.receive_data(to_client, 0)).each { |event| listen(event) }
    break if to_server.empty? && to_client.empty?
  end
end

SERVER.add_tool(COFFEE)
refused("no JSON") { CLIENT.call_tool("coffee", "{", 0) }
refused("no such request") { SERVER.respond(99, "{}") }
refused("no such tool") { SERVER.remove_tool("tea") }
refused("a short seed") do
  Barewire::Server.new(Barewire::ServerConfig.new(name: "", version: "", seed: "1", clock_origin: 0))
end
CLIENT.call_tool("coffee", '{"size":"large"}', 0, Barewire::RequestOptions.new(progress: true))
run
CLIENT.call_tool("juice", nil, 0)
run
CLIENT.subscribe(Barewire::SubscriptionFilter.new(tools: true), 0)
run
SERVER.add_tool(TEA)
run
SERVER.receive_data("\xff\xfe\n".b, 0).each { |event| serve(event) }
# What the server has to say of it is of no interest here.
SERVER.data_to_send
CLIENT.close
run
SERVER.receive_eof(0).each { |event| serve(event) }
SERVER.data_to_send
puts "finished #{CLIENT.is_finished && SERVER.is_finished}"
refused("too late") { CLIENT.call_tool("coffee", nil, 0) }
