// A client and a server in one process: each step as a line, the same in every language.
//
// usage: Pair [REVISION]; without one, both sides speak all revisions.

import barewire.Client
import barewire.ClientConfig
import barewire.ClientEvent
import barewire.FailureKind
import barewire.InputKind
import barewire.InputQuestion
import barewire.ListKind
import barewire.McpException
import barewire.RequestOptions
import barewire.Server
import barewire.ServerConfig
import barewire.ServerEvent
import barewire.SubscriptionFilter

const val COFFEE = """{"name": "coffee", "inputSchema": {"type": "object"}}"""
const val TEA = """{"name": "tea", "inputSchema": {"type": "object"}}"""
const val SUGAR = """{"message": "Sugar?", "requestedSchema":
    {"type": "object", "properties": {"sugar": {"type": "boolean"}}, "required": ["sugar"]}}"""
const val ANSWER = """{"action":"accept","content":{"sugar":true}}"""

/** Say how a call fails. */
fun refused(what: String, call: () -> Unit) {
    val (code, explanation) =
        try {
            return call()
        } catch (error: McpException.ApiMisuse) {
            "ApiMisuse ${error.code}" to error.explanation
        } catch (error: McpException.ConnectionClosed) {
            "ConnectionClosed ${error.code}" to error.explanation
        } catch (error: McpException.InvalidArgument) {
            "InvalidArgument 0" to error.explanation
        }
    println("$what: $code: $explanation")
}

class Pair(revisions: List<String>?) {
    private val server = Server(ServerConfig("kitchen", "1", ByteArray(32), 0u, revisions = revisions))
    private val client =
        Client(
            ClientConfig("guest", "1", ByteArray(32) { 1 }, capabilities = """{"elicitation":{}}"""),
            0u,
        )

    /** Act as the kitchen. */
    private fun serve(event: ServerEvent) {
        when (event) {
            is ServerEvent.ToolCalled -> cook(event)
            is ServerEvent.SubscriptionOpened -> println("server: watched, tools ${event.filter.tools}")
            is ServerEvent.MessageDiscarded ->
                println("server: discarded ${event.violation} ${event.bytes.toHexString()}")
            is ServerEvent.Drained -> println("server: drained, abandoned ${event.abandoned.size}")
            is ServerEvent.Disconnected -> println("server: disconnected ${event.reason.code}")
            else -> {}
        }
    }

    private fun cook(event: ServerEvent.ToolCalled) {
        val answer = event.context.inputAnswers.firstOrNull()
        if (answer == null) {
            println("server: ${event.name} ${event.arguments}, round ${event.context.round}")
            val sent = server.progress(event.request, 1.0, 2.0, "grinding")
            println("server: progress sent $sent")
            val question = InputQuestion("sugar", InputKind.ELICITATION, SUGAR)
            server.requireInput(event.request, listOf(question), 0u, """{"cup":7}""")
        } else {
            println("server: answer ${answer.key} ${answer.result}, state ${event.context.state}")
            server.respond(event.request, """{"content":[{"type":"text","text":"coffee"}]}""")
        }
    }

    /** Act as the guest. */
    private fun listen(event: ClientEvent) {
        when (event) {
            is ClientEvent.Ready ->
                println("client: ready ${event.revision}, ${event.capabilities.declared.joinToString(",")}")
            is ClientEvent.ProgressReceived ->
                println("client: progress ${event.progress.toInt()}/${event.total?.toInt()} ${event.message}")
            is ClientEvent.InputRequired -> {
                val asked = event.inputs.first()
                println("client: asked for ${asked.kind.name.lowercase()}, round ${event.round}")
                client.provideInput(asked.input, ANSWER, 0u)
            }
            is ClientEvent.ResponseReceived ->
                println("client: result ${if ("coffee" in event.result) "coffee" else event.result}")
            is ClientEvent.RequestFailed ->
                println("client: failed ${event.error.code}, rpc ${event.error.kind == FailureKind.RPC}")
            is ClientEvent.SubscriptionAcknowledged ->
                println("client: watches, tools ${event.honoured.tools}")
            is ClientEvent.ListChanged -> println("client: changed, tools ${event.kind == ListKind.TOOLS}")
            is ClientEvent.Disconnected -> println("client: disconnected ${event.reason.code}")
            else -> {}
        }
    }

    /** Pass bytes to and fro until there are none. */
    private fun run() {
        while (true) {
            val toServer = client.dataToSend()
            val toClient = server.dataToSend()
            (if (toServer.isEmpty()) server.events() else server.receiveData(toServer, 0u)).forEach(::serve)
            (if (toClient.isEmpty()) client.events() else client.receiveData(toClient, 0u)).forEach(::listen)
            if (toServer.isEmpty() && toClient.isEmpty()) return
        }
    }

    fun play() {
        server.addTool(COFFEE)
        refused("no JSON") { client.callTool("coffee", "{", 0u) }
        refused("no such request") { server.respond(99u, "{}") }
        refused("no such tool") { server.removeTool("tea") }
        refused("a short seed") { Server(ServerConfig("", "", ByteArray(1), 0u)) }
        client.callTool("coffee", """{"size":"large"}""", 0u, RequestOptions(progress = true))
        run()
        client.callTool("juice", null, 0u)
        run()
        client.subscribe(SubscriptionFilter(tools = true), 0u)
        run()
        server.addTool(TEA)
        run()
        server.receiveData(byteArrayOf(-1, -2, 10), 0u).forEach(::serve)
        // What the server has to say of it is of no interest here.
        server.dataToSend()
        client.closeConnection()
        run()
        server.receiveEof(0u).forEach(::serve)
        server.dataToSend()
        println("finished ${client.isFinished() && server.isFinished()}")
        refused("too late") { client.callTool("coffee", null, 0u) }
        server.close()
        client.close()
    }
}

fun main(arguments: Array<String>) {
    Pair(arguments.takeIf { it.isNotEmpty() }?.toList()).play()
}
