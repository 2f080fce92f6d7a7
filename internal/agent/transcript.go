package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// Transcript is the history of one run, for people and for the record. It holds every message and tool call in
// full, including those that were later cleared from the model's context. Strings are valid UTF-8 and times are
// UTC, so Encode and DecodeTranscript preserve them exactly.
type Transcript struct {
	RunID       company.RunID
	AgentID     string
	Messages    []TranscriptMessage
	ToolCalls   []TranscriptCall
	TotalTokens int
}

// TranscriptMessage is one message. Results of tools are in TranscriptCalls.
type TranscriptMessage struct {
	Role      string    `json:"role"` // system, user, assistant
	Content   string    `json:"content"`
	Timestamp time.Time `json:"timestamp"`
}

// TranscriptCall is one tool call with its result. Arguments holds the text that the model wrote, which need not
// be JSON.
type TranscriptCall struct {
	ID         string       `json:"id"`
	Name       string       `json:"name"`
	Arguments  string       `json:"arguments"`
	Result     string       `json:"result"`
	IsError    bool         `json:"isError,omitempty"`
	Failure    string       `json:"failure,omitempty"` // how the command that it ran failed, empty if it did not
	Timestamp  time.Time    `json:"timestamp"`
	DurationMS int64        `json:"durationMs"`
	Whole      company.Hash `json:"whole,omitempty"` // blob with the whole output, where Result is a part
}

func (t *Transcript) addMessage(role, content string, at time.Time) {
	t.Messages = append(t.Messages, TranscriptMessage{Role: role, Content: content, Timestamp: at})
}

// TranscriptEntry is one line of the encoded form. Exactly one of Run, Message and ToolCall is set. Only live
// streams have entries with Output.
type TranscriptEntry struct {
	Run      *TranscriptRun     `json:"run,omitempty"`
	Message  *TranscriptMessage `json:"message,omitempty"`
	ToolCall *TranscriptCall    `json:"toolCall,omitempty"`
	Output   *LiveOutput        `json:"output,omitempty"`
}

// Visibility selects what of a transcript is shown.
type Visibility string

const (
	// Summary is what the agent was told and what it says.
	Summary Visibility = "summary"
	// Full adds the prompt of its role, its calls of tools with their results, and live output.
	Full Visibility = "full"
)

// ParseVisibility returns the visibility with a name. Any other name means Summary, because nobody asked for more.
func ParseVisibility(name string) Visibility {
	if Visibility(name) == Full {
		return Full
	}
	return Summary
}

// Shows reports whether an entry is shown.
func (v Visibility) Shows(e TranscriptEntry) bool {
	return v == Full || e.ToolCall == nil && e.Output == nil && (e.Message == nil || e.Message.Role != adapters.System)
}

// Select returns a transcript with the entries that v shows.
func (t Transcript) Select(v Visibility) Transcript {
	out := Transcript{RunID: t.RunID, AgentID: t.AgentID, TotalTokens: t.TotalTokens}
	for e := range t.entries() {
		if v.Shows(e) {
			out.Add(e)
		}
	}
	return out
}

// TranscriptRun is the header of a transcript.
type TranscriptRun struct {
	RunID       company.RunID `json:"runId"`
	AgentID     string        `json:"agentId"`
	Messages    int           `json:"messages"`
	ToolCalls   int           `json:"toolCalls"`
	TotalTokens int           `json:"totalTokens"`
}

// Encode writes the transcript as JSON lines: the run first, then messages and
// calls as they happened.
func (t Transcript) Encode() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	write := func(l TranscriptEntry) {
		if err := enc.Encode(l); err != nil {
			panic(err) // unreachable: strings, integers and times of a sane year always encode
		}
	}
	write(TranscriptEntry{Run: &TranscriptRun{t.RunID, t.AgentID, len(t.Messages), len(t.ToolCalls), t.TotalTokens}})
	for e := range t.entries() {
		write(e)
	}
	return b.Bytes()
}

// entries returns messages and calls in the order of their times.
func (t Transcript) entries() iter.Seq[TranscriptEntry] {
	return func(yield func(TranscriptEntry) bool) {
		for m, c := 0, 0; m < len(t.Messages) || c < len(t.ToolCalls); {
			var e TranscriptEntry
			if c == len(t.ToolCalls) || m < len(t.Messages) && !t.ToolCalls[c].Timestamp.Before(t.Messages[m].Timestamp) {
				e.Message = &t.Messages[m]
				m++
			} else {
				e.ToolCall = &t.ToolCalls[c]
				c++
			}
			if !yield(e) {
				return
			}
		}
	}
}

// DecodeTranscript reads the output of Encode. It returns an EInvalid error for a truncated or damaged
// transcript.
func DecodeTranscript(data []byte) (Transcript, error) {
	bad := func(line int, reason string) (Transcript, error) {
		return Transcript{}, company.E(company.EInvalid, "not a transcript").
			Because(fmt.Sprintf("line %d %s", line, reason))
	}
	var transcript Transcript
	var head *TranscriptRun
	dec := json.NewDecoder(bytes.NewReader(data))
	for n := 1; ; n++ {
		var entry TranscriptEntry
		err := dec.Decode(&entry)
		if err == io.EOF {
			break
		}
		switch {
		case err != nil:
			return bad(n, "is not JSON: "+err.Error())
		case (head == nil) != (entry.Run != nil):
			return bad(n, "has the run's header in the wrong place")
		case entry.Run != nil:
			head = entry.Run
			transcript.RunID = head.RunID
			transcript.AgentID = head.AgentID
			transcript.TotalTokens = head.TotalTokens
		case entry.Message != nil:
			transcript.Messages = append(transcript.Messages, *entry.Message)
		case entry.ToolCall != nil:
			transcript.ToolCalls = append(transcript.ToolCalls, *entry.ToolCall)
		default:
			return bad(n, "holds neither a message nor a tool call")
		}
	}
	if head == nil || len(transcript.Messages) != head.Messages || len(transcript.ToolCalls) != head.ToolCalls {
		return bad(1, "promises more lines than there are")
	}
	return transcript, nil
}
