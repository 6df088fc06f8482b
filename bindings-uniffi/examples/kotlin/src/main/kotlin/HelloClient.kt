// The smallest client: starts the server that its arguments name and calls a tool of it.

import barewire.Client
import barewire.ClientConfig
import barewire.ClientEvent
import java.security.SecureRandom

fun main(command: Array<String>) {
    val origin = System.currentTimeMillis()
    val now = { (System.currentTimeMillis() - origin).toULong() }
    val child = ProcessBuilder(*command).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    val client = Client(ClientConfig("hello", "1.0.0", SecureRandom().generateSeed(32)), now())
    client.callTool("greet", """{"name": "world"}""", now())
    val buffer = ByteArray(65536)
    while (true) {
        child.outputStream.write(client.dataToSend())
        child.outputStream.flush()
        if (client.isFinished()) break
        val count = child.inputStream.read(buffer)
        val events =
            if (count < 0) client.receiveEof(now()) else client.receiveData(buffer.copyOf(count), now())
        for (event in events) {
            when (event) {
                is ClientEvent.Ready -> println("speaks ${event.revision}")
                is ClientEvent.ResponseReceived -> println(event.result).also { client.closeConnection() }
                is ClientEvent.RequestFailed -> println(event.error.message).also { client.closeConnection() }
                else -> {}
            }
        }
    }
    child.outputStream.close()
    child.waitFor()
}
