package scriptedtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
	"company/internal/adapters/anthropic"
	"company/internal/adapters/ollama"
	"company/internal/adapters/openai"
	"company/internal/adapters/scripted"
	"company/internal/adapters/scriptedtest"
	"company/internal/company"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// ask returns a conversation whose first message has the header of a run.
func ask(title string) adapters.Request {
	header := adapters.Header{Role: company.Worker, Task: "t1", Subtask: "t1-01", Run: "t1-01.1", Title: title}
	return adapters.Request{Messages: []adapters.Message{{Role: adapters.System, Content: "You are a worker."},
		{Role: adapters.User, Content: header.String()}}}
}

// drivers speak to the server, each over its own protocol.
var drivers = map[string]func(url string) (adapters.Model, error){
	"openai": func(url string) (adapters.Model, error) {
		return openai.New(adapters.Profile{Model: "m", BaseURL: url}, adapters.Deps{})
	},
	"ollama": func(url string) (adapters.Model, error) {
		return ollama.New(adapters.Profile{Model: "m", BaseURL: url}, adapters.Deps{})
	},
	"anthropic": func(url string) (adapters.Model, error) {
		return anthropic.New(adapters.Profile{Model: "m", BaseURL: url}, adapters.Deps{})
	},
}

// play holds a conversation of three turns with a brain that answers from what
// it is shown, and returns what the brain saw of each.
func play(
	t *testing.T, open func(string) (adapters.Model, error), opts ...scripted.Option,
) (saw []scripted.Exchange, replies []adapters.Response) {
	t.Helper()
	server, err := scripted.NewServer(scripted.BrainFunc(func(x scripted.Exchange) scripted.Reply {
		saw = append(saw, x)
		switch x.Turn {
		case 0:
			return scripted.Reply{Text: "I look.",
				Calls: []scripted.Call{{Tool: "read_file", Args: map[string]any{"path": "a \"b\"\n.go"}}}}
		case 1:
			last, _ := x.LastResult("read_file")
			return scripted.Reply{Calls: []scripted.Call{{Tool: "write_file", Args: map[string]any{"content": last}}}}
		case 2:
			return scripted.Reply{Text: strings.Repeat("word ", 4000)} // more than max_tokens
		}
		return scripted.Reply{Err: "no more"}
	}), append([]scripted.Option{scriptedtest.OtherWires()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := open(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	m := adapters.WithToolMode(bare, adapters.ToolsAuto, nil)
	defer func() {
		if err := adapters.Close(m); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	req := ask("greet")
	req.Messages = append([]adapters.Message{{Role: adapters.System, Content: "You work."}}, req.Messages...)
	req.MaxTokens = 300
	for _, name := range []string{"read_file", "write_file"} {
		req.Tools = append(
			req.Tools, adapters.Tool{Name: name, Description: "d", Schema: json.RawMessage(`{"type":"object"}`)})
	}
	for turn := range 3 {
		resp := adaptertest.Chat(t, m, req)
		replies = append(replies, resp)
		req.Messages = append(req.Messages, resp.Message)
		for _, c := range resp.Message.ToolCalls {
			req.Messages = append(req.Messages,
				adapters.Message{Role: adapters.ToolRole, ToolCallID: c.ID, ToolName: c.Name,
					Content: fmt.Sprintf("result %d", turn)})
		}
	}
	req.Messages = append(req.Messages, adapters.Message{Role: adapters.User, Content: "go on"})
	if _, err := m.Chat(t.Context(), req, nil); adapters.KindOf(err) != adapters.BadRequest ||
		!strings.Contains(err.Error(), "no more") {
		t.Errorf("a brain without an answer: %v", err)
	}
	return saw, replies
}

// TestProtocols: the same brain over each protocol, and over each with a model
// that takes no tools, sees and says the same (ADP-1).
func TestProtocols(t *testing.T) {
	for name, open := range drivers {
		for _, toolless := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, toolless %v", name, toolless), func(t *testing.T) {
				var opts []scripted.Option
				if toolless {
					opts = append(opts, scriptedtest.WithoutTools())
				}
				saw, replies := play(t, open, opts...)
				if len(saw) != 4 || len(replies) != 3 {
					t.Fatalf("%d requests, %d replies", len(saw), len(replies))
				}
				call := replies[0].Message.ToolCalls
				if replies[0].Message.TextBeforeCall() != "I look." || len(call) != 1 || call[0].Name != "read_file" ||
					call[0].Arguments != `{"path":"a \"b\"\n.go"}` || replies[0].Textual != toolless {
					t.Errorf("first reply %+v", replies[0])
				}
				if got := replies[1].Message.ToolCalls; len(got) != 1 || got[0].Arguments != `{"content":"result 0"}` {
					t.Errorf("second reply %+v", replies[1])
				}
				if replies[2].Finish != adapters.FinishLength || replies[2].Usage.OutputTokens != 300 ||
					replies[2].Usage.Estimated {
					t.Errorf("third reply: finish %s, usage %+v", replies[2].Finish, replies[2].Usage)
				}
				x := saw[2]
				if x.Turn != 2 || !x.HasHeader || x.Header.Run != "t1-01.1" || !x.Offers("write_file") || x.MaxTokens != 300 {
					t.Errorf("the brain saw %+v", x)
				}
				if got, ok := x.LastResult("write_file"); !ok || got != "result 1" {
					t.Errorf("the brain saw the result %q", got)
				}
			})
		}
	}
}

// A reply that is cut, garbage or an error is one over each protocol.
func TestProtocolFaults(t *testing.T) {
	for name, open := range drivers {
		for want, fault := range map[adapters.Kind]scripted.Fault{
			adapters.Overloaded: {Status: 529, Times: 1}, adapters.MalformedReply: {Cut: true, Times: 1},
			adapters.Auth: {Status: 401, Times: 1},
		} {
			server, err := scripted.NewServer(scripted.BrainFunc(func(scripted.Exchange) scripted.Reply {
				return scripted.Reply{Text: strings.Repeat("text ", 2000), Fault: &fault}
			}), scriptedtest.OtherWires())
			if err != nil {
				t.Fatal(err)
			}
			m, err := open(server.URL())
			if err != nil {
				t.Fatal(err)
			}
			req := ask("greet")
			req.MaxTokens = 100_000
			if _, err := m.Chat(t.Context(), req, nil); adapters.KindOf(err) != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			if resp, err := m.Chat(t.Context(), req, nil); err != nil || len(resp.Message.Content) != 10_000 {
				t.Errorf("%s after %s: %d bytes, %v", name, want, len(resp.Message.Content), err)
			}
			if err := adapters.Close(m); err != nil {
				t.Error(err)
			}
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestImagesOverEachProtocol: each image goes with its message in each request, whether tools go
// over the wire, or in text, where messages of the user that follow one another are one.
func TestImagesOverEachProtocol(t *testing.T) {
	image := adapters.Image{Attachment: company.Attachment{Name: "a.gif", Type: "image/gif", Width: 1, Height: 1},
		Data: []byte("GIF89a and what follows")}
	for name, open := range drivers {
		for _, use := range []adapters.ToolUse{adapters.ToolsYes, adapters.ToolsNo} {
			t.Run(name+" "+string(use), func(t *testing.T) {
				var saw []scripted.Exchange
				server, err := scripted.NewServer(scripted.BrainFunc(func(x scripted.Exchange) scripted.Reply {
					saw = append(saw, x)
					return scripted.Reply{Text: "I see."}
				}), scriptedtest.OtherWires())
				if err != nil {
					t.Fatal(err)
				}
				bare, err := open(server.URL())
				if err != nil {
					t.Fatal(err)
				}
				m := adapters.WithToolMode(bare, use, nil)
				req := ask("look")
				req.Messages[1].Images = []adapters.Image{image}
				req.Messages = append(req.Messages,
					adapters.Message{Role: adapters.User, Content: "and this", Images: []adapters.Image{image}})
				req.MaxTokens = 300
				req.Tools = []adapters.Tool{{Name: "read_file", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}}
				adaptertest.Chat(t, m, req)
				if err := adapters.Close(m); err != nil {
					t.Error(err)
				}
				if err := server.Close(); err != nil {
					t.Error(err)
				}
				first, all := saw[0].Messages[1], 0
				for _, m := range saw[0].Messages {
					all += len(m.Images)
				}
				if all != 2 {
					t.Errorf("the request has %d images, want 2", all)
				}
				if len(first.Images) == 0 || first.Images[0].Type != "image/gif" ||
					string(first.Images[0].Data) != string(image.Data) || !strings.Contains(first.Content, "look") {
					t.Errorf("the first message has %d images: %+v", len(first.Images), first)
				}
			})
		}
	}
}
