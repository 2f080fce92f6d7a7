package rust

import (
	"encoding/json"
	"io"
	"strings"

	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// formatClippy is what cargo clippy --message-format=json prints: a message of
// cargo's in each line.
const formatClippy = "clippy-json"

// clippyReport reads cargo clippy, and writes to text what people would have seen. A
// finding is named by its file and message, without its line, which moves with
// every change above it.
type clippyReport struct {
	text io.Writer
	res  testreport.Results
	seen map[string]bool // findings, as people read them: a library is compiled for its tests, too
	any  bool
}

// cargoMessage is a line of cargo's, as far as it is read.
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

// compilerCode matches the code of an error of the language. Lints have names.
var compilerCode = lazyregexp.New(`^(E\d{4})?$`)

// ReadLine reads one message. Warnings are shown, and are no findings: clippy is
// green with them.
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
		if compilerCode.MatchString(m.Message.Code.Code) { // nothing behind it was looked at
			c.res.AddUnrun(name, m.Message.Message)
		} else {
			c.res.AddFailure(name, m.Message.Message)
		}
		return
	}
}

// Finish gives the findings.
func (c *clippyReport) Finish() *testreport.Results {
	if !c.any {
		c.res.ParseError = "not what cargo clippy prints"
	}
	return &c.res
}
