package rust

import (
	"encoding/json"
	"io"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// formatClippy is the output of cargo clippy --message-format=json, with one JSON message in each line.
const formatClippy = "clippy-json"

// clippyReport reads the output of cargo clippy and writes the text for people to text. A finding is named
// by its file and message. The line number is left out, since every change above it moves it.
type clippyReport struct {
	text io.Writer
	res  testreport.Results
	seen map[string]bool // rendered findings, to skip duplicates: a library is also compiled for its tests
	any  bool
}

// cargoMessage holds the fields of a cargo message that are read.
type cargoMessage struct {
	Reason  string
	Message struct {
		Rendered, Level, Message string
		Code                     struct{ Code string }
		Spans                    []struct {
			File    string `json:"file_name"`
			Primary bool   `json:"is_primary"`
		}
	}
}

// compilerCode matches the code of a compiler error, or no code. Lints have names instead.
var compilerCode = lazyregexp.New(`^(E\d{4})?$`)

// ReadLine reads one message. Warnings are printed and are not findings, since clippy succeeds despite
// them.
func (c *clippyReport) ReadLine(line string) {
	var m cargoMessage
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &m) != nil || m.Reason == "" {
		_, _ = io.WriteString(c.text, line)
		return
	}
	c.any = true
	if m.Reason != "compiler-message" || c.seen[m.Message.Rendered] {
		return
	}
	if len(c.seen) < testreport.MaxTests {
		c.seen[m.Message.Rendered] = true
	}
	_, _ = io.WriteString(c.text, m.Message.Rendered)
	if !strings.HasPrefix(m.Message.Level, "error") {
		return
	}
	for _, s := range m.Message.Spans {
		if !s.Primary {
			continue
		}
		name := s.File + ": " + m.Message.Message
		if compilerCode.MatchString(m.Message.Code.Code) { // the compiler checked nothing after it
			c.res.AddUnrun(name, m.Message.Message)
		} else {
			c.res.AddFailure(name, m.Message.Message)
		}
		return
	}
}

// Finish returns the findings.
func (c *clippyReport) Finish() *testreport.Results {
	if !c.any {
		c.res.ParseError = "not what cargo clippy prints"
	}
	return &c.res
}
