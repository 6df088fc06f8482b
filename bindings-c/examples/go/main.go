// A server on standard input and output, in Go through cgo: one tool, which greets.
package main

// #cgo pkg-config: barewire
// #include <barewire.h>
import "C"

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"
)

const greet = `{"name": "greet", "description": "Greets somebody", "inputSchema": {"type": "object",
	"properties": {"name": {"type": "string"}}, "required": ["name"]}}`

var started = time.Now()

func now() C.uint64_t { return C.uint64_t(time.Since(started).Milliseconds()) }

// lend gives C a text for one call; the pinner is to be unpinned after it.
func lend(pinner *runtime.Pinner, text []byte) C.bw_bytes {
	if len(text) == 0 {
		return C.bw_bytes{}
	}
	data := unsafe.SliceData(text)
	pinner.Pin(data)
	return C.bw_bytes{data: (*C.uint8_t)(unsafe.Pointer(data)), length: C.size_t(len(text))}
}

// view is what C lends, without a copy: good for as long as C says.
func view(bytes C.bw_bytes) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(bytes.data)), int(bytes.length))
}

func must(status C.bw_status) {
	if status != C.BW_OK {
		panic(C.GoString(C.bw_error_name(status)))
	}
}

func newServer() *C.bw_server {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	var seed [C.BW_SEED_BYTES]byte
	if _, err := rand.Read(seed[:]); err != nil {
		panic(err)
	}
	var config *C.bw_server_config
	var server *C.bw_server
	name, version := lend(&pinner, []byte("hello")), lend(&pinner, []byte("1.0"))
	must(C.bw_server_config_new(name, version, (*C.uint8_t)(&seed[0]), &config))
	defer C.bw_server_config_free(config)
	must(C.bw_server_new(config, &server))
	must(C.bw_server_add_tool(server, lend(&pinner, []byte(greet))))
	return server
}

func call(server *C.bw_server, event *C.bw_event) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	var arguments struct{ Name *string }
	request := C.bw_event_request(event)
	if json.Unmarshal(view(C.bw_event_arguments(event)), &arguments) != nil || arguments.Name == nil {
		must(C.bw_server_respond_invalid_arguments(server, request, lend(&pinner, []byte("name is a string"))))
		return
	}
	must(C.bw_server_respond_text(server, request, lend(&pinner, []byte(fmt.Sprintf("Hello, %s!", *arguments.Name)))))
}

func main() {
	server := newServer()
	defer C.bw_server_free(server)
	buffer := make([]byte, 64<<10)
	for !C.bw_server_is_finished(server) {
		var pinner runtime.Pinner
		if count, err := os.Stdin.Read(buffer); err == nil {
			C.bw_server_receive_data(server, now(), lend(&pinner, buffer[:count]))
		} else {
			C.bw_server_receive_eof(server, now())
		}
		pinner.Unpin()
		for event := C.bw_server_poll_event(server); event != nil; event = C.bw_server_poll_event(server) {
			if C.bw_event_kind(event) == C.BW_EVENT_TOOL_CALLED {
				call(server, event)
			}
		}
		for data := view(C.bw_server_data_to_send(server)); len(data) > 0; data = view(C.bw_server_data_to_send(server)) {
			if _, err := os.Stdout.Write(data); err != nil {
				C.bw_server_connection_lost(server, now())
			}
			C.bw_server_consume(server, C.size_t(len(data)))
		}
	}
}
