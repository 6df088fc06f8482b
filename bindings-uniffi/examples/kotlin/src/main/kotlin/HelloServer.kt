// The smallest server: one tool, on standard input and output.

import barewire.Server
import barewire.ServerConfig
import barewire.ServerEvent
import java.security.SecureRandom
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

const val GREET = """{
    "name": "greet",
    "description": "Greet someone.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
}"""

fun main() {
    val origin = System.currentTimeMillis()
    val server = Server(ServerConfig("hello", "1.0.0", SecureRandom().generateSeed(32), origin.toULong()))
    server.addTool(GREET)
    val buffer = ByteArray(65536)
    while (!server.isFinished()) {
        val count = System.`in`.read(buffer)
        val now = (System.currentTimeMillis() - origin).toULong()
        val events =
            if (count < 0) server.receiveEof(now) else server.receiveData(buffer.copyOf(count), now)
        for (event in events) {
            if (event is ServerEvent.ToolCalled) server.respond(event.request, greet(event.arguments))
        }
        System.out.write(server.dataToSend())
        System.out.flush()
    }
}

fun greet(arguments: String?): String {
    val name = Json.parseToJsonElement(arguments ?: "{}").jsonObject["name"]?.jsonPrimitive?.content
    return """{"content": [{"type": "text", "text": ${JsonPrimitive("Hello, $name!")}}]}"""
}
