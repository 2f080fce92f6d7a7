package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// modelServer speaks just enough of OpenAI's protocol to have one tool called
// turn by turn, and notes when requests come and replies are out. One
// conversation at a time.
type modelServer struct {
	http     *http.Server
	listener net.Listener
	serving  sync.WaitGroup

	mu      sync.Mutex
	script  modelScript
	n       int
	arrived []time.Time
	sent    []time.Time
}

func newModelServer() (*modelServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the model of the bench: %w", err)
	}
	s := &modelServer{listener: l}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.serving.Go(func() { _ = s.http.Serve(l) }) // it ends with close
	return s, nil
}

func (s *modelServer) baseURL() string { return "http://" + s.listener.Addr().String() + "/v1" }

func (s *modelServer) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	s.serving.Wait()
	return err
}

// modelScript is what the model says in one conversation: so many calls, then the
// end.
type modelScript struct {
	turns  int
	thinks time.Duration // before each reply
	// n counts from 1; no two arguments are the same, so that the agent sees no loop
	call func(n int) (name, args string)
}

// echoNumber calls a tool with a number, or a command that prints it.
func echoNumber(turns int, tool string) modelScript {
	return modelScript{turns: turns, call: func(n int) (string, string) {
		if tool == "run_command" {
			return tool, fmt.Sprintf(`{"command":"echo %d"}`, n)
		}
		return tool, fmt.Sprintf(`{"n":%d}`, n)
	}}
}

// beginConversation starts a conversation.
func (s *modelServer) beginConversation(script modelScript) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.n, s.arrived, s.sent = script, 0, nil, nil
}

// replyGaps are the times from each reply to the request after it.
func (s *modelServer) replyGaps() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []time.Duration
	for i := 1; i < len(s.arrived); i++ {
		out = append(out, s.arrived[i].Sub(s.sent[i-1]))
	}
	return out
}

// ServeHTTP answers one request by a stream.
func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost { // what models there are is no turn
		http.NotFound(w, r)
		return
	}
	at := time.Now() // before the body is read: a long one is the wire's matter
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	s.mu.Lock()
	s.n++
	n, script := s.n, s.script
	s.arrived = append(s.arrived, at)
	s.mu.Unlock()
	name, args := "done", "{}"
	if n <= script.turns {
		name, args = script.call(n)
	}
	select {
	case <-time.After(script.thinks):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if err := writeCall(w, n, name, args); err != nil {
		return
	}
	// The time is taken before the last bytes leave: what follows is ours.
	s.mu.Lock()
	s.sent = append(s.sent, time.Now())
	s.mu.Unlock()
	_, _ = io.WriteString(w, endOfReply)
}

// endOfReply follows the events of a reply.
const endOfReply = "data: [DONE]\n\n"

// writeCall writes a reply that calls a tool, without its end.
func writeCall(w io.Writer, n int, name, args string) error {
	return errors.Join(
		writeEvent(
			w, n, map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
				"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
				"function": map[string]string{"name": name, "arguments": args},
			}}}}),
		writeEvent(w, n, map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "tool_calls"}),
		writeEvent(w, n, nil),
	)
}

// writeEvent writes a chunk with one choice, or the usage without one.
func writeEvent(w io.Writer, n int, choice map[string]any) error {
	chunk := map[string]any{"id": fmt.Sprintf("reply_%d", n), "object": "chat.completion.chunk", "created": 0,
		"model": "bench", "choices": []any{}}
	if choice != nil {
		chunk["choices"] = []any{choice}
	} else {
		chunk["usage"] = map[string]int{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	}
	text, err := json.Marshal(chunk)
	if err == nil {
		_, err = fmt.Fprintf(w, "data: %s\n\n", text)
	}
	return err
}
